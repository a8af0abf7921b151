"""Which test holds which numbered MUST: by its name (`test_c12_...`), by a mark, or by the rule of a broken stream."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
NAMED = re.compile(r"test_([scrmol])0?(\d{1,2})_")


def families() -> dict[str, dict[str, str]]:
    """Letter -> what must be, by number, and the family's title."""
    found: dict[str, dict[str, str]] = tomllib.loads((HERE.parent / "docs/musts.toml").read_text("utf-8"))
    return found


def wanted() -> dict[str, str]:
    """Number -> what must be."""
    pairs = ((letter, key, text) for letter, texts in families().items() for key, text in texts.items())
    return {f"{letter}{key}": text for letter, key, text in pairs if key != "title"}


def held() -> dict[str, set[str]]:
    """Number -> the tests that hold it, as `file::name`."""
    found: dict[str, set[str]] = {}
    for path in sorted(HERE.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for number in numbers(node):
                    found.setdefault(number, set()).add(f"{path.relative_to(HERE.parent)}::{node.name}")
    return found


def numbers(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The numbers that a test carries."""
    if named := NAMED.match(node.name):
        yield f"{named[1].upper()}{named[2]}"
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.must":
            yield from (argument.value for argument in mark.args if isinstance(argument, ast.Constant))
