"""The metadata of GGUF files, made by hand and real."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from dragoman.engines.gguf import Metadata, combine, read
from dragoman.errors import UsageError


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def value(item: Any) -> bytes:
    """A value with its type in front."""
    if isinstance(item, str):
        return struct.pack("<I", 8) + text(item)
    if isinstance(item, bool):
        return struct.pack("<I?", 7, item)
    if isinstance(item, int):
        return struct.pack("<II", 4, item)
    if isinstance(item, float):
        return struct.pack("<If", 6, item)
    if isinstance(item[0], str):
        return struct.pack("<IIQ", 9, 8, len(item)) + b"".join(map(text, item))
    return struct.pack(f"<IIQ{len(item)}i", 9, 5, len(item), *item)


def gguf(values: dict[str, Any], version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(values))
    return head + b"".join(text(key) + value(item) for key, item in values.items())


TINY = {
    "general.architecture": "llama",
    "general.name": "Tiny",
    "llama.context_length": 4096,
    "llama.rope.freq_base": 10000.0,
    "tokenizer.ggml.add_bos_token": True,
    "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", "hi", "<tool_call>", "\n\n", "▁▁", "<table>", "<0x0A>"],
    "tokenizer.ggml.token_type": [2, 3, 3, 1, 4, 4, 4, 4, 6],
    "tokenizer.ggml.bos_token_id": 1,
    "tokenizer.ggml.eos_token_id": 2,
    "tokenizer.chat_template": "{{ messages }}",
}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    (tmp_path / "tiny.gguf").write_bytes(gguf(TINY) + b"weights")
    return tmp_path / "tiny.gguf"


def test_what_it_says_of_the_model(tiny: Path) -> None:
    assert read(tiny) == Metadata(
        name="Tiny",
        template="{{ messages }}",
        specials={"<s>": 1, "</s>": 2, "<tool_call>": 4},
        bos="<s>",
        eos="</s>",
        context=4096,
        family="llama",
    )


def test_a_file_that_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "bare.gguf").write_bytes(gguf({}, version=2))
    assert read(tmp_path / "bare.gguf") == Metadata()


def test_a_template_for_tools_stands_beside_the_default_one(tmp_path: Path) -> None:
    (tmp_path / "two.gguf").write_bytes(gguf({**TINY, "tokenizer.chat_template.tool_use": "T"}))
    assert read(tmp_path / "two.gguf").template == "{% if tools %}T{% else %}{{ messages }}{% endif %}"


def test_templates_without_a_default() -> None:
    assert combine({"rag": "R"}) == "R"
    assert combine({"tool_use": "T", "rag": "R"}) == "T"
    assert combine({}) == ""


def test_every_cut_is_told(tiny: Path, tmp_path: Path) -> None:
    whole = gguf(TINY)
    cut = tmp_path / "cut.gguf"
    for size in [*range(5, len(whole), 7), len(whole) - 1]:
        cut.write_bytes(whole[:size])
        with pytest.raises(UsageError, match="ends too early"):
            read(cut)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"PK\x03\x04", "does not begin with the letters GGUF"),
        (b"", "empty"),
        (gguf({}, version=1), "version 1 is not supported"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<I", 77), "unknown type 77"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<IIQ", 9, 5, 2**62), "ends too early"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**63), "ends too early"),
    ],
)
def test_other_files_are_told(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "x.gguf").write_bytes(content)
    with pytest.raises(UsageError, match=problem):
        read(tmp_path / "x.gguf")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no model file"):
        read(tmp_path / "none.gguf")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        read(tmp_path)


@pytest.mark.engine
def test_a_real_file(smollm2: Path) -> None:
    metadata = read(smollm2)
    assert (metadata.bos, metadata.eos, metadata.context) == ("<|im_start|>", "<|im_end|>", 8192)
    assert len(metadata.specials) == 17
    assert "<|im_start|>assistant" in metadata.template
