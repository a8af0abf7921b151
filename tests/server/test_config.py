"""The settings: keyword, environment, default."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.errors import UsageError
from dragoman.server.config import Config, environment_name
from dragoman.syntax.decode import Policy


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Config.__dataclass_fields__:
        monkeypatch.delenv(environment_name(name), raising=False)


def test_defaults() -> None:
    config = Config()
    assert (config.host, config.port, config.engine, config.reasoning_field) == (
        "127.0.0.1", 8000, "embedded", "reasoning_content",
    )  # fmt: skip
    assert config.policy == Policy()


def test_the_environment_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_PORT", "9000")
    monkeypatch.setenv("DRAGOMAN_STRICT_MODEL", "yes")
    monkeypatch.setenv("DRAGOMAN_STALL", "1.5")
    monkeypatch.setenv("DRAGOMAN_MODEL", "small")
    config = Config()
    assert (config.port, config.strict_model, config.stall, config.model) == (9000, True, 1.5, "small")
    assert Config(port=9001).port == 9001


def test_the_key_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_API_KEY", "hush")
    config = Config()
    assert config.api_key == "hush"
    assert "hush" not in repr(config)
    assert Config(api_key="other").api_key == "other"


def test_the_policy() -> None:
    config = Config(recover="strict", unknown="refuse", no_repair=True)
    assert config.policy == Policy(recover="strict", unknown="refuse", repair=False)


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        ("port", 99999, "99999 is not between 0 and 65535"),
        ("port", "80", "'80' is no int"),
        ("port", True, "True is no int"),
        ("slots", 0, "0 is not between 1 and 256"),
        ("stall", -1.0, "-1.0 is not at least 0"),
        ("engine", "steam", "'steam' is none of embedded, script"),
        ("reasoning_field", "thoughts", "none of reasoning_content, reasoning, both, none, inline"),
        ("engine", "script", "the script engine needs a file to play"),
    ],
)
def test_what_cannot_be(setting: str, value: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as caught:
        Config(**{setting: value})
    assert "DRAGOMAN_" in str(caught.value)
    assert "--" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [("PORT", "many", "'many' is no number"), ("STRICT_MODEL", "maybe", "'maybe' is neither true nor false")],
)
def test_what_the_environment_cannot_say(monkeypatch: pytest.MonkeyPatch, name: str, text: str, problem: str) -> None:
    monkeypatch.setenv(f"DRAGOMAN_{name}", text)
    with pytest.raises(UsageError, match=f"DRAGOMAN_{name}.*{problem}"):
        Config()
