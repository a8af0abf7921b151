"""The template and the special tokens of an upstream's model are found where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from upstreams import told, upstream

from dragoman.engines.base import talks, voices
from dragoman.engines.metadata import context_of
from dragoman.engines.upstream import Settings, Upstream
from dragoman.errors import UsageError

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}<tool_call></tool_call>"
)
CONFIG = {
    "chat_template": TEMPLATE,
    "eos_token": "<|im_end|>",
    "added_tokens_decoder": {"1": {"content": "<|im_start|>"}, "2": {"content": "<|im_end|>"}},
}
SHOWN = {"<|im_start|>": 1, "<|im_end|>": 2}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A model's folder."""
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(CONFIG))
    return tmp_path


def listed(owner: str, **card: Any) -> Any:
    return told({"data": [{"id": "q", "owned_by": owner, **card}]})


async def found(settings: dict[str, Any] | None = None, **paths: Any) -> tuple[Any, str]:
    """The voice of the one model, and where its metadata was found."""
    async with upstream(paths=paths.pop("paths")) as fake:
        engine = Upstream(Settings(url=fake.url, **(settings or {})))
        try:
            await engine.start()
        finally:
            await engine.stop()
        (voice,) = voices(engine)
        return voice, voice.info.source.replace(fake.url, "URL")  # type: ignore[attr-defined]


async def test_vllm_tells_its_tokenizer() -> None:
    paths = {"/v1/models": listed("vllm", root="x/y", max_model_len=99), "/tokenizer_info": told(CONFIG)}
    voice, source = await found(paths=paths)
    assert source == "completions of vllm at URL, /tokenizer_info"
    assert not talks(voice)
    assert (voice.info.template, voice.info.specials, voice.info.context) == (TEMPLATE, SHOWN, 99)


async def test_vllm_runs_from_a_folder_of_this_machine(files: Path) -> None:
    voice, source = await found(paths={"/v1/models": listed("vllm", root=str(files))})
    assert source == f"completions of vllm at URL, the files of {files}"
    assert voice.info.specials == SHOWN


async def test_sglang_tells_its_folder(files: Path) -> None:
    paths = {"/v1/models": listed("sglang"), "/get_model_info": told({"model_path": str(files)})}
    voice, _ = await found(paths=paths)
    assert (voice.kind, voice.info.specials) == ("sglang", SHOWN)


async def test_the_cache_of_the_model_hub_is_looked_into(files: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    place = tmp_path / "hub" / "models--x--y"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("abc\n")
    (place / "snapshots" / "abc").mkdir(parents=True)
    (place / "snapshots" / "abc" / "tokenizer_config.json").write_text(json.dumps(CONFIG))
    voice, source = await found(paths={"/v1/models": listed("vllm", root="x/y")})
    assert source.endswith("the files of x/y")
    assert voice.info.template == TEMPLATE


@pytest.mark.parametrize("owner", ["vllm", "sglang"])
async def test_without_a_template_it_is_talked_with(owner: str, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    voice, source = await found(paths={"/v1/models": listed(owner, root="x/y")})
    assert talks(voice)
    assert source == f"chat of {owner} at URL"


async def test_special_tokens_that_no_file_tells_are_asked_for() -> None:
    config = {"chat_template": TEMPLATE}
    tokens = told({"tokens": [1, 9, 2], "token_strs": ["<|im_start|>", "\n", "<|im_end|>"]})
    paths = {"/v1/models": listed("vllm"), "/tokenizer_info": told(config), "/tokenize": tokens}
    voice, _ = await found(paths=paths)
    assert voice.info.specials == SHOWN
    assert voice.info.partial


async def test_ollama_tells_the_file_it_runs(smollm2: Path) -> None:
    show = {"modelfile": f"# from\nFROM {smollm2}\nTEMPLATE x\n", "template": "{{ .Prompt }}", "model_info": {}}
    voice, source = await found(paths={"/api/tags": told({"models": [{"name": "smol:135m"}]}), "/api/show": told(show)})
    assert source == "generate of ollama at URL, the file that Ollama runs"
    assert voice.info.specials["<|im_end|>"] == 2


async def test_ollama_elsewhere_is_talked_with_and_its_own_template_tells_the_dialect() -> None:
    own = '{{ if .Tools }}<tool_call>{"name"</tool_call>{{ end }}<|im_start|>assistant'
    show = {"modelfile": "FROM /nowhere/sha256-1\n", "template": own}
    voice, source = await found(paths={"/api/tags": told({"models": [{"name": "q"}]}), "/api/show": told(show)})
    assert source == "ollama of ollama at URL"
    assert talks(voice)
    assert (voice.info.template, voice.info.hint) == ("", own)


async def test_files_that_are_named_come_first(files: Path) -> None:
    settings = {"tokenizer": str(files), "way": "completions"}
    voice, source = await found(settings, paths={"/v1/models": listed("someone")})
    assert source == f"completions of a server at URL, the files of {files}"
    assert voice.info.specials == SHOWN


async def test_raw_completions_need_a_template() -> None:
    with pytest.raises(UsageError, match=r"template of 'q' is not known.*--upstream-tokenizer"):
        await found({"way": "completions"}, paths={"/v1/models": listed("someone")})


@pytest.mark.parametrize(
    ("card", "context"),
    [
        ({"max_model_len": 1}, 1),
        ({"context_window": 2}, 2),
        ({"meta": {"n_ctx": 3}}, 3),
        ({"meta": None, "context_length": "x"}, None),
    ],
)
def test_contexts(card: dict[str, Any], context: int | None) -> None:
    assert context_of(card) == context
