"""What the docs say of clients is about the versions that are tested, and these come from wherever packages come from."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent


def pinned() -> set[tuple[str, str]]:
    """Every client with its version, as it is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = [*project["optional-dependencies"]["clients"], (ROOT / "Makefile").read_text("utf-8")]
    found = set(re.findall(r"([\w-]+)(?:\[[\w,]+\])?==([\d.]+)", "\n".join(lines)))
    for package in FOLDER.glob("*/package.json"):
        found |= set(json.loads(package.read_text("utf-8"))["dependencies"].items())
    return found


def table() -> list[tuple[str, str]]:
    """The first two columns of the page's table."""
    rows = re.findall(r"^\| ([^|]+) \| (\d[^|]+) \|", (ROOT / "docs/clients.md").read_text("utf-8"), re.MULTILINE)
    return [
        (re.sub(r".*\((@.+|opencode-ai)\)|( \((Python|Node)\))", r"\1", name), version)
        for names, versions in rows
        for name, version in zip(names.split(", "), versions.split(", "), strict=True)
    ]


def test_the_page_names_the_versions_that_are_tested():
    known, rows = pinned(), table()
    assert len(rows) >= 18
    assert [row for row in rows if row not in known] == []


def test_the_locks_name_no_place():
    locks = [*FOLDER.glob("*/package-lock.json")]
    assert len(locks) == 2
    assert [lock for lock in locks if "resolved" in lock.read_text("utf-8")] == []
