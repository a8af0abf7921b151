"""Events, written as the events of a Messages stream.

The order is message_start, then one block after the other (start, deltas, stop), then message_delta and message_stop.
A block is what an event's part is: text, a thought, or a call.  Blocks never overlap, and none is empty.
Nearly all frames are alike but for their text, so a frame is cut once per block into what stands before and after the
text, and a token costs one quoting and one concatenation.

A call is held until it is whole, because most clients read its JSON as it comes and fail on what is none;
one that was cut never appears.  Tools whose client asked for it (`eager_input_streaming`) get their pieces live.

The start waits for the first block, so that a request which fails before has a clean status.
The end waits for `close`, because what is known only then (timings) rides on it.
An error ends the stream at once: no stop, so that nobody takes what was sent for the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..errors import Broken
from ..events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from ..messages import Request
from . import sse, wire
from .chat_messages import used_ids
from .chat_shape import CallIds, Token, extras, failure
from .messages_api_error import error
from .messages_api_request import Settings
from .messages_api_shape import TAKEN, input_json, stop_fields, usage_shape
from .messages_api_signature import sign

__all__ = ["Writer"]

_NO_PART = -1
_TAIL = b"}}\n\n"
_PING = sse.frame(b'{"type":"ping"}', "ping")
_STOP = sse.frame(b'{"type":"message_stop"}', "message_stop")
_Table = Mapping[type[Event], Callable[["_Message", Any], bytes]]


class Writer:
    """One per response: events in, bytes of server-sent events out.

    Args:
        request: what was asked.
        settings: how it is to be answered.
        answer_id: the id of the message.
        created: not told by this protocol.
        ids: makes the id of a call that has none, or none that can be used.
        model: the name of the model if not the one that was asked for.
    """

    headers = sse.HEADERS
    counts = True  # the start tells the prompt's size

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
        self._request, self._id = request, answer_id
        names = {"id": answer_id, "type": "message", "role": "assistant", "model": model or request.model}
        self._message = _Message(names, settings, CallIds(used_ids(request.messages), ids))
        self.ended = False

    def open(self) -> bytes:
        """The start of the message.  The first block opens it by itself if this was not called."""
        return self._message.open()

    def write(self, events: Iterable[Event], choice: int = 0, logprobs: Iterable[Token] = ()) -> bytes:
        """The frames of some events.  The protocol knows no further choices, and no log probabilities."""
        message = self._message
        if self.ended or message.finish is not None:
            return b""
        write = message.write
        frames = [write[type(event)](message, event) for event in events]
        if message.finish is not None and message.finish.reason in ("error", "cancelled"):
            frames.append(self.error(message.finish.error or failure(message.finish.reason)))
        return b"".join(frames)

    def close(self, extra: Mapping[str, Any] | None = None) -> bytes:
        """The end: the last block's, the reason, the usage; `extra` rides on the last event but one."""
        if self.ended:
            return b""
        message, finish = self._message, self._message.finish
        if finish is None:
            return self.error(Broken("the answer ended before it was finished"))
        self.ended = True
        usage = message.counted()
        reason = stop_fields(finish.reason, finish.stop, usage, self._request, called=message.called)
        delta = {"type": "message_delta", "delta": reason, "usage": usage_shape(usage), **extras(extra, TAKEN)}
        return message.open() + message.leave() + _frame(delta) + _STOP

    def error(self, exc: BaseException) -> bytes:
        """The end of a stream that failed; nothing follows it."""
        if self.ended:
            return b""
        self.ended = True
        return _frame(error(exc, self._id)[1])

    def ping(self, text: str = "") -> bytes:
        """What keeps the connection alive: a ping, or a comment while the prompt's size is not known."""
        if self.ended:
            return b""
        return self._message.open() + _PING if self._message.asked else sse.comment(text)


