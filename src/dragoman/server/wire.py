"""Wire: a protocol's side of one exchange, the same for every protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from ..engines.base import Alternative
from ..events import Event
from ..messages import Request, Turn
from ..protocols import wire as json

__all__ = ["Fails", "Spoken", "Wire", "refusal"]


class Fails(Protocol):
    """A protocol's module, as far as it tells errors."""

    @property
    def error(self) -> Callable[[BaseException], tuple[int, dict[str, Any]]]:
        """The status and the body of an error."""


class Spoken(Fails, Protocol):
    """A protocol's module, as far as the server needs it."""

    @property
    def Settings(self) -> Any:  # noqa: N802
        """How answers are written: a dataclass with at least `stream`, `stats` and `ignored`."""

    @property
    def read_request(self) -> Callable[..., tuple[Request, Any]]:
        """A request, and how its answer is to be written."""

    @property
    def Writer(self) -> Any:  # noqa: N802
        """Events to frames; its `headers` are those of a stream, its `counts` asks for the prompt's size first."""

    @property
    def answer(self) -> Callable[..., dict[str, Any]]:
        """Turns to a whole answer."""


def refusal(protocol: Fails, error: BaseException) -> tuple[int, bytes]:
    """The status and the body of an error before the first byte."""
    status, body = protocol.error(error)
    return status, json.dump(body)


class Wire:
    """One answer, streamed or whole, in the words of a protocol.

    Args:
        protocol: the module that knows the words.
        request: what was asked.
        settings: how it is to be answered, as the protocol read it.
        answer_id: names the answer.
        model: the model that answers.
        ids: makes ids of calls.
        more: what else the protocol's writer wants to know.
    """

    def __init__(
        self,
        protocol: Spoken,
        request: Request,
        settings: Any,
        *,
        answer_id: str,
        model: str,
        ids: Callable[[], str],
        **more: Any,
    ) -> None:
        self.protocol, self.request, self.settings, self.ids = protocol, request, settings, ids
        self._facts = {"answer_id": answer_id, "created": int(time.time()), "model": model, "ids": ids, **more}
        self._writer = protocol.Writer(request, settings, **self._facts)
        self._extra: Mapping[str, Any] = {}

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an answer; one tells which fields of the request were not understood."""
        ignored = ", ".join(self.settings.ignored)
        return {"x-dragoman-ignored": ignored} if ignored else {}

    @property
    def stream_headers(self) -> dict[str, str]:
        """Those of a stream."""
        return {**self._writer.headers, **self.headers}

    @property
    def counts(self) -> bool:
        """The stream begins with the prompt's size: a `Usage` comes before all other events."""
        wanted: bool = self._writer.counts
        return wanted

    def note(self, extra: Mapping[str, Any]) -> None:
        """Facts of the engine that ride along, if the client asked for them."""
        self._extra = extra if self.settings.stats else {}

    def timed(self, first: float | None, total: float) -> None:
        """How long it took: seconds until the first piece (None: there was none), and in all."""
        if self.settings.stats:
            seconds = {"first": total if first is None else first, "total": total}
            self._extra = {**self._extra, "seconds": seconds}

    def write(self, index: int, events: Sequence[Event], tokens: Iterable[Alternative] = ()) -> bytes:
        """The frames of a choice's events."""
        frames: bytes = self._writer.write(events, index, tokens)
        return frames

    def ping(self) -> bytes:
        """A keep-alive."""
        frame: bytes = self._writer.ping()
        return frame

    def close(self) -> bytes:
        """The end of a stream."""
        frames: bytes = self._writer.close(self._extra)
        return frames

    def fail(self, error: BaseException) -> bytes:
        """The end of a stream that failed."""
        frames: bytes = self._writer.error(error)
        return frames

    def answer(self, turns: Sequence[Turn], tokens: Sequence[Sequence[Alternative]]) -> bytes:
        """The whole answer."""
        logprobs = tokens if self.request.logprobs is not None else ()
        facts = {**self._facts, "logprobs": logprobs, "extra": self._extra}
        return json.dump(self.protocol.answer(turns, self.request, self.settings, **facts))

    def refuse(self, error: BaseException) -> tuple[int, bytes]:
        """The status and the body of a failure before the first byte."""
        return refusal(self.protocol, error)

    def leave(self) -> None:
        """The client left before the end."""

    async def settle(self) -> None:
        """What has to be done before the client hears of the end."""
