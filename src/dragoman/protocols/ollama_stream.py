"""Events, written as the lines of an Ollama stream.

Nearly all lines are alike but for their text, so a line is cut once per stream into what stands before and after it.
A call waits until it is whole and valid, for Ollama has no pieces of calls; a cut one is dropped.
There is no keep-alive: clients read every line as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import Broken
from ..events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from ..messages import Message, Request, Text
from . import wire
from .chat_messages import used_ids
from .chat_shape import CallIds, Joints, Token, failure
from .chunks import Table
from .ollama_context import pack
from .ollama_error import error
from .ollama_request import Settings
from .ollama_shape import Form, call_shape, chat_form, counts, generate_form, head, idle, tokens, usual

__all__ = ["ChatWriter", "GenerateWriter"]

_NO_PART = -1
_STAND = "\0"


class ChatWriter:
    """One per response: events in, bytes of lines out.

    Args:
        request: what was asked.
        settings: how it is to be answered.
        answer_id: not shown; Ollama's answers have no id.
        created: the time that all lines carry, in seconds.
        ids: makes the id of a call that has none, or none that can be used.
        model: the name of the model if not the one that was asked for.
    """

    headers: Mapping[str, str] = {
        "content-type": "application/x-ndjson",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
    }
    counts = False
    form: Form = staticmethod(chat_form)
    table: Table

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
        self._head = head(model or request.model, created)
        self._content_head, self._tail = self._cut(self.form(_STAND))
        self._reasoning_head, self._reasoning_tail = self._cut(self.form(thinking=_STAND))
        self._shown = settings.reasoning_field != "none"
        self._idle = settings.idle
        self._ids = CallIds(used_ids(request.messages), ids)
        self._joints = Joints()
        # The part whose lines need no more than their text, or none.
        self._content_part = self._reasoning_part = _NO_PART
        self._name = CallStart(0, "", "")
        self._pieces: list[str] = []
        self._calls = 0
        self._tokens: list[Token] = []
        self._usage: Usage | None = None
        self._finish: Finish | None = None
        self.ended = False

    def write(self, events: Iterable[Event], choice: int = 0, logprobs: Iterable[Token] = ()) -> bytes:
        """The lines of some events; `logprobs` are those of the content's tokens, and ride on its next line."""
        if self.ended or self._finish is not None:
            return b""
        self._tokens.extend(logprobs)
        table = self.table
        lines = b"".join([table[type(event)](self, event) for event in events])
        if self._finish is not None and self._finish.reason in ("error", "cancelled"):
            lines += self.error(self._finish.error or failure(self._finish.reason))
        return lines

    def close(self, extra: Mapping[str, Any] | None = None) -> bytes:
        """The last line, with what is known only now."""
        if self.ended:
            return b""
        if self._finish is None and not self._idle:
            return self.error(Broken("the answer ended before it was finished"))
        self.ended = True
        end = counts(self._finish.reason, self._usage, extra) if self._finish else idle(self._idle)
        return self._line(**self.form(), **end, **self.last(), **usual(extra))

    def error(self, exc: BaseException) -> bytes:
        """The end of a stream that failed; nothing follows it."""
        if self.ended:
            return b""
        self.ended = True
        return wire.dump(error(exc)[1]) + b"\n"

    def ping(self, text: str = "") -> bytes:
        """Nothing: there is no line that clients skip."""
        return b""

    def last(self) -> dict[str, Any]:
        """What else the last line says."""
        return {}

    # --- text

    def content(self, event: Content) -> bytes:
        """A piece of the answer; a refusal is one too."""
        if event.part != self._content_part or self._tokens or not event.text:
            return self._content_slowly(event)
        return self._content_head + wire.quote(event.text) + self._tail

    def _content_slowly(self, event: Content) -> bytes:
        """The first line of a part, or one with log probabilities."""
        if not event.text:
            return b""
        self._content_part, self._reasoning_part = event.part, _NO_PART
        text = self._joints.before("content", event.part) + event.text
        found, self._tokens = self._tokens, []
        if found:
            return self._line(**self.form(text), done=False, logprobs=tokens(found))
        return self._content_head + wire.quote(text) + self._tail

    def reasoning(self, event: Reasoning) -> bytes:
        """A piece of thinking."""
        self._tokens.clear()
        if not self._shown or not event.text:
            return b""
        text = event.text
        if event.part != self._reasoning_part:
            self._content_part, self._reasoning_part = _NO_PART, event.part
            text = self._joints.before("reasoning", event.part) + text
        return self._reasoning_head + wire.quote(text) + self._reasoning_tail

    # --- calls

    def start(self, event: CallStart) -> bytes:
        """A call begins, and waits."""
        self._name, self._pieces = event, []
        self._tokens.clear()
        self._content_part = self._reasoning_part = _NO_PART
        self._joints.leave()
        return b""

    def args(self, event: CallArgs) -> bytes:
        """A piece of its arguments waits too."""
        self._pieces.append(event.json)
        return b""

    def end(self, event: CallEnd) -> bytes:
        """It is whole, or dropped."""
        pieces, self._pieces = self._pieces, []
        if not event.complete:
            return b""
        call = call_shape(self._calls, self._ids.give(self._name.id), self._name.name, "".join(pieces))
        self._calls += 1
        return self._line(**self.form(tool_calls=[call]), done=False)

    # --- the rest

    def count(self, event: Usage) -> bytes:
        """For the last line."""
        self._usage = event
        return b""

    def stop(self, event: Finish) -> bytes:
        """For the last line."""
        self._finish = event
        return b""

    def skip(self, _: Notice) -> bytes:
        """Notices are for those who run the server."""
        return b""

    def _line(self, **fields: Any) -> bytes:
        return wire.dump({**self._head, **fields}) + b"\n"

    def _cut(self, fields: Mapping[str, Any]) -> tuple[bytes, bytes]:
        before, _, after = self._line(**fields, done=False).rpartition(wire.quote(_STAND))
        return before, after


class GenerateWriter(ChatWriter):
    """The same for /api/generate, which also gives out the conversation so far."""

    form: Form = staticmethod(generate_form)

    def __init__(self, request: Request, settings: Settings, **facts: Any) -> None:
        super().__init__(request, settings, **facts)
        self._asked = None if request.prompts or settings.idle else request.messages
        self._said: list[str] = []

    def content(self, event: Content) -> bytes:
        """A piece of the answer."""
        if event.text:
            begins = event.part != self._content_part and self._said
            self._said.append("\n" + event.text if begins else event.text)
        return super().content(event)

    def last(self) -> dict[str, Any]:
        """The context; a raw prompt has none."""
        if self._asked is None:
            return {}
        return {"context": pack((*self._asked, Message("assistant", (Text("".join(self._said)),))))}


# How each event is written, as functions of a writer: bound methods would tie every stream into a knot.
ChatWriter.table = {
    Content: ChatWriter.content,
    Reasoning: ChatWriter.reasoning,
    CallStart: ChatWriter.start,
    CallArgs: ChatWriter.args,
    CallEnd: ChatWriter.end,
    Notice: ChatWriter.skip,
    Usage: ChatWriter.count,
    Finish: ChatWriter.stop,
}
GenerateWriter.table = {**ChatWriter.table, Content: GenerateWriter.content}
