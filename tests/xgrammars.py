"""xgrammar as a judge of structural tags, with a vocabulary of bytes.

It asks for torch and transformers when it is imported, to mask logits and to read tokenizers; nothing here does either,
so two empty modules stand in for them while it is imported.
"""

from __future__ import annotations

import sys
import types
from functools import lru_cache
from typing import Any

import tvm_ffi  # noqa: F401  (it looks for torch too, and must not find an empty one)

END = 256


class _Nothing:
    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass


class _Hollow(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return types.SimpleNamespace(is_available=bool) if name == "cuda" else type(name, (_Nothing,), {})


def _imported() -> Any:
    hollow = [name for name in ("torch", "transformers") if name not in sys.modules]
    sys.modules.update((name, _Hollow(name)) for name in hollow)
    try:
        import xgrammar
    finally:
        for name in hollow:
            del sys.modules[name]
    return xgrammar


xgrammar = _imported()


@lru_cache(64)
def _compiler(specials: tuple[str, ...]) -> Any:
    vocabulary = [*(bytes([i]) for i in range(256)), b"<eos>", *(mark.encode() for mark in specials)]
    return xgrammar.GrammarCompiler(xgrammar.TokenizerInfo(vocabulary, stop_token_ids=[END]), max_threads=1)


def judge(tag: str, specials: tuple[str, ...] = ()) -> Any:
    """The compiled tag; raises what xgrammar has to say against it."""
    return _compiler(specials).compile_structural_tag(tag)


def accepts(compiled: Any, pieces: list[str], ids: dict[str, int]) -> bool:
    """Whether xgrammar would let these pieces pass, marks in `ids` as tokens, and then the end of the text."""
    matcher = xgrammar.GrammarMatcher(compiled)
    for piece in pieces:
        tokens = [ids[piece]] if piece in ids else piece.encode()
        if not all(matcher.accept_token(token) for token in tokens):
            return False
    return bool(matcher.accept_token(END))
