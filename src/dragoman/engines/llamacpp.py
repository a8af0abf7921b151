"""A llama.cpp server, spoken to in raw completions: the best way, as it takes tokens and texts mixed and gives tokens back.

What the model is like is read from `/props`.  Its vocabulary is not told, so the server's tokenizer is asked which of
the marks that are known anywhere (in its template, in any dialect) are special tokens of this model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from .. import api
from ..errors import DragomanError, UsageError
from ..messages import Raw
from . import gguf
from .base import Item, ModelInfo, Options, Prompt, Tokenizer
from .completion import Completion
from .embedding import Vectors, Wanted
from .fitted import vectors
from .foreign import shaped
from .http import Http
from .tokens import Tokens
from .voice import Voice
from .wire import failure, refusal

__all__ = ["LlamaCpp", "candidates", "refuse"]

_REMEMBERED = 4096

_COMMON = [
    "<s>",
    "</s>",
    "<unk>",
    "<pad>",
    "<bos>",
    "<eos>",
    "<|endoftext|>",
    "<|end|>",
    "<fim_prefix>",
    "<fim_suffix>",
    "<fim_middle>",
]


class LlamaCpp(Voice):
    """One model of a llama.cpp server.

    Args:
        http: the connection.
        info: the model; `learn` fills it in.
        places: requests at the same time: the server's own queue does not notice a client that left.
        model: what the server calls it, where it serves several.
    """

    embeds = True  # or its server says that it was not started for that

    def __init__(self, http: Http, info: ModelInfo, places: asyncio.Semaphore, *, model: str = "") -> None:
        super().__init__(http.engine, info)
        self.http, self.model = http, model
        self._asked: set[str] = set()
        self._places = places
        self.tokens = Tokens(http, info, model)
        self._learned()

    async def learn(self, props: Mapping[str, Any], template: str | None = None) -> None:
        """Read what the server tells; where its file is on this machine, the file tells all."""
        info = self.info
        info.template = _text(props, "chat_template") if template is None else template
        info.bos, info.eos = _text(props, "bos_token"), _text(props, "eos_token")
        info.context = _context(props)
        info.specials = await asyncio.to_thread(_from_file, _text(props, "model_path"))
        info.partial = not info.specials
        if info.partial:
            marks = candidates(info.template, (info.bos, info.eos))
            self._asked = set(marks)
            info.specials = await self._special(marks)
        self._learned()
        await self.tokens.learn()

    async def know(self, marks: Iterable[str]) -> None:
        """Learn which of these marks, that came in a request, are special tokens."""
        fresh = [mark for mark in marks if mark not in self._asked]
        if not self.info.partial or not fresh:
            return
        if len(self._asked) < _REMEMBERED:
            self._asked |= set(fresh)
        if found := await self._special(fresh):
            self.info.specials = {**self.info.specials, **found}
            self._learned()

    async def _special(self, marks: Sequence[str]) -> dict[str, int]:
        """The special tokens among some marks."""
        found = await self.tokens.tokenize("\n".join(marks))
        spelled = {token.piece.decode("utf-8", "replace"): token.id for token in found}
        return {mark: spelled[mark] for mark in marks if mark in spelled}

    def _learned(self) -> None:
        adds_start = self.tokens.adds_start
        self.tokens = Tokens(self.http, self.info, self.model)
        self.tokens.adds_start = adds_start
        self._completion = Completion(self.http, self.tokens, self.info, model=self.model)

    @property
    def tokenizer(self) -> Tokenizer:
        """It tells its tokens."""
        return self.tokens

    async def embed(self, inputs: Sequence[Raw], wanted: Wanted) -> Vectors:
        """See `Embedder`."""
        return await vectors(self.http, self.tokens, self.info, inputs, wanted, places=self._places, model=self.model)

    async def count(self, prompt: Prompt) -> int | None:
        """The tokens of a prompt."""
        return await self._completion.count(prompt)

    async def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Generate; see `Engine.stream`."""
        async with self._places, aclosing(self._completion.stream(prompt, options)) as batches:
            async for batch in batches:
                yield batch


def refuse(status: int, body: str, engine: str) -> DragomanError:
    """An error of a llama.cpp server."""
    return refusal(status, failure(body), engine)


def candidates(template: str, more: Iterable[str] = ()) -> list[str]:
    """Marks that may be special tokens: those in a template, and those of every dialect."""
    known = (mark for dialect in map(api.get, api.names()) for mark in (*dialect.special, *dialect.ends))
    found = dict.fromkeys((*more, *shaped((template,)), *known, *_COMMON))
    return [mark for mark in found if mark.strip()]


def _from_file(path: str) -> Mapping[str, int]:
    try:
        return gguf.read(path).specials if path and Path(path).is_file() else {}
    except UsageError:
        return {}


def _context(props: Mapping[str, Any]) -> int | None:
    settings = props.get("default_generation_settings")
    found = settings.get("n_ctx") if isinstance(settings, Mapping) else None
    return found if isinstance(found, int) and found > 0 else None


def _text(props: Mapping[str, Any], key: str) -> str:
    value = props.get(key)
    return value if isinstance(value, str) else ""
