"""An upstream's Responses stream, read into events (see `upstream`).

Servers differ in what they tell: some number their items, some name them, some do neither; some send the deltas, some
only what they add up to.  A delta belongs to the item of its id, else of its number, else to the latest one;
what an event tells as a whole is taken as far as its deltas did not come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import Broken
from ..events import Event
from . import wire
from .chat_error import read_error
from .upstream import Reading, counted, inner, listed, string, token

__all__ = ["Reader"]

_REASONS = {"max_output_tokens": "length", "content_filter": "filter", "max_tokens": "length", "length": "length"}
_PHASES = {"commentary": "commentary", "final_answer": "final"}
_KNOWN = {"type", "sequence_number", "response"}
_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "mcp_call": "arguments"}


class _Item:
    """An item of the output: its number in this stream, what kind it is, and how much of each of its texts came."""

    def __init__(self, number: int, data: Mapping[str, Any]) -> None:
        self.number, self.kind = number, string(data.get("type")) or "message"
        self.phase = _PHASES.get(string(data.get("phase")), "")
        self.came: dict[str, int] = {}
        self.begun = False

    def rest(self, key: str, whole: str) -> str:
        """What of a whole text did not come yet."""
        return whole[self.came.get(key, 0) :]


class Reader(Reading):
    """Bytes of an upstream's stream in, events out."""

    def __init__(self, engine: str = "") -> None:
        super().__init__(engine)
        self._items: dict[Any, _Item] = {}
        self._latest: _Item | None = None
        self._made = 0

    def _take(self, data: Mapping[str, Any]) -> list[Event]:
        name = string(data.get("type"))
        if name in _EVENTS:
            return _EVENTS[name](self, data)
        if data.get("object") == "response":
            return self._whole(data)
        return []  # events that tell nothing more: parts that open and close, annotations, pings

    # --- items

    def _item(self, data: Mapping[str, Any], item: Mapping[str, Any] | None = None, kind: str = "") -> _Item:
        """The item that an event speaks of; a new one if none is known."""
        told = item or {}
        keys = [key for key in (data.get("item_id") or told.get("id"), _index(data)) if isinstance(key, str | int)]
        found = next((self._items[key] for key in keys if key in self._items), None if keys else self._latest)
        if found is None or (not keys and kind and found.kind != kind):
            found = _Item(self._made, told or {"type": kind})
            self._made += 1
        for key in keys:
            self._items[key] = found
        self._latest = found
        return found

    def added(self, data: Mapping[str, Any]) -> list[Event]:
        told = inner(data, "item")
        if not any(key in self._items for key in (told.get("id"), _index(data)) if isinstance(key, str | int)):
            self._latest = None
        item = self._item(data, told)
        return self._called(item, told, "") if item.kind in _CALLS else []

    def done_item(self, data: Mapping[str, Any]) -> list[Event]:
        told = inner(data, "item")
        return self._told(self._item(data, told, string(told.get("type"))), told)

    def _told(self, item: _Item, told: Mapping[str, Any]) -> list[Event]:
        """All that an item holds, as far as it did not come."""
        if item.kind in _CALLS:
            called = self._called(item, told, string(told.get(_CALLS[item.kind])))
            if (status := told.get("status")) in ("completed", "incomplete"):
                self._blocks.told(item.number, whole=status == "completed")
            return called
        events: list[Event] = []
        for place, part in enumerate(listed(told.get("content"))):
            kind = string(part.get("type")) if isinstance(part, Mapping) else ""
            text = string(part.get("refusal" if kind == "refusal" else "text")) if kind else ""
            events += self._text(item, _kind(kind, item), f"{kind}{place}", text, whole=True)
        if item.kind == "reasoning" and not item.came:
            texts = [string(part.get("text")) for part in listed(told.get("summary")) if isinstance(part, Mapping)]
            events += self._text(item, "reasoning", "summary", "\n\n".join(filter(None, texts)), whole=True)
        return events

    # --- texts

    def _text(self, item: _Item, kind: str, key: str, text: str, *, whole: bool = False) -> list[Event]:
        text = item.rest(key, text) if whole else text
        if not text:
            return []
        item.came[key] = item.came.get(key, 0) + len(text)
        return self._blocks.text(kind, text, f"{item.number}.{key}", item.phase)

    def delta(self, data: Mapping[str, Any]) -> list[Event]:
        kind = _SAID[string(data.get("type")).removesuffix(".delta").removesuffix(".done")]
        item = self._item(data, kind="reasoning" if kind == "reasoning_text" else "message")
        self.logprobs += map(token, listed(data.get("logprobs")) if "delta" in data else ())
        whole = string(data.get("refusal" if kind == "refusal" else "text"))
        key = f"{kind}{data.get('content_index') or 0}"
        return self._text(item, _kind(kind, item), key, string(data.get("delta")) or whole, whole="delta" not in data)

    def summary(self, data: Mapping[str, Any]) -> list[Event]:
        """A summary counts only where the reasoning itself does not come."""
        item = self._item(data, kind="reasoning")
        if any(not key.startswith("summary") for key in item.came):
            return []
        key, text = f"summary{data.get('summary_index') or 0}", string(data.get("delta"))
        return self._text(item, "reasoning", key, text or string(data.get("text")), whole="delta" not in data)

    # --- calls

    def _called(self, item: _Item, told: Mapping[str, Any], whole: str) -> list[Event]:
        names = {"id": told.get("call_id") or told.get("id"), "function": {"name": told.get("name"), "arguments": ""}}
        events = self._blocks.call({"index": item.number, **names}) if not item.begun else []
        item.begun = True
        return events + self._arguments(item, item.rest("call", whole), done=bool(whole))

    def call_delta(self, data: Mapping[str, Any]) -> list[Event]:
        kind = "custom_tool_call" if "custom" in string(data.get("type")) else "function_call"
        item = self._item(data, kind=kind)
        if "delta" in data:
            return self._arguments(item, string(data["delta"]))
        whole = string(data.get(_CALLS[kind]))
        return self._arguments(item, item.rest("call", whole), done=True)

    def _arguments(self, item: _Item, text: str, *, done: bool = False) -> list[Event]:
        """A piece of arguments; free text is one string in an object, which is closed when it is whole."""
        before = item.came.get("call", 0)
        item.came["call"] = before + len(text)
        if item.kind == "custom_tool_call":
            text = _free(text, first="open" not in item.came, last=done and "shut" not in item.came)
            item.came["open"] = 1
            item.came |= {"shut": 1} if done else {}
        if not text:
            return []
        return self._blocks.call({"index": item.number, "function": {"arguments": text}})

    # --- the end

    def final(self, data: Mapping[str, Any]) -> list[Event]:
        return self._whole(inner(data, "response") or data)

    def _whole(self, response: Mapping[str, Any]) -> list[Event]:
        """The response as it ended; items of which nothing came are taken from it."""
        streamed = self._made > 0
        output = [item for item in listed(response.get("output")) if isinstance(item, Mapping)]
        events = [event for item in output for event in self._output(item, streamed=streamed)]
        self._usage = counted(response.get("usage"), "input_tokens", "output_tokens") or self._usage
        self.extra.update((key, response[key]) for key in ("timings",) if key in response)
        status = string(response.get("status"))
        if status == "completed":
            self._reason = self._reason or "stop"
            return events
        if status == "incomplete":
            why = string(inner(response, "incomplete_details").get("reason")) or "max_output_tokens"
            return [*events, *self._because(why, _REASONS)]
        return [*events, *self._fail(_failure(response, status, self._engine))]

    def _output(self, item: Mapping[str, Any], *, streamed: bool) -> list[Event]:
        known = self._items.get(item.get("id")) if isinstance(item.get("id"), str) else None
        if known is not None:
            return self._told(known, item)
        if streamed:
            return []  # its deltas came, under names of their own
        self._latest = None
        return self._told(self._item({}, item), item)

    def error(self, data: Mapping[str, Any]) -> list[Event]:
        return self._fail(read_error(data, engine=self._engine))


