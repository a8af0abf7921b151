"""An upstream's raw completions (`/v1/completions`: vLLM, SGLang and most others): our template, our decoder.

A prompt goes as the ids of its tokens where the upstream tells them; else as text, with the marks in foreign text broken.
Special tokens are asked for as text, and their ids with them where the upstream can.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from ..events import Notice
from ..messages import Raw
from ..protocols import completions, wire
from .base import End, Item, ModelInfo, Options, Prompt, Tokenizer
from .embedding import Vectors, Wanted
from .hearing import Completed, heard
from .http import Http
from .marked import Marked
from .plain import plain
from .talk import Manners
from .vectors import OPENAI, ask
from .vocabulary import Vocabulary
from .voice import Voice

__all__ = ["Completions"]

_REMEMBERED = 4096
_SAFE = 4096  # tokens, where neither the request nor the context says how many there may be
_GRAMMARS = {"vllm": "structural_tag", "sglang": "structural_tag"}
_OTHER_NAMES = {"repeat_penalty": "repetition_penalty"}


class Completions(Voice):
    """One model of an upstream with raw completions.

    Args:
        http: the connection.
        info: the model.
        kind: vllm, sglang, or "" for any other.
        model: what the upstream calls the model.
        places: requests at the same time.
        tells: the upstream tells tokens (`/tokenize`).
        guided: it is a vLLM that takes grammars as `guided_grammar`, as it did before it had `structured_outputs`.
        manners: what it wants otherwise.
    """

    embeds = True  # or its server says that this model does not

    def __init__(
        self,
        http: Http,
        info: ModelInfo,
        *,
        kind: str,
        model: str,
        places: asyncio.Semaphore,
        tells: bool,
        guided: bool = False,
        manners: Manners | None = None,
    ) -> None:
        super().__init__(http.engine, info)
        self.http, self.kind, self.model, self.manners = http, kind, model, manners or Manners()
        self.vocabulary = Vocabulary(http, model, info) if tells else None
        self.guided = guided
        self.grammars = "gbnf" if guided else _GRAMMARS.get(kind, "")
        self._asked: set[str] = set()
        self._places = places
        self._marked = Marked(info.specials)

    async def embed(self, inputs: Sequence[Raw], wanted: Wanted) -> Vectors:
        """See `Embedder`."""
        given: Any = {"model": self.model, "places": self._places, "fit": self.manners.applied}
        return await ask(self.http, OPENAI, inputs, wanted, **given)

    async def learn(self, marks: Sequence[str]) -> None:
        """Ask which of these marks are special tokens, where nothing else tells."""
        self.info.partial = True
        await self.know(marks)

    async def know(self, marks: Iterable[str]) -> None:
        """Learn which of these marks, that came in a request, are special tokens."""
        fresh = [mark for mark in marks if mark not in self._asked]
        if self.vocabulary is None or not self.info.partial or not fresh:
            return
        if len(self._asked) < _REMEMBERED:
            self._asked |= set(fresh)
        found = await self.vocabulary.special(fresh)
        self.info.specials = {**self.info.specials, **found}
        self.vocabulary = Vocabulary(self.http, self.model, self.info)
        self._marked = Marked(self.info.specials)

    @property
    def tokenizer(self) -> Tokenizer | None:
        """Where the upstream tells its tokens."""
        return self.vocabulary

    async def count(self, prompt: Prompt) -> int | None:
        """The tokens of a prompt, where the upstream tells them."""
        return None if self.vocabulary is None else len(await self.vocabulary.ids(prompt))

    async def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Generate; see `Engine.stream`."""
        given, notices = await self._given(prompt)
        if options.limit == 0:
            yield [*notices, End("length", await self.count(prompt), 0)]
            return
        reader = completions.Reader(engine=self.name)
        hearing = Completed(reader, self._marked, notices, lambda: reader.tokens.pop(0))
        body = self.manners.applied(self._body(given, options, request))
        async with (
            self._places,
            self.http.ask("/v1/completions", body) as answer,
            aclosing(heard(answer, hearing)) as batches,
        ):
            async for batch in batches:
                yield batch

    async def _given(self, prompt: Prompt) -> tuple[str | list[int], Sequence[Notice]]:
        """The prompt as it is sent.  Without foreign marks a text says the same, unless a start token would come twice."""
        foreign = any(segment.foreign or segment.ids for segment in prompt.segments)
        starts = bool(self.info.bos) and prompt.text.startswith(self.info.bos) and self.kind != "vllm"
        if self.vocabulary is not None and (foreign or starts):
            return await self.vocabulary.ids(prompt), ()
        return plain(prompt)

    def _body(self, given: str | list[int], options: Options, request: Any) -> dict[str, Any]:
        sampling = {_OTHER_NAMES.get(name, name): value for name, value in options.sampling.items()}
        sampling.pop("grammar", None)
        return {
            **sampling,
            "model": self.model,
            "prompt": given,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": self._limit(given, options),
            **({"logprobs": options.logprobs} if options.logprobs is not None else {}),
            **_FIELDS.get(self.kind, {}),
            **self._constraint(options),
        }

    def _limit(self, given: str | list[int], options: Options) -> int | None:
        """The API's own limit is 16 tokens; vLLM takes null for none."""
        if options.limit is not None or self.kind == "vllm":
            return options.limit
        if self.info.context is None:
            return _SAFE
        size = len(given) if isinstance(given, list) else len(given) // 2
        return max(self.info.context - size - 1, 256)

    def _constraint(self, options: Options) -> Mapping[str, Any]:
        """Ours is a structural tag; a client's own grammar is GBNF, which both read in the main."""
        own, tag = options.sampling.get("grammar"), options.grammar
        if self.guided and (tag or own):
            return {"guided_grammar": tag or own}
        if self.kind == "vllm" and (tag or own):
            return {"structured_outputs": {"structural_tag": tag} if tag else {"grammar": own}}
        if self.kind == "sglang" and (tag or own):
            return {"response_format": wire.load(tag)} if tag else {"ebnf": own}
        return {}


# Special tokens as text, none put before the prompt, and their ids.
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "vllm": {
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
        "add_special_tokens": False,
        "return_token_ids": True,
    },
    "sglang": {"skip_special_tokens": False, "no_stop_trim": False},
}
