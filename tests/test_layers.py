"""The rings and the house rules: what may import what, what may be named where, and how long things may be."""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "dragoman"

RINGS = {
    "events": 0, "messages": 0, "pieces": 0, "errors": 0, "notices": 0, "version": 0,
    "syntax": 1,
    "dialects": 2, "protocols": 2,
    "api": 3, "generation": 3, "repair": 3, "checks": 3, "cases": 3, "explanation": 3, "rendition": 3, "__init__": 3,
    "engines": 4, "doctor": 4, "tools": 4, "state": 4, "batch": 4,
    "server": 5, "inside": 5, "cli": 5, "web": 5, "scale": 5, "__main__": 5,
}  # fmt: skip

INNERMOST_IO = 4
STRANGERS = {2: {"protocols": {"msgspec"}}}  # beyond the standard library; only where it is there
IMPURE = {"asyncio", "logging", "random", "secrets", "socket", "ssl", "subprocess", "threading", "time", "uuid"}
BANNED = re.compile(r"(?i)parser|detector|adapter|handler|manager")
ALLOWED = {"Parser", "parser"}
PROTOCOL_WORDS = re.compile(r"\b(finish_reason|stop_reason)\b")


def files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def area(path: Path) -> str:
    """The module or package right below the root."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """What a file imports, with absolute names; what is only for the types stays out."""
    skipped = {id(node) for branch in _typing_only(path) for node in ast.walk(branch)}
    for node in ast.walk(tree(path)):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(path, node)
            yield from ((node.lineno, f"{base}.{name.name}") for name in node.names)


def _typing_only(path: Path) -> Iterator[ast.If]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield node


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = ["dragoman", *path.relative_to(ROOT).parts[:-1]]
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *(node.module.split(".") if node.module else [])])


def ours(name: str) -> str | None:
    """The area of an imported name of ours."""
    parts = name.split(".")
    return None if parts[0] != "dragoman" else parts[1] if len(parts) > 1 else "__init__"


each_file = pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))


def test_every_part_has_a_ring():
    assert {area(path) for path in files()} <= set(RINGS)


@each_file
def test_imports_point_inward(path: Path):
    own = area(path)
    for line, name in imports(path):
        other = ours(name)
        if other in RINGS and other != own:
            inward = RINGS[other] < RINGS[own] or (RINGS[other] == RINGS[own] and RINGS[own] not in (1, 2))
            assert inward, f"{path.relative_to(ROOT)}:{line} imports {name}"


@each_file
def test_the_inner_rings_stand_on_the_standard_library(path: Path):
    ring = RINGS[area(path)]
    if ring >= INNERMOST_IO:
        return
    allowed = STRANGERS.get(ring, {}).get(area(path), set())
    for line, name in imports(path):
        top = name.split(".")[0]
        known = top in sys.stdlib_module_names or top == "dragoman" or top in allowed
        assert known, f"{path.relative_to(ROOT)}:{line} imports {name}"
        assert top not in IMPURE, f"{path.relative_to(ROOT)}:{line}: {name} has no place in ring {ring}"


def dialect_names() -> set[str]:
    """The names of all dialects, as their files write them."""
    found = set()
    for path in (ROOT / "dialects").glob("*.py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Dialect":
                values = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "name")]
                found |= {value.value for value in values if isinstance(value, ast.Constant)}
    return found


@each_file
def test_p10_no_dialect_is_named_outside_its_folder(path: Path):
    if area(path) == "dialects":
        return
    names = dialect_names()
    docs = {id(node) for node in _docstrings(path)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            assert node.value not in names, f"{path.relative_to(ROOT)}:{node.lineno} names {node.value}"


def _docstrings(path: Path) -> Iterator[ast.Constant]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


@each_file
def test_p10_protocol_words_stay_in_the_protocols(path: Path):
    if area(path) in ("protocols", "checks"):
        return
    docs = {id(node) for node in _docstrings(path)}
    for node in ast.walk(tree(path)):
        words = [getattr(node, "id", ""), getattr(node, "attr", ""), getattr(node, "arg", "")]
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            words.append(node.value)
        for word in words:
            found = isinstance(word, str) and PROTOCOL_WORDS.search(word)
            assert not found, f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', '?')}: {word}"


@each_file
def test_no_banned_names(path: Path):
    assert not BANNED.search(path.stem), path
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in ALLOWED:
            assert not BANNED.search(node.name), f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"


@each_file
def test_files_are_short(path: Path):
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 400, f"{path.relative_to(ROOT)} has {lines} lines"


@each_file
def test_a_file_says_what_it_is_for(path: Path):
    assert ast.get_docstring(tree(path)) or not path.read_text(encoding="utf-8").strip()


def functions() -> Iterator[tuple[str, int]]:
    """Every function with its lines, without its docstring."""
    for path in files():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                first = node.body[0]
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    length -= (first.end_lineno or first.lineno) - first.lineno + 1
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", length


def test_functions_are_short():
    lengths = sorted(length for _, length in functions())
    longest = sorted(functions(), key=lambda item: -item[1])[:5]
    assert statistics.median(lengths) <= 8, statistics.median(lengths)
    assert lengths[int(len(lengths) * 0.95)] <= 25, longest
    assert lengths[-1] <= 40, longest
