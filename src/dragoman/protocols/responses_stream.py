"""Events, written as the events of a Responses stream.

One item is open at a time; its frames are numbered through.  Nearly all frames are deltas of one item, so their frame is
cut once per item: what varies is the sequence number and the text.

The terminal event waits for `close`, because what is known only then (timings) rides on it.
An error is an `error` event and then `response.failed`, since some clients know only one of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import Broken, Cancelled
from ..events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from ..messages import Request
from . import sse, wire
from .chat_messages import used_ids
from .chat_shape import CallIds, Token, failure
from .responses_output import CustomCall, FunctionCall, Message, Thought
from .responses_request import Settings
from .responses_shape import Response, error_event, incomplete_reason

__all__ = ["Writer"]

_Table = Mapping[type[Event], Callable[["Writer", Any], bytes]]
_COMMENTS = 4  # one in so many is an event
_REASONING = {"openai": "response.reasoning_text", "open-responses": "response.reasoning"}


class Writer:
    """One per response: events in, bytes of server-sent events out.

    Args:
        request: what was asked.
        settings: how it is to be answered.
        answer_id: the id of the response.
        created: when it was created, in seconds.
        ids: makes the id of a call that has none, or none that can be used.
        model: the name of the model if not the one that was asked for.
        now: tells the time at the end, in seconds.
    """

    headers = sse.HEADERS
    counts = False

    def __init__(
        self,
        request: Request,
        settings: Settings,
        *,
        answer_id: str,
        created: int,
        ids: Callable[[], str],
        model: str = "",
        now: Callable[[], float] | None = None,
    ) -> None:
        self._response = Response(answer_id, created, model or request.model, settings.echo)
        self._stem = answer_id.rpartition("_")[2]
        self._settings, self._now = settings, now
        self._custom = {tool.name for tool in request.tools if tool.kind == "custom"}
        self._ids = CallIds(used_ids(request.messages), ids)
        self._write = _HELD if settings.tool_arguments == "buffered" else _LIVE
        self._hidden = settings.reasoning_field == "none"
        self._number = 0
        self._open: Message | Thought | FunctionCall | CustomCall | None = None
        self._text: Message | None = None
        self._thought: Thought | None = None
        self._call: FunctionCall | CustomCall | None = None
        self._held: CallStart | None = None
        self._pieces: list[str] = []
        self._tokens: list[Token] = []
        self._output: list[dict[str, Any]] = []
        self._cut = self._opened = False
        self._usage: Usage | None = None
        self._finish: Finish | None = None
        self._last: dict[str, Any] | None = None
        self._pings = 0
        self.ended = False

    def open(self) -> bytes:
        """The first events.  `write` opens by itself if this was not called."""
        if self._opened:
            return b""
        self._opened = True
        names = ("created", "queued", "in_progress") if self._settings.background else ("created", "in_progress")
        states = ("queued" if self._settings.background and name != "in_progress" else "in_progress" for name in names)
        return b"".join(
            self._frame(f"response.{name}", {"response": self._response.object(state)})
            for name, state in zip(names, states, strict=True)
        )

    def write(self, events: Iterable[Event], choice: int = 0, logprobs: Iterable[Token] = ()) -> bytes:
        """The frames of some events; `logprobs` are those of the text's tokens, and ride on its next frame."""
        if self.ended or self._finish is not None:
            return b""
        frames = [] if self._opened else [self.open()]
        self._tokens.extend(logprobs)
        write = self._write
        frames += [write[type(event)](self, event) for event in events]
        return b"".join(frames)

    def close(self, extra: Mapping[str, Any] | None = None) -> bytes:
        """The end: the terminal event, and `[DONE]`; `extra` rides on the response."""
        if self.ended:
            return b""
        finish = self._finish
        if finish is None:
            return self.error(Broken("the answer ended before it was finished"))
        if finish.reason in ("error", "cancelled"):
            return self.error(finish.error or failure(finish.reason))
        self.ended = True
        why = incomplete_reason("length" if self._cut else finish.reason)
        status = "incomplete" if why else "completed"
        return self._end(status, incomplete=why, completed=None if why else self._time(), extra=extra)

    def error(self, exc: BaseException) -> bytes:
        """The end of a stream that failed, or that was cancelled."""
        if self.ended:
            return b""
        self.ended = True
        frames = self.open() + self._shut("incomplete")
        if isinstance(exc, Cancelled):
            return frames + self._end("cancelled")
        return frames + self._frame("error", error_event(exc)) + self._end("failed", exc=exc)

    def ping(self, text: str = "") -> bytes:
        """Keeps the connection alive: a comment, and while there is no output yet, now and then an event.

        Codex reads comments without a sign of life in them, and leaves after 300 s without an event (openai/codex 31539).
        """
        if self.ended:
            return b""
        if not self._opened:
            return self.open()
        self._pings += 1
        if self._pings % _COMMENTS or self._open is not None or self._output:
            return sse.comment(text)
        return self._frame("response.in_progress", {"response": self._response.object("in_progress")})

    @property
    def response(self) -> dict[str, Any]:
        """The response as it stands."""
        if self._last is not None:
            return self._last
        now = [self._open.item("in_progress")] if self._open is not None else []
        queued = self._settings.background and not self._opened
        return self._response.object("queued" if queued else "in_progress", [*self._output, *now])

    def _end(self, status: str, **facts: Any) -> bytes:
        self._last = self._response.object(status, self._output, usage=self._usage or Usage(), **facts)
        name = status if status in ("completed", "failed") else "incomplete"
        return self._frame(f"response.{name}", {"response": self._last}) + sse.DONE

    def _time(self) -> int | None:
        return None if self._now is None else int(self._now())

    # --- text

    def content(self, event: Content) -> bytes:
        item, text = self._text, event.text
        if item is None or item.part != event.part or self._tokens or not text:
            return self._content_slowly(event)
        item.pieces.append(text)
        number = self._number
        self._number = number + 1
        return b'%b%d,"delta":%b}\n\n' % (item.head, number, wire.quote(text))

    def _content_slowly(self, event: Content) -> bytes:
        """The first delta of an item, or one with log probabilities."""
        if not event.text:
            return b""
        opened = b""
        if self._text is None or self._text.part != event.part:
            opened = self._shut()
            self._text = Message(self._id("msg"), len(self._output), event.part, event.phase)
            opened += self._begin(self._text)
        if self._text.refusal:
            self._tokens.clear()
        if not self._tokens:
            return opened + self.content(event)
        tokens, self._tokens = self._tokens, []
        return opened + self._frame(*self._text.delta(event.text, tokens))

    def reasoning(self, event: Reasoning) -> bytes:
        item, text = self._thought, event.text
        if item is None or item.part != event.part or not item.head or not text:
            return self._reasoning_slowly(event)
        item.pieces.append(text)
        quoted, number = wire.quote(text), self._number
        if not item.summary_head:
            self._number = number + 1
            return b'%b%d,"delta":%b}\n\n' % (item.head, number, quoted)
        self._number = number + 2
        heads = item.head, number, quoted, item.summary_head, number + 1, quoted
        return b'%b%d,"delta":%b}\n\n%b%d,"delta":%b}\n\n' % heads

    def _reasoning_slowly(self, event: Reasoning) -> bytes:
        """The first delta of an item, or one that only its seal shows."""
        settings = self._settings
        self._tokens.clear()
        if not event.text:
            return b""
        if self._hidden and not settings.sealed:
            return self._shut()
        opened = b""
        item = self._thought
        if item is None or item.part != event.part:
            opened = self._shut()
            item = Thought(
                self._id("rs"),
                len(self._output),
                event.part,
                shown=not self._hidden,
                summary=settings.summary and not self._hidden,
                sealed=settings.sealed,
                name=_REASONING[settings.responses_names],
            )
            opened += self._begin(item)
            self._thought = item
        item.pieces.append(event.text)
        return opened + self._deltas(event.text, item.head, item.summary_head)

    def _deltas(self, text: str, *heads: bytes) -> bytes:
        quoted, frames = wire.quote(text), b""
        for head in filter(None, heads):
            frames += b'%b%d,"delta":%b}\n\n' % (head, self._number, quoted)
            self._number += 1
        return frames

    # --- calls, live

    def live_start(self, event: CallStart) -> bytes:
        only = self._settings.only
        self._tokens.clear()
        shut = self._shut()
        if only is not None and event.name not in only:
            return shut
        space, name = self._settings.spaces.get(event.name, ("", event.name))
        kind = CustomCall if event.name in self._custom else FunctionCall
        place = (self._id("ctc" if kind is CustomCall else "fc"), len(self._output))
        call = kind(*place, self._ids.give(event.id), space, wire.clean(name))
        begun = self._begin(call)
        self._call = call
        return shut + begun

    def live_args(self, event: CallArgs) -> bytes:
        call = self._call
        if call is None:
            return b""
        text = call.take(event.json)
        if not text:
            return b""
        number = self._number
        self._number = number + 1
        return b'%b%d,"delta":%b}\n\n' % (call.head, number, wire.quote(text))

    def live_end(self, event: CallEnd) -> bytes:
        call = self._call
        if call is None:
            return b""
        self._cut |= not event.complete
        rest = call.rest() if event.complete else ""
        last = self._deltas(rest, call.head) if rest else b""
        return last + self._shut("completed" if event.complete else "incomplete")

    # --- calls, held until they are whole

    def held_start(self, event: CallStart) -> bytes:
        self._held, self._pieces = event, []
        self._tokens.clear()
        return self._shut()

    def held_args(self, event: CallArgs) -> bytes:
        self._pieces.append(event.json)
        return b""

    def held_end(self, event: CallEnd) -> bytes:
        if self._held is None or not event.complete:
            self._cut |= not event.complete
            return b""
        arguments = CallArgs(event.index, "".join(self._pieces))
        return self.live_start(self._held) + self.live_args(arguments) + self.live_end(event)

    # --- the rest

    def count(self, event: Usage) -> bytes:
        self._usage = event
        return b""

    def stop(self, event: Finish) -> bytes:
        self._finish = event
        failed = event.reason in ("error", "cancelled")
        return b"" if failed else self._shut("incomplete" if incomplete_reason(event.reason) else "completed")

    def skip(self, _: Notice) -> bytes:
        return b""

    # --- items and frames

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{self._stem}{len(self._output):04x}"

    def _begin(self, item: Message | Thought | FunctionCall | CustomCall) -> bytes:
        self._open = item
        return self._frames(item.opening())

    def _shut(self, status: str = "completed") -> bytes:
        """Close the open item, if there is one."""
        item, self._open = self._open, None
        self._text = self._thought = self._call = None
        if item is None:
            return b""
        frames = self._frames(item.closing(status))
        self._output.append(item.item(status))
        return frames

    def _frames(self, pairs: Iterable[tuple[str, dict[str, Any]]]) -> bytes:
        index = len(self._output)
        return b"".join(self._frame(name, {"output_index": index, **members}) for name, members in pairs)

    def _frame(self, name: str, members: Mapping[str, Any]) -> bytes:
        whole = {"type": name, "sequence_number": self._number, **members}
        self._number += 1
        return sse.frame(wire.dump(whole), name)


# How each event is written, as functions of a writer: bound methods would tie every stream into a knot.
_LIVE: _Table = {
    Content: Writer.content,
    Reasoning: Writer.reasoning,
    CallStart: Writer.live_start,
    CallArgs: Writer.live_args,
    CallEnd: Writer.live_end,
    Notice: Writer.skip,
    Usage: Writer.count,
    Finish: Writer.stop,
}
_HELD: _Table = {**_LIVE, CallStart: Writer.held_start, CallArgs: Writer.held_args, CallEnd: Writer.held_end}
