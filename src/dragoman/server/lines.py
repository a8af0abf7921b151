"""YAML with the lines of its values, so that a mistake in a file can be told with the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import yaml

from ..errors import UsageError

__all__ = ["Lines", "Step", "parse", "steps"]

Step = str | int
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|(\[\.\.\.\])")


class Lines:
    """Where the values of a document stand."""

    def __init__(self, name: str, root: yaml.Node | None) -> None:
        self.name, self._root = name, root

    def of(self, path: Sequence[Step], key: str = "") -> int:
        """The line of a value, or of one of its keys; of the nearest one around it that is known."""
        node = self._root
        for step in path:
            inner = _inner(node, step)
            if inner is None:
                break
            node = inner
        if key and isinstance(node, yaml.MappingNode):
            node = next((name for name, _ in node.value if name.value == key), node)
        return int(node.start_mark.line) + 1 if node is not None else 1

    def error(self, problem: str, path: Sequence[Step] = (), key: str = "") -> UsageError:
        """A mistake, with its place."""
        return UsageError(f"{self.name}, line {self.of(path, key)}: {problem}")


def parse(text: str, name: str) -> tuple[Any, Lines]:
    """The value of a document, and the lines in it.

    Raises:
        UsageError: it is no YAML.
    """
    try:
        return yaml.safe_load(text), Lines(name, yaml.compose(text, yaml.SafeLoader))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line = mark.line + 1 if mark else 1
        raise UsageError(f"{name}, line {line}: this is no YAML: {problem.problem or problem.context}") from None
    except yaml.YAMLError as problem:
        raise UsageError(f"{name}: this is no YAML: {problem}") from None


def steps(path: str) -> list[Step]:
    """A path such as `$.upstreams[0].url` in steps."""
    found: list[Step] = []
    for name, index, _ in _STEP.findall(path):
        if name:
            found.append(name)
        elif index:
            found.append(int(index))
    return found


def _inner(node: yaml.Node | None, step: Step) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for name, value in node.value if name.value == step), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        inner: yaml.Node = node.value[step]
        return inner
    return None
