"""Caller: who asks, by which key and under which ids of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Scope

from .http import header
from .keys import Key

__all__ = ["ABORT", "LONGEST_ID", "Caller"]

LONGEST_ID = 256
ABORT = "dragoman.abort"  # the name of what our own HTTP connections can do beyond the standard
_IDS = (b"x-request-id", b"x-client-request-id")


@dataclass(slots=True)
class Caller:
    """Who asks: the key, when the request came (by the event loop's clock), and its ids in the client's own words.

    `abort`: cuts its connection off at once, whatever has not been read; None where the HTTP server cannot.
    """

    key: Key
    began: float
    ids: tuple[str, ...] = ()
    abort: Callable[[], None] | None = None

    @classmethod
    def of(cls, scope: Scope, key: Key, began: float) -> Caller:
        """The caller of a request."""
        given = (header(scope, name)[:LONGEST_ID] for name in _IDS)
        return cls(key, began, tuple(filter(None, given)), scope.get("extensions", {}).get(ABORT, {}).get("abort"))
