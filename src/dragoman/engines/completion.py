"""Raw completions of llama.cpp: a prompt of texts and tokens goes in, batches of pieces come out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from .base import End, Item, ModelInfo, Options, Prompt
from .http import Connection
from .refusals import bad_grammar
from .tokens import Tokens
from .wire import Chunks, body

__all__ = ["Completion"]


class Completion:
    """Asks one llama.cpp server to complete the prompts of one model.

    Args:
        link: the connection to it.
        tokens: its tokenizer.
        info: the model.
        refusals: what the engine has said so far of grammars that it cannot read, where that can be seen.
        model: what the engine calls the model, where it serves several.
    """

    def __init__(
        self,
        link: Connection,
        tokens: Tokens,
        info: ModelInfo,
        refusals: Callable[[], Sequence[str]] = tuple,
        model: str = "",
    ) -> None:
        self.link, self.tokens, self.info, self.refusals, self.model = link, tokens, info, refusals, model

    async def count(self, prompt: Prompt) -> int:
        """The tokens of a prompt, the start token included."""
        return len(await self.tokens.ids(prompt))

    async def stream(self, prompt: Prompt, options: Options) -> AsyncGenerator[list[Item]]:
        """Generate; see `Engine.stream`."""
        if options.limit == 0:  # llama.cpp would write one token all the same
            yield [End("length", await self.count(prompt), 0)]
            return
        wanted = body(await self.tokens.prompt(prompt), options, self.info.specials)
        if self.model:
            wanted["model"] = self.model
        chunks = Chunks(self.info.specials, options.logprobs, self.link.engine)
        known = len(self.refusals())
        async with self.link.ask("/completion", wanted) as answer:
            async for data in answer.content.iter_any():
                if options.form == "lark" and (refused := self.refusals()[known:]):
                    raise bad_grammar(refused[-1])
                if batch := chunks.feed(data):
                    yield batch
        if not chunks.ended:
            raise await self.link.broken()
