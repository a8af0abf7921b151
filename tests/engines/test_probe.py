"""Every kind of server is known by what it answers."""

from __future__ import annotations

from typing import Any

import pytest
from upstreams import Answer, told, upstream

from dragoman.engines.http import Http
from dragoman.engines.probe import is_guided, listed, probe
from dragoman.engines.refusals import refused
from dragoman.errors import Unreachable


def models(*ids: str, **card: Any) -> Answer:
    return told({"object": "list", "data": [{"id": name, "object": "model", **card} for name in ids]})


SERVERS: dict[str, tuple[str, dict[str, Answer], dict[str, Any]]] = {
    "llama.cpp": (
        "llama.cpp",
        {"/v1/models": models("a.gguf", owned_by="llamacpp"), "/props": told({"default_generation_settings": {}})},
        {"a.gguf": "llamacpp"},
    ),
    "vllm": ("vllm", {"/v1/models": models("q", owned_by="vllm", root="Qwen/Q", max_model_len=99)}, {"q": "vllm"}),
    "sglang": ("sglang", {"/v1/models": models("q", owned_by="sglang")}, {"q": "sglang"}),
    "ollama": (
        "ollama",
        {"/v1/models": models("q:8b", owned_by="library"), "/api/tags": told({"models": [{"name": "q:8b"}, {"name": "e"}]})},
        {"q:8b": None, "e": None},
    ),
    "lm studio": (
        "lmstudio",
        {
            "/v1/models": models("q", "embed", owned_by="organization_owner"),
            "/api/v0/models": told({"data": [
                {"id": "q", "type": "llm", "max_context_length": 9, "loaded_context_length": 4},
                {"id": "embed", "type": "embeddings"},
            ]}),
        },
        {"q": None, "embed": None},
    ),
    "dragoman": ("dragoman", {"/v1/models": models("m", owned_by="dragoman"), "/api/tags": told({"models": []})}, {"m": "dragoman"}),
    "another": ("", {"/v1/models": models("gpt", owned_by="someone")}, {"gpt": "someone"}),
    "a bare list": ("", {"/v1/models": told([{"id": "m"}])}, {"m": None}),
    "a silent one": ("", {}, {}),
    "an odd one": ("", {"/v1/models": told("hello"), "/props": told([1]), "/api/tags": Answer([b"<html>"], kind="text/html")}, {}),
}  # fmt: skip


@pytest.mark.parametrize("server", SERVERS)
async def test_kinds(server: str) -> None:
    kind, paths, wanted = SERVERS[server]
    async with upstream(paths=paths) as fake:
        http = Http(fake.url, "upstream", refused)
        found = await probe(http)
        await http.close()
    assert found.kind == kind
    assert {name: card.get("owned_by") for name, card in found.models.items()} == wanted


async def test_a_loaded_model_has_the_context_it_was_loaded_with() -> None:
    async with upstream(paths=SERVERS["lm studio"][1]) as fake:
        http = Http(fake.url, "upstream", refused)
        found = await probe(http)
        await http.close()
    assert found.models["q"]["context_length"] == 4


async def test_nobody_there() -> None:
    http = Http("http://127.0.0.1:1", "upstream", refused)
    with pytest.raises(Unreachable):
        await probe(http)
    await http.close()


@pytest.mark.parametrize("name", ["a\ud800", "a\nb", "\x1b[31ma", "a\u2028b"])
def test_a_model_whose_name_does_not_print_is_left_out(name: str) -> None:
    answer = {"data": [{"id": name}, {"id": "Möller/q 8b"}, {"id": 5}, 5]}
    assert list(listed(answer)) == ["Möller/q 8b"]


def test_a_model_whose_name_does_not_print_is_left_out_and_told_of(caplog: pytest.LogCaptureFixture) -> None:
    assert list(listed({"data": [{"id": "good"}, {"id": "b\x1bad"}]})) == ["good"]
    assert "'b\\x1bad'" in caplog.text


@pytest.mark.parametrize(
    ("version", "guided"),
    [
        (told({"version": "0.6.3.post1"}), True),
        (told({"version": "0.10.2"}), True),
        (told({"version": "v0.10.0rc1"}), True),
        (told({"version": "0.11.0"}), False),
        (told({"version": "0.33.1"}), False),
        (told({"version": "1.0"}), False),
        (told({"version": "dev"}), False),
        (told({"version": None}), False),
        (told([1]), False),
        (Answer(status=404), False),
    ],
)
async def test_an_old_vllm_is_known_by_its_version(version: Answer, guided: bool) -> None:
    async with upstream(paths={"/version": version}) as fake:
        http = Http(fake.url, "upstream", refused)
        assert await is_guided(http) is guided
        await http.close()
