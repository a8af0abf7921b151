from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.state import place


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, "home/.local/share/dragoman"),
        ("linux", {"XDG_DATA_HOME": "/x"}, "/x/dragoman"),
        ("darwin", {}, "home/Library/Application Support/dragoman"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/dragoman"),
        ("linux", {"DRAGOMAN_DATA": "/here"}, "/here"),
    ],
)
def test_the_users_folder(monkeypatch, platform, environment, folder):
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA", "DRAGOMAN_DATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(place.sys, "platform", platform)
    monkeypatch.setattr(place.Path, "home", lambda: Path("home"))
    assert place.data() == Path(folder)
