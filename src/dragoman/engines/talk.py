"""An upstream that takes conversations: it renders and decodes itself, and what it decodes badly is put right.

Its stream is read by its protocol's own reader, which repairs the form.
The text goes on as pieces, to be decoded once more, because marks leak; reasoning and calls go on as events.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import UnsupportedFeature
from ..messages import Raw, Request
from ..protocols import chat, messages_api, ollama, responses
from .base import Item, ModelInfo, Options, Prompt
from .cured import cured
from .embedding import Vectors, Wanted
from .hearing import Reader, Talked, heard
from .http import Http
from .vectors import OLLAMA, OPENAI, Asking, ask
from .voice import Voice

__all__ = ["SPEECHES", "Manners", "Speech", "Talk"]


@dataclass(frozen=True, slots=True)
class Speech:
    """How conversations are held in a protocol: where, how a request is written, how an answer is read.

    `vectors`: how vectors are asked for beside it, None where it has none.
    `silent`: servers are known that do not say that the limit was reached (llama.cpp calls such an answer completed).
    """

    path: str
    write: Callable[[Request], dict[str, Any]]
    reader: Callable[[str], Reader]
    silent: bool = False
    vectors: Asking | None = None


def _write_chat(request: Request) -> dict[str, Any]:
    return chat.write_request(request, chat.Settings(stream=True, include_usage=True))


def _write_responses(request: Request) -> dict[str, Any]:
    return responses.write_request(request, responses.Settings(stream=True))


def _write_messages(request: Request) -> dict[str, Any]:
    return messages_api.write_request(request, messages_api.Settings(stream=True))


def _write_ollama(request: Request) -> dict[str, Any]:
    return ollama.write_request(request, ollama.Settings(stream=True))


SPEECHES: Mapping[str, Speech] = {
    "chat": Speech("/v1/chat/completions", _write_chat, lambda engine: chat.Reader(engine=engine), vectors=OPENAI),
    "responses": Speech("/v1/responses", _write_responses, responses.Reader, silent=True, vectors=OPENAI),
    "messages": Speech("/v1/messages", _write_messages, messages_api.Reader),
    "ollama": Speech("/api/chat", _write_ollama, ollama.Reader, vectors=OLLAMA),
}


@dataclass(frozen=True, slots=True)
class Manners:
    """What an upstream wants otherwise: fields that it does not take, and fields that it gets with every request."""

    drop: Sequence[str] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A request's body as the upstream wants it; an object is put together with the one of its name."""
        both = {key: _merged(body.get(key), value) for key, value in self.extra.items()}
        return {key: value for key, value in {**body, **both}.items() if key not in self.drop}


def _merged(one: Any, other: Any) -> Any:
    return {**one, **other} if isinstance(one, Mapping) and isinstance(other, Mapping) else other


class Talk(Voice):
    """One model of an upstream that takes conversations.

    Args:
        http: the connection.
        info: the model.
        speech: the protocol.
        model: what the upstream calls the model.
        places: requests at the same time.
        manners: what it wants otherwise.
    """

    talks = True

    def __init__(
        self,
        http: Http,
        info: ModelInfo,
        speech: Speech,
        *,
        model: str,
        places: asyncio.Semaphore,
        manners: Manners | None = None,
    ) -> None:
        super().__init__(http.engine, info)
        self.http, self.speech, self.model, self.manners = http, speech, model, manners or Manners()
        self._places = places

    @property
    def embeds(self) -> bool:  # type: ignore[override]  # of the others it is a fact
        """Whether its protocol has vectors; its server may still say that this model makes none."""
        return self.speech.vectors is not None

    async def embed(self, inputs: Sequence[Raw], wanted: Wanted) -> Vectors:
        """See `Embedder`."""
        assert self.speech.vectors is not None
        given: Any = {"model": self.model, "places": self._places, "fit": self.manners.applied}
        return await ask(self.http, self.speech.vectors, inputs, wanted, **given)

    async def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Generate; see `Engine.stream`."""
        wanted = self._body(options, request)
        hearing = Talked(self.speech.reader(self.name), options.limit if self.speech.silent else None)
        async with (
            self._places,
            self.http.ask(self.speech.path, wanted) as answer,
            aclosing(heard(answer, hearing)) as batches,
        ):
            async for batch in batches:
                yield batch

    def _body(self, options: Options, request: Request | None) -> dict[str, Any]:
        """Stop strings are ours to match, and each choice is asked for on its own."""
        if request is None or not request.messages:
            problem = f"the upstream ({self.name}) takes conversations only, no raw prompts"
            raise UnsupportedFeature(problem, code="no_raw_prompts", status=501)
        history = request.messages if request.continue_last else cured(request.messages)
        asked = replace(request, model=self.model, messages=history, n=1, stop=(), sampling=options.sampling)
        return self.manners.applied(self.speech.write(asked))
