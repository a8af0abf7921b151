"""The metadata of a model's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.engines.folder import read
from dragoman.errors import UsageError

CONFIG: dict[str, Any] = {
    "bos_token": {"content": "<s>", "lstrip": False},
    "eos_token": "</s>",
    "chat_template": "config",
    "added_tokens_decoder": {
        "1": {"content": "<s>", "special": True},
        "2": {"content": "</s>", "special": True},
        "7": {"content": "<tool_call>", "special": False},
        "8": {"content": "\n\n", "special": False},
    },
}


def write(folder: Path, **files: Any) -> Path:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_the_tokenizers_configuration(tmp_path: Path) -> None:
    folder = tmp_path / "Model-7B"
    folder.mkdir()
    write(folder, tokenizer_config=CONFIG, config={"max_position_embeddings": 512})
    found = read(folder)
    assert (found.name, found.template, found.bos, found.eos, found.context) == (
        "Model-7B",
        "config",
        "<s>",
        "</s>",
        512,
    )
    assert found.specials == {"<s>": 1, "</s>": 2, "<tool_call>": 7}


def test_added_tokens_of_the_tokenizer_itself(tmp_path: Path) -> None:
    write(tmp_path, tokenizer={"added_tokens": [{"id": 3, "content": "<|end|>"}, {"id": 4, "content": "  "}]})
    assert read(tmp_path).specials == {"<|end|>": 3}


def test_named_templates_in_the_configuration(tmp_path: Path) -> None:
    named = [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}]
    write(tmp_path, tokenizer_config={**CONFIG, "chat_template": named})
    assert read(tmp_path).template == "{% if tools %}T{% else %}D{% endif %}"


def test_a_template_file_comes_first(tmp_path: Path) -> None:
    write(tmp_path, tokenizer_config=CONFIG)
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "tool_use.jinja").write_text("T")
    assert read(tmp_path).template == "T"
    (tmp_path / "chat_template.jinja").write_text("F")
    assert read(tmp_path).template == "{% if tools %}T{% else %}F{% endif %}"


def test_the_limit_of_a_models_text_part(tmp_path: Path) -> None:
    write(tmp_path, tokenizer_config=CONFIG, config={"text_config": {"max_position_embeddings": 99}})
    assert read(tmp_path).context == 99


def test_a_base_model_has_no_template(tmp_path: Path) -> None:
    write(tmp_path, tokenizer_config={"bos_token": None})
    found = read(tmp_path)
    assert (found.template, found.bos, found.context) == ("", "", None)


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder of a model"):
        read(tmp_path / "none")
    with pytest.raises(UsageError, match="no folder of a model"):
        read(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{")
    with pytest.raises(UsageError, match=r"tokenizer_config\.json' cannot be read"):
        read(tmp_path)
