"""Events, written as the chunks of a Chat Completions stream.

The order within a choice is the order of its events: the role once, then deltas, then one chunk with the finish.
Nearly all frames are alike but for their text, so a frame is cut once per stream into what stands before and after
the text, and a token costs one quoting and one concatenation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..events import CallArgs, CallEnd, CallStart, Content, Finish, Notice, Reasoning, Usage
from ..messages import Request
from . import wire
from .chat_messages import used_ids
from .chat_request import Settings
from .chat_shape import CallIds, Joints, Token, finish_word, logprobs_shape, named_word, reasoning_keys
from .chunks import Stream, Table

__all__ = ["Writer"]

_NO_PART = -1


class Writer(Stream):
    """One per response: events in, bytes of server-sent events out.

    Args:
        request: what was asked.
        settings: how it is to be answered.
        answer_id: the id that all chunks carry.
        created: the time that all chunks carry, in seconds.
        ids: makes the id of a call that has none, or none that can be used.
        model: the name of the model if not the one that was asked for.
    """

    def __init__(
        self,
        request: Request,
        settings: Settings,
        *,
        answer_id: str,
        created: int,
        ids: Callable[[], str],
        model: str = "",
    ) -> None:
        names = {"id": answer_id, "object": "chat.completion.chunk", "created": created}
        names["model"] = model or request.model
        super().__init__(names, usage=settings.include_usage)
        call_ids = CallIds(used_ids(request.messages), ids)
        named = named_word(request.choice, settings.finish_reason_named)
        self._choices = [_Choice(index, self.head, self.tail, settings, call_ids, named) for index in range(request.n)]


class _Choice:
    """One choice of a stream: where it stands, and its frames cut into what surrounds a text."""

    def __init__(self, index: int, head: bytes, end: bytes, settings: Settings, ids: CallIds, named: str) -> None:
        self._head = head + b'{"index":%d,"delta":' % index
        self._end = end
        self._tail = b',"logprobs":null,"finish_reason":null}' + end
        self._content_head = self._head + b'{"content":'
        self._content_tail = b"}" + self._tail
        self._keys = reasoning_keys(settings.reasoning_field)
        self._reasoning_head = self._head + b'{"%b":' % self._keys[0].encode() if self._keys else b""
        self._also = b',"%b":' % self._keys[1].encode() if len(self._keys) > 1 else b""
        self._functions, self._named = settings.functions, named
        self._ids = ids
        self._joints = Joints(inline=settings.reasoning_field == "inline")
        # The part whose frames need no more than their text, or none.
        self._content_part = self._reasoning_part = _NO_PART
        self._calls = 0
        self._called = False
        self._begun = False
        self._name = CallStart(0, "", "")
        self._pieces: list[str] = []
        self._args_head = b""
        self._args_tail = b"}}]}" + self._tail
        self.tokens: list[Token] = []
        self.usage: Usage | None = None
        self.finish: Finish | None = None
        self.write = _HELD if settings.tool_arguments == "buffered" or settings.functions else _LIVE

    def begin(self) -> bytes:
        """The first chunk, with the role."""
        return self._frame(b'{"role":"assistant","content":""}')

    def end(self, more: Mapping[str, Any]) -> bytes:
        """The chunk with the finish."""
        finish = self.finish or Finish("stop")
        word = finish_word(finish.reason, called=self._called, functions=self._functions, named=self._named)
        stop = b',"stop_reason":' + wire.quote(finish.stop) if finish.stop else b""
        last = b'{},"logprobs":null,"finish_reason":"%b"%b}' % (word.encode(), stop)
        end = self._end
        if more:
            end = end.replace(b"}\n\n", b"," + wire.dump(more)[1:] + b"\n\n")
        return self._leave() + self._head + last + end

    # --- text

    def content(self, event: Content) -> bytes:
        text = event.text
        if event.part != self._content_part or self.tokens or not text:
            return self._content_slowly(event)
        return self._content_head + wire.quote(text) + self._content_tail

    def _content_slowly(self, event: Content) -> bytes:
        """The first frame of a part, one with log probabilities, or a refusal."""
        if not event.text:
            return b""
        kind = "refusal" if event.phase == "refusal" else "content"
        self._content_part = event.part if kind == "content" else _NO_PART
        self._reasoning_part = _NO_PART
        text = self._joints.before(kind, event.part) + event.text
        delta = b'{"%b":%b}' % (kind.encode(), wire.quote(text))
        tokens, self.tokens = self.tokens, []
        return self._frame(delta, wire.dump(logprobs_shape(tokens)) if tokens else b"null")

    def reasoning(self, event: Reasoning) -> bytes:
        text = event.text
        if event.part != self._reasoning_part or self.tokens or not text:
            return self._reasoning_slowly(event)
        quoted = wire.quote(text)
        if self._also:
            quoted += self._also + quoted
        return self._reasoning_head + quoted + self._content_tail

    def _reasoning_slowly(self, event: Reasoning) -> bytes:
        """The first frame of a part, or one with both names, or none."""
        self.tokens.clear()
        if not event.text:
            return b""
        self._content_part = _NO_PART
        self._reasoning_part = event.part if self._keys else _NO_PART
        text = wire.quote(self._joints.before("reasoning", event.part) + event.text)
        fields = b",".join(b'"%b":%b' % (key.encode(), text) for key in self._keys)
        return self._frame(b"{%b}" % fields) if fields else b""

    def _leave(self) -> bytes:
        self.tokens.clear()
        self._content_part = self._reasoning_part = _NO_PART
        text = self._joints.leave()
        return self._content_head + wire.quote(text) + self._content_tail if text else b""

    # --- calls, live

    def live_start(self, event: CallStart) -> bytes:
        left = self._leave()
        self._begun = False
        self._args_head = self._head + b'{"tool_calls":[{"index":%d,"function":{"arguments":' % self._calls
        return left + self._call(event, "")

    def live_args(self, event: CallArgs) -> bytes:
        text = event.json
        if not text:
            return b""
        self._begun = True
        return self._args_head + wire.quote(text) + self._args_tail

    def live_end(self, event: CallEnd) -> bytes:
        self._called |= event.complete
        if self._begun or not event.complete:
            return b""
        return self._args_head + b'"{}"' + self._args_tail

    # --- calls, held until they are whole

    def held_start(self, event: CallStart) -> bytes:
        self._name, self._pieces = event, []
        return self._leave()

    def held_args(self, event: CallArgs) -> bytes:
        self._pieces.append(event.json)
        return b""

    def held_end(self, event: CallEnd) -> bytes:
        pieces, self._pieces = self._pieces, []
        if not event.complete or (self._functions and self._called):
            return b""
        self._called = True
        arguments = "".join(pieces) or "{}"
        if self._functions:
            return self._frame(wire.dump({"function_call": {"name": self._name.name, "arguments": arguments}}))
        return self._call(self._name, arguments)

    def _call(self, event: CallStart, arguments: str) -> bytes:
        call = {
            "index": self._calls,
            "id": self._ids.give(event.id),
            "type": "function",
            "function": {"name": event.name, "arguments": arguments},
        }
        self._calls += 1
        return self._frame(wire.dump({"tool_calls": [call]}))

    # --- the rest

    def count(self, event: Usage) -> bytes:
        self.usage = event
        return b""

    def stop(self, event: Finish) -> bytes:
        self.finish = event
        return b""

    def skip(self, _: Notice) -> bytes:
        return b""

    def _frame(self, delta: bytes, logprobs: bytes = b"null") -> bytes:
        return b'%b%b,"logprobs":%b,"finish_reason":null}%b' % (self._head, delta, logprobs, self._end)


# How each event is written, as functions of a choice: bound methods would tie every stream into a knot.
_LIVE: Table = {
    Content: _Choice.content,
    Reasoning: _Choice.reasoning,
    CallStart: _Choice.live_start,
    CallArgs: _Choice.live_args,
    CallEnd: _Choice.live_end,
    Notice: _Choice.skip,
    Usage: _Choice.count,
    Finish: _Choice.stop,
}
_HELD: Table = {**_LIVE, CallStart: _Choice.held_start, CallArgs: _Choice.held_args, CallEnd: _Choice.held_end}
