"""Budget: the sandbox for chat templates, with a limit in time and in size.

Jinja's sandbox keeps a template away from the machine, but not from its time: two loops inside each other run for hours,
and a text that is doubled forty times fills any memory.  So every turn of a loop and every call of a macro looks at the
clock, and whatever makes large values from small ones (products, powers, joined texts, padding) asks for its size first.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any

from jinja2 import nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

__all__ = ["SECONDS", "Budgeted", "Spent", "limited"]

SECONDS = 5.0  # of processor time: a busy machine makes no template late
_SIZE = 32 << 20  # characters, or members of a list
_WIDTH = 100_000  # of padding
_LARGE = "it makes a value that is too large"
_LOOK = 64  # steps between two looks at the clock
_WIDE = re.compile(r"\d{6,}")

_left: ContextVar[list[float]] = ContextVar("left")  # the end, by the thread's processor time, and steps so far


class Spent(SecurityError):
    """The template takes too long, or makes something too large."""


def limited(render: Callable[[], str], seconds: float | None = None) -> str:
    """Render within a limit of time.

    Raises:
        Spent: it took longer.
    """
    token = _left.set([time.thread_time() + (SECONDS if seconds is None else seconds), 0])
    try:
        return render()
    finally:
        _left.reset(token)


class Budgeted(ImmutableSandboxedEnvironment):
    """The environment that such templates run in.

    What has to ask first is turned into a filter: Jinja calls those directly, so asking costs little.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.filters.update(_OURS)
        for name, guard in _GUARDS.items():
            self.filters[name] = _guarded(self.filters[name], guard)

    def call(self, context: Context, called: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Any call; the methods of texts can pad and multiply."""
        owner = getattr(called, "__self__", None)
        if isinstance(owner, str | bytes):
            _check_method(getattr(called, "__name__", ""), str(owner), args)
        return super().call(context, called, *args, **kwargs)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """A list that the template wrote itself may grow and shrink by one; what it was given stays as it is."""
        return (attr in _STEPS and type(obj) is _Own) or super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """The method `format` of a text."""
        made = super().wrap_str_format(value)
        if made is None:
            return None
        text = str(value.__self__)

        @wraps(made)
        def asked(*args: Any, **kwargs: Any) -> str:
            _check_method("format", text, (*args, *kwargs.values()))
            return made(*args, **kwargs)

        return asked

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        repeats: list[Any] = [*tree.find_all(nodes.For), *tree.find_all(nodes.Macro), *tree.find_all(nodes.CallBlock)]
        for node in repeats:
            node.body.insert(0, nodes.ExprStmt(_filter(nodes.Const(""), "_tick"), lineno=node.lineno))
        for block in tree.find_all(nodes.AssignBlock):
            block.filter = _filter(block.filter, "_sized")
        _replace_operators(tree)
        if any(f".{step}(" in source for step in _STEPS):
            _replace_lists(tree)
        tree.set_environment(self)
        return tree


def _filter(value: Any, name: str, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(value, name, list(arguments), [], None, None)


def _replace_operators(node: nodes.Node) -> None:
    """Every `a ~ b` and `a * b` becomes a filter that asks for its size."""
    for name, value in node.iter_fields():
        if isinstance(value, list):
            value[:] = [_asking(item) for item in value]
        elif isinstance(value, nodes.Node):
            setattr(node, name, _asking(value))
    for child in node.iter_child_nodes():
        _replace_operators(child)


def _asking(value: Any) -> Any:
    if isinstance(value, nodes.Concat):
        return _filter(value.nodes[0], "_joined", *value.nodes[1:])
    name = _OPERATORS.get(type(value))
    return value if name is None else _filter(value.left, name, value.right)


class _Own(list[Any]):
    """A list that a template wrote (some keep the ids of calls in one)."""


_STEPS = ("append", "pop")


def _replace_lists(node: nodes.Node) -> None:
    """Every list that is written out becomes one of the template's own."""
    for child in node.iter_child_nodes():
        _replace_lists(child)
    for name, value in node.iter_fields():
        if isinstance(value, nodes.List):
            setattr(node, name, _filter(value, "_own"))


@pass_context  # else Jinja would think that it is always the same, and make one for all renderings
def _own(_: Context, written: list[Any]) -> _Own:
    return _Own(written)


@pass_context  # else Jinja would think that it is always the same, and do it once
def _tick(_: Context, __: str) -> None:
    """A step."""
    left = _left.get(None)
    if left is not None:
        left[1] += 1
        if left[1] % _LOOK == 0 and time.thread_time() > left[0]:
            raise Spent("it takes too long")


def _joined(*parts: Any) -> str:
    text = "".join(map(str, parts))
    if len(text) > _SIZE:
        raise Spent(_LARGE)
    return text


def _add(left: Any, right: Any) -> Any:
    made = left + right
    if type(made) is not int and _length(made) > _SIZE:
        raise Spent(_LARGE)
    return made


def _multiply(left: Any, right: Any) -> Any:
    _check(_product(left, right))
    return left * right


def _raise(left: Any, right: Any) -> Any:
    _check(_power(left, right))
    return left**right


def _modulo(left: Any, right: Any) -> Any:
    _check(_format(left, right))
    return left % right


def _check(size: float) -> None:
    if size > _SIZE:
        raise Spent(_LARGE)


def _sized(text: str) -> str:
    _check(len(text))
    return text


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | tuple) else 0


