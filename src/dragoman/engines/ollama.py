"""An Ollama server, spoken to in raw generations (`/api/generate` with `raw`): our template, our decoder.

It takes nothing but text, so marks in foreign text are broken; its constraint is a JSON schema, so an answer can be
forced into one, but not into a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from ..messages import Raw, Request
from ..protocols import ollama, wire
from ..protocols.ollama_ask import write_options
from .base import End, Item, ModelInfo, Options, Prompt
from .embedding import Vectors, Wanted
from .hearing import Completed, heard
from .http import Http
from .marked import Marked
from .plain import plain
from .talk import Manners
from .vectors import OLLAMA, ask
from .voice import Voice

__all__ = ["Ollama"]


class Ollama(Voice):
    """One model of an Ollama server.

    Args:
        http: the connection.
        info: the model.
        model: what the server calls the model.
        places: requests at the same time.
        manners: what it wants otherwise.
    """

    grammars = ""
    schemas = True
    embeds = True  # or its server says that this model does not

    def __init__(
        self, http: Http, info: ModelInfo, *, model: str, places: asyncio.Semaphore, manners: Manners | None = None
    ) -> None:
        super().__init__(http.engine, info)
        self.http, self.model, self.manners = http, model, manners or Manners()
        self._places = places
        self._marked = Marked(info.specials)

    async def embed(self, inputs: Sequence[Raw], wanted: Wanted) -> Vectors:
        """See `Embedder`."""
        given: Any = {"model": self.model, "places": self._places, "fit": self.manners.applied}
        return await ask(self.http, OLLAMA, inputs, wanted, **given)

    async def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Generate; see `Engine.stream`."""
        text, notices = plain(prompt)
        if options.limit == 0:
            yield [*notices, End("length", None, 0)]
            return
        before, behind = options.around
        reader = ollama.Reader(self.name)
        hearing = Completed(reader, self._marked, notices, lambda: ((), _taken(reader)))
        body = self.manners.applied(self._body(text + before, options, request))
        async with (
            self._places,
            self.http.ask("/api/generate", body) as answer,
            aclosing(heard(answer, hearing)) as batches,
        ):
            async for batch in batches:
                yield [*self._marks(before), *self._closed(batch, behind)]
                before = ""

    def _marks(self, text: str) -> list[Item]:
        return [*self._marked.pieces(text)] if text else []

    def _closed(self, batch: list[Item], behind: str) -> list[Item]:
        """What stands behind the text comes before its end, if that is a good one."""
        whole = type(batch[-1]) is End and batch[-1].reason == "stop"
        return [*batch[:-1], *self._marks(behind), batch[-1]] if whole else batch

    def _body(self, prompt: str, options: Options, request: Any) -> dict[str, Any]:
        asked = replace(
            request or Request(),
            limit=-1 if options.limit is None else options.limit,
            stop=(),
            sampling=options.sampling,
        )
        body: dict[str, Any] = {"model": self.model, "prompt": prompt, "raw": True, "stream": True}
        body["options"] = write_options(asked)
        if options.grammar:
            body["format"] = wire.load(options.grammar)
        elif asked.schema is not None:
            body["format"] = dict(asked.schema) or "json"
        if options.logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": options.logprobs}
        return body


def _taken(reader: ollama.Reader) -> list[Any]:
    found, reader.logprobs = reader.logprobs, []
    return found
