"""The configuration file: what it may say, who wins, and how mistakes are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from dragoman.engines.upstream import WAYS
from dragoman.errors import UsageError
from dragoman.server.config import Config, environment_name
from dragoman.server.configfile import HELP, Upstream, Way
from dragoman.server.engine import build


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Config.__dataclass_fields__:
        monkeypatch.delenv(environment_name(name), raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Writes a file; gives its path."""

    def write(text: str) -> str:
        path = tmp_path / "dragoman.yaml"
        path.write_text(text)
        return str(path)

    return write


FULL = """\
port: 9000
stall: 5
strict_model: true
api_key: ${KEY}
upstreams:
  - url: http://localhost:8080
    way: chat
    models: [qwen3, "llama*"]
    prefix: home/
    limit: 4
    headers: {x-team: "${TEAM:-blue}"}
    drop: [stream_options]
    extra: {options: {num_ctx: 16384}}
  - url: http://localhost:8081
aliases:
  gpt-4o: qwen3
  "claude-*": qwen3
"""


def test_everything(file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "hush")
    config = Config(config=file(FULL))
    assert (config.port, config.stall, config.strict_model, config.api_key) == (9000, 5, True, "hush")
    first, second = config.file.upstreams
    assert (first.url, first.way, first.models, first.prefix, first.limit) == (
        "http://localhost:8080", "chat", ["qwen3", "llama*"], "home/", 4,
    )  # fmt: skip
    assert first.headers == {"x-team": "blue"}
    assert first.manners.drop == ["stream_options"]
    assert first.manners.extra == {"options": {"num_ctx": 16384}}
    assert (second.way, second.models) == ("auto", [])
    assert config.file.aliases == {"gpt-4o": "qwen3", "claude-*": "qwen3"}
    assert [engine.name for engine in build(config)] == ["http://localhost:8080", "http://localhost:8081"]


def test_an_argument_wins_over_the_environment_and_that_over_the_file(
    file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file("port: 9000\nstall: 5\nslots: 4\nstrict_model: true\nreasoning_field: both\n")
    monkeypatch.setenv("DRAGOMAN_STALL", "6")
    monkeypatch.setenv("DRAGOMAN_STRICT_MODEL", "no")
    config = Config(config=path, port=8000)
    assert (config.port, config.stall, config.slots, config.strict_model) == (8000, 6.0, 4, False)
    assert config.reasoning_field == "both"
    assert type(config.host) is str
    assert type(config.queue) is int


def test_the_environment_may_name_the_file(file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_CONFIG", file("port: 9000\n"))
    assert Config().port == 9000


def test_no_file_is_no_upstream() -> None:
    assert Config().file.upstreams == ()


def test_a_model_of_our_own_may_stand_beside_them(file: Any, tmp_path: Path) -> None:
    script = tmp_path / "s.toml"
    script.write_text('model = "demo"\n[[turn]]\noutput = "Hi"\n')
    path = file(f"engine: script\nscript: {script}\nupstreams:\n  - url: localhost:1\n")
    assert [engine.name for engine in build(Config(config=path))] == ["script", "http://localhost:1"]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("port: 9000\nprot: 1\n", 2, "there is no setting 'prot'; did you mean 'port'?"),
        ("port: many\n", 1, "port: expected a whole number, got a text"),
        ("slots: 0\n", 1, "slots: expected a whole number >= 1"),
        ("port: 70000\n", 1, "port: expected a whole number <= 65535"),
        ("a: [\n", 2, "this is no YAML"),
        ("upstreams: http://x\n", 1, "upstreams: expected a list, got a text"),
        ("upstreams:\n  - way: chat\n", 2, "upstreams.0 needs 'url'"),
        (
            "upstreams:\n  - url: x\n  - url: y\n    modles: [a]\n",
            4,
            "there is no setting 'modles'; did you mean 'models'?",
        ),
        (
            "upstreams:\n  - url: x\n    way: chatt\n",
            3,
            "upstreams.0.way: 'chatt' is none of auto, llamacpp, completions",
        ),
        ("upstreams:\n  - url: x\n    limit: -1\n", 3, "upstreams.0.limit: expected a whole number >= 0"),
        ("upstreams:\n  - url: x\n    template: /nowhere\n", 3, "the template '/nowhere' cannot be read"),
        ("reasoning_field: thoughts\n", 1, "reasoning_field: 'thoughts' is none of reasoning_content, reasoning"),
        (
            "upstreams:\n  - url: x\n    key: ${NOBODY_SET_THIS}\n",
            3,
            "environment variable NOBODY_SET_THIS is not set; set it",
        ),
        ("- port\n", 1, "the file: expected a group of `name: value` lines, got a list"),
        ("aliases:\n  a: b\n  c: 1\n", 2, "aliases: expected a text, got a whole number"),
    ],
)
def test_mistakes_are_told_with_their_line(file: Any, text: str, line: int, problem: str) -> None:
    path = file(text)
    with pytest.raises(UsageError) as caught:
        build(Config(config=path))
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert problem in str(caught.value)


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(UsageError, match=r"'/nowhere.yaml' cannot be read"):
        Config(config="/nowhere.yaml")


def test_a_url_that_is_none_is_told(file: Any) -> None:
    with pytest.raises(UsageError, match="no URL of an upstream"):
        build(Config(config=file("upstreams:\n  - url: ftp://x\n")))


def test_every_setting_of_an_upstream_is_explained() -> None:
    assert [field.name for field in msgspec.structs.fields(Upstream)] == list(HELP)
    assert Way.__args__ == WAYS  # type: ignore[attr-defined]