def _product(left: Any, right: Any) -> float:
    if isinstance(left, int) and isinstance(right, int):
        return (left.bit_length() + right.bit_length()) * 100
    lengths = _length(left) or _length(right)
    times = right if isinstance(right, int) else left if isinstance(left, int) else 0
    return lengths * times


def _power(left: Any, right: Any) -> float:
    if isinstance(left, int) and isinstance(right, int):
        return left.bit_length() * max(right, 0) * 100
    return 0


def _format(left: Any, _: Any) -> float:
    return _SIZE + 1 if isinstance(left, str) and (_WIDE.search(left) or "*" in left) else 0


_OPERATORS: dict[type, str] = {
    nodes.Add: "_add",
    nodes.Mul: "_multiply",
    nodes.Pow: "_raise",
    nodes.Mod: "_modulo",
}
_OURS: dict[str, Callable[..., Any]] = {
    "_add": _add,
    "_joined": _joined,
    "_modulo": _modulo,
    "_multiply": _multiply,
    "_own": _own,
    "_raise": _raise,
    "_sized": _sized,
    "_tick": _tick,
}


def _check_method(name: str, text: str, arguments: Sequence[Any]) -> None:
    if name in ("format", "format_map") and _WIDE.search(text):
        raise Spent(_LARGE)
    if any(isinstance(value, int) and value > _WIDTH for value in arguments) and name in _PADS:
        raise Spent(_LARGE)
    if name == "replace" and len(arguments) > 1:
        _check_replace(text, *arguments[:2])
    elif name == "join" and arguments:
        _check_join(arguments[0], text)


_PADS = ("center", "expandtabs", "ljust", "rjust", "zfill", "format")


def _check_replace(text: Any, old: Any = "", new: Any = "", *_: Any) -> None:
    if isinstance(text, str) and isinstance(old, str) and isinstance(new, str):
        _check(len(text) + text.count(old) * len(new))


def _check_join(values: Any, between: Any = "", *_: Any) -> None:
    if isinstance(values, list | tuple | str):
        _check(len(values) * (len(str(between)) + 1))
        _check(sum(_length(value) for value in values))


def _check_width(_: Any, *widths: Any) -> None:
    if any(isinstance(width, int) and width > _WIDTH for width in widths):
        raise Spent(_LARGE)


def _check_indent(text: Any, width: Any = 4, *_: Any) -> None:
    wide = width if isinstance(width, int) else _length(width)
    _check(_length(text) + str(text).count("\n") * wide + wide)


def _check_format(text: Any, *_: Any) -> None:
    _check(_format(text, None))


_GUARDS: dict[str, Callable[..., None]] = {
    "batch": _check_width,
    "center": _check_width,
    "format": _check_format,
    "indent": _check_indent,
    "join": _check_join,
    "replace": _check_replace,
    "slice": _check_width,
}


def _guarded(made: Callable[..., Any], guard: Callable[..., None]) -> Callable[..., Any]:
    """A filter that asks first; those that want Jinja's context or environment get it before the value."""
    before = int(getattr(made, "jinja_pass_arg", None) is not None)

    @wraps(made)
    def asked(*arguments: Any, **named: Any) -> Any:
        guard(*arguments[before:], *named.values())
        return made(*arguments, **named)

    return asked
