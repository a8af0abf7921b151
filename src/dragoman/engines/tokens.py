"""A prompt as llama.cpp takes it: texts, in which special tokens are read, and ids for foreign text, in which not.

Text without the spelling of a special token is never cut out of the text around it, so it has the same tokens as
without all this, and the beginning of a conversation keeps its tokens (and its place in the cache) as it grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import EngineError, Refused, RequestError
from .base import ModelInfo, Prompt, Token
from .foreign import Spellings
from .http import Connection

__all__ = ["Tokens"]

_REMEMBERED = 1024
_MOST = 2**31


class Tokens:
    """Asks the engine for the tokens of texts; `model`: what the engine calls the model, where it serves several."""

    def __init__(self, link: Connection, info: ModelInfo, model: str = "") -> None:
        self.link, self.info = link, info
        self._which = {"model": model} if model else {}
        self.special = frozenset(info.specials.values())
        self.spellings = Spellings(info.specials)
        self.adds_start = False
        self._spelled: dict[str, list[int]] = {}

    async def learn(self) -> None:
        """Whether the engine itself puts a start token before a prompt."""
        self.adds_start = bool(await self._ids("", special=True, start=True))

    async def prompt(self, prompt: Prompt) -> str | list[str | int]:
        """The prompt for `/completion`."""
        parts: list[str | int] = [""]  # the start token is added to a text in the first place only
        for segment in prompt.segments:
            last = parts[-1]
            if segment.ids:
                parts += segment.ids
            elif segment.foreign:
                parts += await self._spell(segment.text)
            elif isinstance(last, str):
                parts[-1] = last + segment.text
            else:
                parts.append(segment.text)
        if prompt.segments and prompt.segments[0].ids:
            return parts[1:]  # whoever gives tokens gives the start token too
        if self.adds_start:  # templates write it too
            parts[0] = str(parts[0]).removeprefix(self.info.bos)
        return str(parts[0]) if len(parts) == 1 else parts

    async def ids(self, prompt: Prompt) -> list[int]:
        """All tokens of a prompt, the start token included."""
        parts = await self.prompt(prompt)
        ids: list[int] = []
        for place, part in enumerate([parts] if isinstance(parts, str) else parts):
            ids += [part] if isinstance(part, int) else await self._ids(part, special=True, start=not place)
        return ids

    async def _spell(self, text: str) -> list[int]:
        """The ids of foreign text, none of them special (as far as its letters have other tokens)."""
        if (known := self._spelled.get(text)) is not None:
            return known
        ids = await self._ids(text)
        if self.special.intersection(ids):  # user-defined tokens are found even where special ones are not looked for
            ids = [token for part in self.spellings.broken(text) for token in await self._ids(part)]
        if len(self._spelled) < _REMEMBERED:
            self._spelled[text] = ids
        return ids

    async def tokenize(self, text: str, *, special: bool = True, start: bool = False) -> Sequence[Token]:
        """See `Tokenizer`."""
        found = await self._asked(text, special=special, start=start, with_pieces=True)
        return [Token(token["id"], _bytes(token["piece"])) for token in found]

    async def spell(self, ids: Sequence[int]) -> str:
        """See `Tokenizer`."""
        try:
            if all(0 <= token < _MOST for token in ids):
                answer = await self.link.json("/detokenize", {"tokens": list(ids), **self._which})
                return str(answer["content"])
        except Refused as problem:  # llama.cpp looks an id up without a check
            if "range" not in problem.message:
                raise
        raise RequestError("one of these ids is no token of the model", code="invalid_value")

    async def _ids(self, text: str, *, special: bool = False, start: bool = False) -> list[int]:
        return list(await self._asked(text, special=special, start=start))

    async def _asked(self, text: str, *, special: bool, start: bool, **more: Any) -> Sequence[Any]:
        wanted = {"content": text, "parse_special": special, "add_special": start, **more, **self._which}
        answer = await self.link.json("/tokenize", wanted)
        if not isinstance(answer, dict) or "tokens" not in answer:
            raise EngineError("llama.cpp did not tokenize", engine=self.link.engine)
        tokens: Sequence[Any] = answer["tokens"]
        return tokens


def _bytes(piece: str | Sequence[int]) -> bytes:
    """What a token spells; half a character comes as numbers."""
    return piece.encode() if isinstance(piece, str) else bytes(piece)
