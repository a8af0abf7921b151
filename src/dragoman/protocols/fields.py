"""The fields of a request, read with their types; a wrong one is named with its whole path.

The codes are those of the OpenAI API: missing_required_parameter, invalid_type, invalid_value, unsupported_value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from ..errors import RequestError, UnsupportedFeature

__all__ = ["Fields", "fields_of", "invalid", "is_token", "kind", "missing", "unsupported"]

T = TypeVar("T")

INFINITE = float("inf")

_KINDS: Sequence[tuple[type | tuple[type, ...], str]] = (
    (bool, "a boolean"),
    (str, "a string"),
    (int, "an integer"),
    (float, "a number"),
    (Mapping, "an object"),
    ((list, tuple), "an array"),
)


def kind(value: Any) -> str:
    """What a JSON value is, in words."""
    return next((name for types, name in _KINDS if isinstance(value, types)), "null")


def is_token(value: Any) -> bool:
    """Whether it may be the id of a token; of a larger number llama.cpp would take the lower bits for one."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def missing(param: str, wanted: str) -> NoReturn:
    """Refuse a request that lacks a field."""
    raise RequestError(f"{param} is missing: {wanted}", param=param, code="missing_required_parameter")


def invalid(param: str, problem: str, code: str = "invalid_value") -> NoReturn:
    """Refuse a field's value."""
    raise RequestError(f"{param} {problem}", param=param, code=code)


def unsupported(param: str, problem: str, code: str = "unsupported_value") -> NoReturn:
    """Refuse what is legal, but not offered here."""
    raise UnsupportedFeature(f"{param} {problem}", param=param, code=code)


class Fields:
    """A JSON object of a request, and where it stands ("" for the request itself).

    Every getter takes null for absent, and the default for both.
    """

    def __init__(self, data: Mapping[str, Any], where: str = "") -> None:
        self.data, self.where = data, where

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def param(self, key: str) -> str:
        """The path of a field: `messages[2].role`."""
        return f"{self.where}.{key}" if self.where else key

    def get(self, key: str) -> Any:
        """A field as it is, None if absent."""
        return self.data.get(key)

    def first(self, *keys: str) -> str:
        """The first of these keys that is given, else the first of all."""
        return next((key for key in keys if key in self), keys[0])

    def flag(self, key: str, *, default: bool = False) -> bool:
        """A boolean."""
        return self._typed(key, default, "a boolean", lambda value: isinstance(value, bool))

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        return self._typed(key, default, "a string", lambda value: isinstance(value, str))

    def word(self, key: str, words: Collection[str], default: str) -> str:
        """One of some strings."""
        value = self.text(key, default)
        if value not in words and value != default:
            invalid(self.param(key), f"must be one of {', '.join(words)}; it is {value!r:.60}")
        return value

    def integer(self, key: str, default: int | None, low: float, high: float = INFINITE) -> int | None:
        """An integer in a range; 3.0 is one too."""
        value = self._typed(key, default, "an integer", _is_whole)
        return None if value is None else int(self._ranged(key, value, low, high))

    def number(self, key: str, low: float, high: float) -> float | None:
        """A number in a range, None if absent."""
        value: float | None = self._typed(key, None, "a number", _is_number)
        return None if value is None else self._ranged(key, value, low, high)

    def mapping(self, key: str) -> Mapping[str, Any]:
        """An object, {} if absent."""
        return self._typed(key, {}, "an object", lambda value: isinstance(value, Mapping))

    def items(self, key: str) -> Sequence[Any]:
        """An array, () if absent."""
        return self._typed(key, (), "an array", lambda value: isinstance(value, list | tuple))

    def inner(self, key: str) -> Fields:
        """An object as fields of its own."""
        return Fields(self.mapping(key), self.param(key))

    def each(self, key: str) -> Iterator[Fields]:
        """An array of objects."""
        for index, item in enumerate(self.items(key)):
            where = f"{self.param(key)}[{index}]"
            if not isinstance(item, Mapping):
                invalid(where, f"must be an object; it is {kind(item)}", "invalid_type")
            yield Fields(item, where)

    def required(self, key: str, wanted: str) -> str:
        """A string that must be there and not be empty."""
        return self.text(key) or missing(self.param(key), wanted)

    def _typed(self, key: str, default: T, wanted: str, fits: Callable[[Any], bool]) -> T | Any:
        value = self.data.get(key)
        if value is None:
            return default
        if not fits(value):
            invalid(self.param(key), f"must be {wanted}; it is {kind(value)}", "invalid_type")
        return value

    def _ranged(self, key: str, value: float, low: float, high: float) -> float:
        if not low <= value <= high:
            bounds = f"at least {low:.15g}" if high == INFINITE else f"from {low:.15g} to {high:.15g}"
            invalid(self.param(key), f"must be {bounds}; it is {value!r:.40}")
        return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def fields_of(data: Mapping[str, Any]) -> Fields:
    """The fields of a whole request.

    Raises:
        RequestError: it is no JSON object.
    """
    if not isinstance(data, Mapping):
        raise RequestError(f"the request must be a JSON object; it is {kind(data)}", code="invalid_type")
    return Fields(data)
