"""Events, written as the chunks of a Completions stream: text, and nothing but text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning, Usage
from ..messages import Raw, Request
from . import wire
from .chat_shape import Token
from .chunks import Stream, Table
from .completions_request import Settings
from .completions_shape import finish_word, logprobs_lists, usage

__all__ = ["Writer"]


class Writer(Stream):
    """One per response: events in, bytes of server-sent events out.  The arguments are those of Chat's."""

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
        names = {"id": answer_id, "object": "text_completion", "created": created, "model": model or request.model}
        super().__init__(names, usage=settings.include_usage)
        self._count = request.n
        prompts = [prompt for prompt in request.prompts for _ in range(request.n)]
        echoed = [prompt if settings.echo else None for prompt in prompts]
        self._choices = [_Choice(index, self.head, self.tail, prompt) for index, prompt in enumerate(echoed)]

    def count(self, usages: Sequence[Usage | None]) -> dict[str, Any]:
        """The usage of all choices together."""
        return usage(usages, self._count)


class _Choice:
    """One choice of a stream; `echoed` is the prompt that stands before its text."""

    def __init__(self, index: int, head: bytes, tail: bytes, echoed: Raw | None) -> None:
        self._head = head + b'{"index":%d,"text":' % index
        self._tail = b',"logprobs":null,"finish_reason":null}' + tail
        self._end = tail
        self._echoed = echoed
        self._at = 0
        self.tokens: list[Token] = []
        self.usage: Usage | None = None
        self.finish: Finish | None = None
        self.write = _WRITE

    def begin(self) -> bytes:
        """The prompt, if it is to be echoed."""
        text = self._echoed.text if self._echoed else ""
        self._at = len(text)
        return self._head + wire.quote(text) + self._tail if text else b""

    def end(self, more: Mapping[str, Any]) -> bytes:
        """The chunk with the finish."""
        finish = self.finish or Finish("stop")
        stop = b',"stop_reason":' + wire.quote(finish.stop) if finish.stop else b""
        last = b'"","logprobs":null,"finish_reason":"%b"%b}' % (finish_word(finish.reason).encode(), stop)
        end = self._end
        if more:
            end = end.replace(b"}\n\n", b"," + wire.dump(more)[1:] + b"\n\n")
        return self._head + last + end

    def content(self, event: Content) -> bytes:
        """A piece of text."""
        text = event.text
        if not text:
            return b""
        at, self._at = self._at, self._at + len(text)
        if not self.tokens:
            return self._head + wire.quote(text) + self._tail
        tokens, self.tokens = self.tokens, []
        shape = wire.dump(logprobs_lists(tokens, at))
        return b'%b%b,"logprobs":%b,"finish_reason":null}%b' % (self._head, wire.quote(text), shape, self._end)

    def count(self, event: Usage) -> bytes:
        """For the end."""
        self.usage = event
        return b""

    def stop(self, event: Finish) -> bytes:
        """For the end."""
        self.finish = event
        return b""

    def skip(self, _: Event) -> bytes:
        """Raw text has neither thoughts nor calls."""
        return b""


_WRITE: Table = {
    Content: _Choice.content,
    Usage: _Choice.count,
    Finish: _Choice.stop,
    **dict.fromkeys((Notice, Reasoning, CallStart, CallArgs, CallEnd), _Choice.skip),
}
