"""The error tree.

    DragomanError
      UsageError               the program that calls us is wrong
        DialectError           a dialect's definition cannot work
        UnknownDialect         no such dialect (.near: the names that look alike)
      RequestError             the client's request is wrong (.status, .param, .code)
        UnsupportedFeature     it is right, but not offered here
        Busy                   it is right, but there is no room for it now (.retry: seconds)
      EngineError              the upstream failed (.status, .engine, .hint)
        Unreachable            no connection, or no engine
        Refused                it answered with an error
        Timeout                it was too slow (.phase: start, first token, stall, total)
        Broken                 it died or ended in the middle of an answer
      ToolError                a tool failed; goes to the model as a result
      Cancelled                the client left, or cancelled; never logged as an error

Text that a model wrote never raises any of these.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "Broken",
    "Busy",
    "Cancelled",
    "DialectError",
    "DragomanError",
    "EngineError",
    "Refused",
    "RequestError",
    "Timeout",
    "ToolError",
    "UnknownDialect",
    "Unreachable",
    "UnsupportedFeature",
    "UsageError",
]


class DragomanError(Exception):
    """The root of all errors raised here."""


class UsageError(DragomanError):
    """The program that calls us is wrong."""


class DialectError(UsageError):
    """A dialect's definition cannot work."""

    def __init__(self, dialect: str, problem: str) -> None:
        super().__init__(f"dialect {dialect!r}: {problem}")
        self.dialect, self.problem = dialect, problem


class UnknownDialect(UsageError):
    """No dialect has this name."""

    def __init__(self, name: str, near: Sequence[str] = ()) -> None:
        hint = f"; did you mean {', '.join(near)}?" if near else "; `dragoman dialects` lists them all"
        super().__init__(f"unknown dialect {name!r}{hint}")
        self.name, self.near = name, tuple(near)


class RequestError(DragomanError):
    """The client's request is wrong: what, in which parameter, and what to do."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.message, self.param, self.code, self.status = message, param, code, status


class UnsupportedFeature(RequestError):
    """The request is right, but this server or engine cannot do it."""


class Busy(RequestError):
    """The request is right, but there is no room for it now; `retry` is in how many seconds it may be sent again."""

    def __init__(self, message: str, *, retry: float, code: str, status: int = 503) -> None:
        super().__init__(message, code=code, status=status)
        self.retry = retry


class EngineError(DragomanError):
    """The engine failed: which, how, and what to do about it."""

    status = 502

    def __init__(self, message: str, *, engine: str = "", hint: str = "", status: int | None = None) -> None:
        super().__init__(message + (f" ({hint})" if hint else ""))
        self.message, self.engine, self.hint = message, engine, hint
        if status is not None:
            self.status = status


class Unreachable(EngineError):
    """The engine cannot be reached, or is not running."""

    status = 503


class Refused(EngineError):
    """The engine answered with an error of its own."""


class Timeout(EngineError):
    """The engine was too slow."""

    status = 504

    def __init__(self, message: str, *, phase: str, engine: str = "", hint: str = "") -> None:
        super().__init__(message, engine=engine, hint=hint)
        self.phase = phase


class Broken(EngineError):
    """The engine ended in the middle of an answer."""


class ToolError(DragomanError):
    """A tool failed; the model gets this as the tool's result."""


class Cancelled(DragomanError):
    """The client left, or cancelled what it had asked for."""
