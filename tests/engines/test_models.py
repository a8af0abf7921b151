"""Models are found by path and name, and what to type is said where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.engines import packaged
from dragoman.engines.models import find
from dragoman.engines.packaged import PACKAGED, Packaged, Part, cache
from dragoman.errors import UsageError


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of our own, and a packaged model that is not installed."""
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path))
    absent = Packaged("absent.gguf", "0", (Part("absent", "1", "absent_package/absent.gguf", 1),), "not here")
    monkeypatch.setitem(packaged.PACKAGED, "absent", absent)
    cache().mkdir()
    return cache()


def put(path: Path) -> Path:
    path.write_bytes(b"GGUF")
    return path


def test_a_path(tmp_path: Path) -> None:
    assert find(str(put(tmp_path / "m.gguf"))) == tmp_path / "m.gguf"


def test_a_folder_with_one_model(tmp_path: Path) -> None:
    for name in ("m-00002-of-00002.gguf", "mmproj-m.gguf", "readme.md"):
        put(tmp_path / name)
    assert find(str(put(tmp_path / "m-00001-of-00002.gguf").parent)) == tmp_path / "m-00001-of-00002.gguf"


def test_a_folder_with_several_models_asks_which(tmp_path: Path) -> None:
    put(tmp_path / "a.gguf")
    put(tmp_path / "b.gguf")
    with pytest.raises(UsageError, match=r"choose one of a\.gguf, b\.gguf in the folder"):
        find(str(tmp_path))


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no GGUF file in the folder"):
        find(str(tmp_path))


def test_a_name_in_the_cache(elsewhere: Path) -> None:
    put(elsewhere / "mine.gguf")
    assert find("mine") == find("mine.gguf") == elsewhere / "mine.gguf"


def test_a_packaged_model_that_was_pulled(elsewhere: Path) -> None:
    put(elsewhere / "absent.gguf")
    assert find("absent") == elsewhere / "absent.gguf"


@pytest.mark.engine
def test_a_packaged_model_that_is_installed(smollm2: Path) -> None:
    assert find("smollm2") == smollm2


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("", r"no model was named; type: dragoman (pull|serve)"),
        ("absent", "not on this machine yet; type: dragoman pull absent$"),
        ("smolm2", "did you mean 'smollm2'"),
        ("no/such.gguf", "there is no file 'no/such.gguf'; type: "),
        ("such.gguf", "there is no file 'such.gguf'"),
        ("zzz", "no model is called 'zzz'; type: "),
    ],
)
def test_what_to_type(model: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        find(model)


def test_without_any_model_it_is_pulled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Part, "installed", None)
    with pytest.raises(UsageError, match="dragoman pull smollm2 && dragoman serve --model smollm2"):
        find("")


@pytest.mark.parametrize(
    ("platform", "variables", "place"),
    [
        ("linux", {"DRAGOMAN_CACHE": "/c"}, "/c/models"),
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/dragoman/models"),
        ("linux", {"HOME": "/h"}, "/h/.cache/dragoman/models"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/dragoman/models"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/dragoman/Cache/models"),
    ],
)
def test_the_cache(platform: str, variables: dict[str, str], place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DRAGOMAN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert cache() == Path(place)


def test_every_packaged_model_names_its_licence() -> None:
    assert all("(" in wanted.about for name, wanted in PACKAGED.items() if name != "absent")
