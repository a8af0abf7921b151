from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.engines import packaged
from dragoman.engines.embedded import Embedded
from dragoman.engines.embedder import LocalEmbedder
from dragoman.engines.script import Script
from dragoman.engines.upstream import Upstream
from dragoman.errors import UsageError
from dragoman.server.config import Config
from dragoman.server.engine import build

URL = "http://localhost:1"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "bge-m3.gguf"
    path.write_bytes(b"GGUF")
    return str(path)


@pytest.fixture(params=[True, False], ids=["packaged", "bare"])
def here(request: pytest.FixtureRequest, file: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a packaged model is on this machine."""
    monkeypatch.setattr(packaged.Packaged, "here", property(lambda _: Path(file) if request.param else None))
    return bool(request.param)


def made(**settings: str) -> list[str]:
    return [type(engine).__name__ for engine in build(Config(**settings))]


def test_what_embeds_stands_behind_what_writes(here: bool, file: str, tmp_path: Path):
    script = tmp_path / "script.toml"
    script.write_text('model = "demo"\n[[turn]]\noutput = "Hi"\n')
    assert made(model=file, embedding_model=file) == [Embedded.__name__, LocalEmbedder.__name__]
    assert made(upstream=URL, embedding_model=file) == [Upstream.__name__, LocalEmbedder.__name__]
    assert made(engine="script", script=str(script), embedding_model=file) == [Script.__name__, LocalEmbedder.__name__]


def test_without_a_model_that_writes_it_serves_alone(here: bool, file: str):
    alone = [LocalEmbedder.__name__]
    assert made(embedding_model=file) == ([Embedded.__name__, *alone] if here else alone)
    if not here:
        with pytest.raises(UsageError, match="no model was named"):
            made()


def test_beside_the_upstreams_of_a_file(here: bool, file: str, tmp_path: Path):
    config = tmp_path / "dragoman.yaml"
    config.write_text(f"embedding_model: {file}\nupstreams:\n  - url: {URL}\n    vision: true\n")
    engines = build(Config(config=str(config)))
    assert [type(engine) for engine in engines] == [LocalEmbedder, Upstream]
    assert engines[1].settings.vision


def test_one_file_has_two_names(here: bool, file: str):
    writes, embeds = build(Config(model=file, embedding_model=file, slots=3, threads=1, embedding_ctx=99))
    assert (writes.info.name, embeds.info.name) == ("bge-m3", "bge-m3-embedding")
    assert (embeds.settings["slots"], embeds.settings["threads"], embeds.settings["context"]) == (3, 1, 99)


def test_a_model_that_is_not_there(here: bool):
    with pytest.raises(UsageError, match="no file"):
        build(Config(upstream=URL, embedding_model="/nowhere/x.gguf"))
