"""A prompt as llama.cpp takes it: texts, in which special tokens are read, and ids for foreign text, in which not.

Text without the spelling of a special token is never cut out of the text around it, so it has the same tokens as
without all this, and the beginning of a conversation keeps its tokens (and its place in the cache) as it grows.
"""

from __future__ import annotations

from ..errors import EngineError
from .base import ModelInfo, Prompt
from .foreign import Spellings
from .link import Link

__all__ = ["Tokens"]

_REMEMBERED = 1024


class Tokens:
    """Asks the engine for the tokens of texts."""

    def __init__(self, link: Link, info: ModelInfo) -> None:
        self.link, self.info = link, info
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
            if segment.foreign:
                parts += await self._spell(segment.text)
            elif isinstance(last, str):
                parts[-1] = last + segment.text
            else:
                parts.append(segment.text)
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

    async def _ids(self, text: str, *, special: bool = False, start: bool = False) -> list[int]:
        answer = await self.link.json("/tokenize", {"content": text, "parse_special": special, "add_special": start})
        if not isinstance(answer, dict) or "tokens" not in answer:
            raise EngineError("llama.cpp did not tokenize", engine=self.link.engine)
        return list(answer["tokens"])
