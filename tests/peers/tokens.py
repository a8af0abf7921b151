"""A tokenizer for any dialect: one of our own, trained on the spot, with the dialect's marks as special tokens."""

from __future__ import annotations

import functools
import re
from typing import Any

from dragoman import api
from dragoman.syntax.dialect import Dialect

from .turns import TOOLS, Case, cases, pairs

_TEXTS = ("hermes-json", "qwen3-coder-xml", "glm45", "deepseek-v31")
_MARK = re.compile(r"<[^<>\s{}\"]+>|\[/?[A-Z_]{3,}\]|◁[^▷]+▷")


@functools.cache
def tokenizer(dialect: Dialect) -> Any:
    """A tokenizer as theirs, of the library that they use; Harmony's readers bring their own."""
    if dialect.name == "harmony":
        return Harmony()
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        _texts(), trainers.BpeTrainer(vocab_size=2000, initial_alphabet=alphabet, show_progress=False)
    )
    made.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in special(dialect)])
    fast = PreTrainedTokenizerFast(tokenizer_object=made, clean_up_tokenization_spaces=False)
    fast.chat_template = ""
    return fast


class Harmony:
    """The tokens of gpt-oss."""

    def __init__(self) -> None:
        from openai_harmony import HarmonyEncodingName, load_harmony_encoding

        self._tokens = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
        self.chat_template = ""

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return list(self._tokens.encode(text, allowed_special="all"))

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        return self._tokens.decode(ids)

    def get_vocab(self) -> dict[str, int]:
        return {mark: self.encode(mark)[0] for mark in special(api.get("harmony"))}


def special(dialect: Dialect) -> list[str]:
    """The marks of a dialect that look like tokens."""
    templates = [dialect.section, dialect.reasoning, dialect.begins, *dialect.content, *dialect.ends]
    if not dialect.gated:
        templates.append(dialect.call)
    found = [mark for one in templates for mark in _MARK.findall(one)]
    return list(dict.fromkeys([*dialect.special, *found, *pairs()["tokens"].get(dialect.name, ()), "<|endoftext|>"]))


@functools.cache
def _texts() -> list[str]:
    return [case.raw for name in _TEXTS for case in cases(api.get(name))] + [str(TOOLS)]


def pieces(case: Case) -> list[tuple[str, list[int]]]:
    """A text token by token; tokens that are no whole character wait for the next, as in their servers."""
    speaks = tokenizer(case.dialect)
    found: list[tuple[str, list[int]]] = []
    waiting: list[int] = []
    for one in ids(case):
        waiting.append(one)
        text = speaks.decode(waiting, skip_special_tokens=False)
        if "\ufffd" not in text:
            found.append((text, waiting))
            waiting = []
    return found


def ids(case: Case) -> list[int]:
    """The tokens of a text; a mark that is quoted in it is spelled in ordinary ones."""
    speaks = tokenizer(case.dialect)
    before, mark, after = case.quoted()
    marked = [speaks.encode(text, add_special_tokens=False) for text in (before, after)]
    return [*marked[0], *_spelled(speaks, mark), *marked[1]]


def _spelled(speaks: Any, text: str) -> list[int]:
    """A text in ordinary tokens alone: character by character, no mark is in one."""
    return [one for character in text for one in speaks.encode(character, add_special_tokens=False)]
