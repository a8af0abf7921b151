"""What a GGUF file says of its model: chat template, special tokens and context, read without loading any weights.

The file begins with `GGUF`, a version, two counts, and then key, type and value, one after the other.
Only the values needed here are kept; the long lists of tokens and merges are walked over, not copied.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import UsageError

__all__ = ["Metadata", "combine", "read"]

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_CONTROL, _USER_DEFINED = 3, 4
_TEMPLATE = "tokenizer.chat_template"

# Vocabularies also define blanks and HTML tags as tokens of their own (Gemma 3: "\n\n", "<table>"): words, not marks.
_WORD = re.compile(
    r"[\s▁]*|</?(?:table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|blockquote|sup|sub|code|ul|ol|li|strong|em|b|i|u|s|p|a|img)>"
)


@dataclass(frozen=True, slots=True)
class Metadata:
    """A model's metadata, as far as prompts and decoding need it.

    `specials`: mark -> token id, for control tokens and user-defined marks.  `bos`/`eos`: the texts of these tokens.
    `family`: the architecture.  `pooling`: how one vector is made of a text's many, by llama.cpp's numbers.
    `response_template`: what it writes, by its own word, where it has one.
    """

    name: str = ""
    template: str = ""
    specials: Mapping[str, int] = field(default_factory=dict)
    bos: str = ""
    eos: str = ""
    context: int | None = None
    family: str = ""
    pooling: int | None = None
    response_template: Mapping[str, Any] = field(default_factory=dict)


def read(path: str | Path) -> Metadata:
    """The metadata of a GGUF file.

    Raises:
        UsageError: there is no such file, it is not a GGUF, or it ends too early.
    """
    try:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _metadata(dict(_Values(data)))
    except FileNotFoundError:
        raise UsageError(f"there is no model file {str(path)!r}") from None
    except OSError as problem:
        raise UsageError(f"the model file {str(path)!r} cannot be read: {problem.strerror}") from problem
    except ValueError as problem:
        raise UsageError(f"{str(path)!r} is not a usable GGUF file: {problem}") from None


def combine(templates: Mapping[str, str]) -> str:
    """Named chat templates as one: `tool_use` where tools are offered, `default` elsewhere."""
    default, tools = templates.get("default", ""), templates.get("tool_use", "")
    if default and tools:
        return f"{{% if tools %}}{tools}{{% else %}}{default}{{% endif %}}"
    return default or tools or next(iter(templates.values()), "")


class _Values:
    """The keys and values of a file; `ValueError` says what is wrong with it."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data, self.at = data, 4
        if data[:4] != b"GGUF":
            raise ValueError("it does not begin with the letters GGUF")
        self.version = self.number("I")
        if self.version not in (2, 3):
            raise ValueError(f"version {self.version & 0xFFFF or 'for big-endian machines'} is not supported")
        self.number("Q")

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for _ in range(self.number("Q")):
            key = self.text().decode("utf-8", "replace")
            yield key, self.value(self.number("I"))

    def take(self, size: int) -> int:
        """Move over so many bytes; where they begin."""
        begin, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise ValueError("it ends too early (is the download complete?)")
        return begin

    def number(self, code: str) -> Any:
        return struct.unpack_from("<" + code, self.data, self.take(struct.calcsize("<" + code)))[0]

    def text(self) -> bytes:
        begin = self.take(self.number("Q"))
        return self.data[begin : self.at]

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text().decode("utf-8", "replace")
        if kind == _ARRAY:
            return self.array(self.number("I"), self.number("Q"))
        if kind not in _NUMBERS:
            raise ValueError(f"a value has the unknown type {kind}")
        return self.number(_NUMBERS[kind])

    def array(self, kind: int, size: int) -> Sequence[Any]:
        if kind not in _NUMBERS:
            return [self.text() if kind == _STRING else self.value(kind) for _ in range(size)]
        begin = self.take(size * struct.calcsize("<" + _NUMBERS[kind]))
        return struct.unpack_from(f"<{size}{_NUMBERS[kind]}", self.data, begin)


def _metadata(values: Mapping[str, Any]) -> Metadata:
    architecture = values.get("general.architecture", "")
    tokens = values.get("tokenizer.ggml.tokens", ())
    return Metadata(
        name=values.get("general.name", ""),
        template=combine(dict(_templates(values))),
        specials=_specials(tokens, values.get("tokenizer.ggml.token_type", ())),
        bos=_token(tokens, values.get("tokenizer.ggml.bos_token_id")),
        eos=_token(tokens, values.get("tokenizer.ggml.eos_token_id")),
        context=values.get(f"{architecture}.context_length"),
        family=architecture,
        pooling=values.get(f"{architecture}.pooling_type"),
    )


def _templates(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        if key == _TEMPLATE:
            yield "default", value
        elif key.startswith(_TEMPLATE + "."):
            yield key.removeprefix(_TEMPLATE + "."), value


def _specials(tokens: Sequence[bytes], kinds: Sequence[int]) -> dict[str, int]:
    return {
        text: token
        for token, kind in enumerate(kinds)
        if kind in (_CONTROL, _USER_DEFINED) and token < len(tokens)
        for text in (tokens[token].decode("utf-8", "replace"),)
        if kind == _CONTROL or not _WORD.fullmatch(text)
    }


def _token(tokens: Sequence[bytes], token: int | None) -> str:
    return tokens[token].decode("utf-8", "replace") if token is not None and token < len(tokens) else ""
