"""The tokens of a server with `/tokenize` (vLLM, SGLang): it reads special tokens wherever they are spelled.

So foreign text is given to it in parts none of which spells one, and the parts' tokens are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import EngineError, RequestError
from .base import ModelInfo, Prompt, Token
from .foreign import Spellings
from .http import Http

__all__ = ["Vocabulary"]

_REMEMBERED = 1024


class Vocabulary:
    """Asks the server for the tokens of texts."""

    def __init__(self, http: Http, model: str, info: ModelInfo) -> None:
        self.http, self.model = http, model
        self.spellings = Spellings(info.specials)
        self._known: dict[str, list[int]] = {}

    async def ids(self, prompt: Prompt) -> list[int]:
        """All tokens of a prompt."""
        ids: list[int] = []
        for segment in prompt.segments:
            if segment.ids:
                ids += segment.ids
            elif segment.foreign:
                ids += await self._spelled(segment.text)
            else:
                ids += await self._ids(segment.text)
        return ids

    async def tokenize(self, text: str, *, special: bool = True, start: bool = False) -> Sequence[Token]:
        """See `Tokenizer`."""
        ids = await self._ids(text, start=start) if special else await self._spelled(text)
        return [Token(token, (await self.spell([token])).encode()) for token in ids]

    async def spell(self, ids: Sequence[int]) -> str:
        """See `Tokenizer`."""
        answer = await self.http.json("/detokenize", {"model": self.model, "tokens": list(ids)})
        text = answer.get("prompt", answer.get("text")) if isinstance(answer, dict) else None
        if not isinstance(text, str):
            raise RequestError("one of these ids is no token of the model", code="invalid_value")
        return text

    async def special(self, marks: Sequence[str]) -> dict[str, int]:
        """Those of some marks that are tokens of their own."""
        wanted = {
            "model": self.model,
            "prompt": "\n".join(marks),
            "add_special_tokens": False,
            "return_token_strs": True,
        }
        answer = await self.http.json("/tokenize", wanted)
        texts, ids = (answer.get(key) for key in ("token_strs", "tokens")) if isinstance(answer, dict) else ((), ())
        known = dict(zip(texts or (), ids or (), strict=False))
        return {mark: known[mark] for mark in marks if mark in known}

    async def _spelled(self, text: str) -> list[int]:
        """The ids of foreign text, none of them special."""
        if text not in self._known:
            parts = self.spellings.broken(text)
            if len(parts) == 1:  # a mark that was only known by its shape
                parts = [text[:1], text[1:]]
            found = [token for part in parts if part for token in await self._ids(part)]
            if len(self._known) >= _REMEMBERED:
                return found
            self._known[text] = found
        return self._known[text]

    async def _ids(self, text: str, *, start: bool = False) -> list[int]:
        wanted: dict[str, Any] = {"model": self.model, "prompt": text, "add_special_tokens": start}
        answer = await self.http.json("/tokenize", wanted)
        tokens = answer.get("tokens") if isinstance(answer, dict) else None
        if not isinstance(tokens, list):
            raise EngineError("the upstream did not tokenize", engine=self.http.engine)
        return tokens