class _Message:
    """Where a stream stands, and the frames of its open block cut into what surrounds a text."""

    def __init__(self, names: Mapping[str, str], settings: Settings, ids: CallIds) -> None:
        self._names, self._settings, self._ids = names, settings, ids
        self.write = _TABLES[settings.thinking]
        self.asked: Usage | None = None
        self.usage: Usage | None = None
        self.finish: Finish | None = None
        self.called = False
        self._opened = False
        # The open block: its index, and what stands before its text.
        self._index = -1
        self._head = b""
        self._kind = b""
        # The part whose frames need no more than their text, or none.
        self._text_part = self._thought_part = _NO_PART
        self._thought: list[str] = []
        self._call = CallStart(0, "", "")
        self._pieces: list[str] = []
        self._live = self._begun = False

    def open(self) -> bytes:
        """The start, once."""
        if self._opened:
            return b""
        self._opened = True
        usage = usage_shape(self.asked)
        del usage["output_tokens_details"]
        told: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        return _frame({"type": "message_start", "message": {**self._names, **told}})

    def leave(self) -> bytes:
        """The stop of the open block, a thought's behind its signature."""
        kind, self._kind = self._kind, b""
        self._text_part = self._thought_part = _NO_PART
        if not kind:
            return b""
        stop = sse.frame(b'{"type":"content_block_stop","index":%d}' % self._index, "content_block_stop")
        return self._signature() + stop if kind == b"thinking" else stop

    # --- text

    def content(self, event: Content) -> bytes:
        text = event.text
        if event.part != self._text_part or not text:
            return self._content_slowly(event)
        return self._head + wire.quote(text) + _TAIL

    def _content_slowly(self, event: Content) -> bytes:
        """The first piece of a block, or an empty one."""
        if not event.text:
            return b""
        begun = self._begin(b'{"type":"text","text":""}', b"text", b"text")
        self._text_part = event.part
        return begun + self._piece(event.text)

    def reasoning(self, event: Reasoning) -> bytes:
        text = event.text
        if event.part != self._thought_part or not text:
            return self._think(event) + self._piece(text) if text else b""
        self._thought.append(text)
        return self._head + wire.quote(text) + _TAIL

    def omitted(self, event: Reasoning) -> bytes:
        """A thought that only its signature shows."""
        if event.part != self._thought_part:
            return self._think(event) if event.text else b""
        self._thought.append(event.text)
        return b""

    def unthought(self, event: Reasoning) -> bytes:
        """A thought that is not shown parts what stands around it."""
        return self.leave() if event.text else b""

    def _think(self, event: Reasoning) -> bytes:
        begun = self._begin(b'{"type":"thinking","thinking":"","signature":""}', b"thinking", b"thinking")
        self._thought_part, self._thought = event.part, [event.text]
        return begun

    def _signature(self) -> bytes:
        text = wire.clean("".join(self._thought))
        signature = sign(text, self._settings.key, carry=self._settings.thinking == "omitted")
        delta = {"type": "signature_delta", "signature": signature}
        return _frame({"type": "content_block_delta", "index": self._index, "delta": delta})

    # --- calls

    def start(self, event: CallStart) -> bytes:
        left = self.leave()
        self._call, self._pieces, self._begun = event, [], False
        self._live = event.name in self._settings.eager
        return left + self._begin_call() if self._live else left

    def args(self, event: CallArgs) -> bytes:
        text = event.json
        if not self._live:
            self._pieces.append(text)
            return b""
        if not text:
            return b""
        self._begun = True
        return self._head + wire.quote(text) + _TAIL

    def end(self, event: CallEnd) -> bytes:
        self.called |= event.complete
        if self._live:
            return (b"" if self._begun or not event.complete else self._piece("{}")) + self.leave()
        if not event.complete:
            return b""
        return self._begin_call() + self._piece(input_json("".join(self._pieces))) + self.leave()

    def _begin_call(self) -> bytes:
        call = {"type": "tool_use", "id": self._ids.give(self._call.id), "name": self._call.name, "input": {}}
        return self._begin(wire.dump(call), b"input_json", b"partial_json")

    # --- the rest

    def count(self, event: Usage) -> bytes:
        """The one that comes first has the prompt's size, the last one is the turn's."""
        if event.completion is None and not self._opened:
            self.asked = event
        self.usage = event
        return b""

    def counted(self) -> Usage:
        """The turn's usage; the prompt's size is that of the start where the engine told no other."""
        usage, asked = self.usage or Usage(), self.asked or Usage()
        return usage if usage.prompt is not None else replace(usage, prompt=asked.prompt)

    def stop(self, event: Finish) -> bytes:
        self.finish = event
        return b""

    def skip(self, _: Notice) -> bytes:
        return b""

    def _begin(self, block: bytes, kind: bytes, key: bytes) -> bytes:
        """Start a block whose deltas have their text under `key`."""
        before = self.open() + self.leave()
        self._kind = kind
        self._index += 1
        delta = b'{"type":"content_block_delta","index":%d,"delta":{"type":"%b_delta","%b":' % (self._index, kind, key)
        self._head = b"event: content_block_delta\ndata: " + delta
        start = b'{"type":"content_block_start","index":%d,"content_block":%b}' % (self._index, block)
        return before + sse.frame(start, "content_block_start")

    def _piece(self, text: str) -> bytes:
        return self._head + wire.quote(text) + _TAIL


def _frame(value: Mapping[str, Any]) -> bytes:
    return sse.frame(wire.dump(value), value["type"])


# How each event is written, as functions of a message: bound methods would tie every stream into a knot.
_FULL: _Table = {
    Content: _Message.content,
    Reasoning: _Message.reasoning,
    CallStart: _Message.start,
    CallArgs: _Message.args,
    CallEnd: _Message.end,
    Notice: _Message.skip,
    Usage: _Message.count,
    Finish: _Message.stop,
}
_TABLES: Mapping[str, _Table] = {
    "full": _FULL,
    "omitted": {**_FULL, Reasoning: _Message.omitted},
    "none": {**_FULL, Reasoning: _Message.unthought},
}