def _failure(response: Mapping[str, Any], status: str, engine: str) -> Exception:
    if error := inner(response, "error"):
        return read_error({"error": error}, engine=engine)
    return Broken(f"the response ended as {status or 'nothing'}", engine=engine)


def _index(data: Mapping[str, Any]) -> int | None:
    index = data.get("output_index")
    return index if isinstance(index, int) else None


def _kind(part: str, item: _Item) -> str:
    if part == "refusal":
        return "refusal"
    return "reasoning" if part == "reasoning_text" or item.kind == "reasoning" else "content"


def _free(text: str, *, first: bool, last: bool) -> str:
    """A piece of free text as a piece of `{"input": "..."}`."""
    inside = wire.quote(text).decode()[1:-1] if text else ""
    return ('{"input":"' if first else "") + inside + ('"}' if last else "")


_SAID = {
    "response.output_text": "output_text",
    "response.refusal": "refusal",
    "response.reasoning_text": "reasoning_text",
    "response.reasoning": "reasoning_text",
}
_Take = Callable[[Reader, Mapping[str, Any]], list[Event]]
_EVENTS: Mapping[str, _Take] = {
    **{f"{name}.{end}": Reader.delta for name in _SAID for end in ("delta", "done")},
    **{f"response.reasoning_summary_text.{end}": Reader.summary for end in ("delta", "done")},
    **{f"response.{kind}_{key}.{end}": Reader.call_delta for kind, key in _CALLS.items() for end in ("delta", "done")},
    "response.output_item.added": Reader.added,
    "response.output_item.done": Reader.done_item,
    **{f"response.{end}": Reader.final for end in ("completed", "incomplete", "failed", "cancelled", "done")},
    "error": Reader.error,
}
