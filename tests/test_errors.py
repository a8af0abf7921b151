"""The error tree: its branches, what each error carries, and what it says."""

from __future__ import annotations

import pytest

from dragoman import errors


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        ("UsageError", "DragomanError"),
        ("DialectError", "UsageError"),
        ("UnknownDialect", "UsageError"),
        ("RequestError", "DragomanError"),
        ("UnsupportedFeature", "RequestError"),
        ("Busy", "RequestError"),
        ("EngineError", "DragomanError"),
        ("Unreachable", "EngineError"),
        ("Refused", "EngineError"),
        ("Timeout", "EngineError"),
        ("Broken", "EngineError"),
        ("ToolError", "DragomanError"),
        ("Cancelled", "DragomanError"),
    ],
)
def test_the_tree_is_the_one_on_top_of_the_module(kind: str, base: str):
    assert getattr(errors, kind).__bases__ == (getattr(errors, base),)
    assert f"  {kind}" in (errors.__doc__ or "")


def test_all_errors_are_public():
    kinds = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert kinds == {*errors.__all__}


def test_a_dialect_error_names_its_dialect():
    error = errors.DialectError("x", "no holes")
    assert (str(error), error.dialect, error.problem) == ("dialect 'x': no holes", "x", "no holes")


def test_an_unknown_dialect_says_what_to_do():
    assert str(errors.UnknownDialect("x", ["y", "z"])) == "unknown dialect 'x'; did you mean y, z?"
    assert str(errors.UnknownDialect("x")) == "unknown dialect 'x'; `dragoman dialects` lists them all"


def test_busy_says_when_to_try_again():
    error = errors.Busy("full", retry=3.0, code="queue_full")
    assert (error.status, error.code, error.retry) == (503, "queue_full", 3.0)


def test_a_request_error_carries_what_a_client_needs():
    error = errors.RequestError("too many", param="n", code="invalid_value", status=422)
    assert (str(error), error.param, error.code, error.status) == ("too many", "n", "invalid_value", 422)
    assert errors.UnsupportedFeature("no images").status == 400


@pytest.mark.parametrize(
    ("kind", "status"), [("EngineError", 502), ("Unreachable", 503), ("Refused", 502), ("Broken", 502)]
)
def test_an_engine_error_has_a_status(kind: str, status: int):
    error = getattr(errors, kind)("it failed", engine="llama", hint="start it")
    assert (error.status, str(error), error.engine, error.hint) == (status, "it failed (start it)", "llama", "start it")
    assert getattr(errors, kind)("it failed", status=500).status == 500
    assert str(getattr(errors, kind)("it failed")) == "it failed"


def test_a_timeout_says_in_which_phase():
    error = errors.Timeout("nothing came", phase="first token", engine="llama", hint="wait longer")
    assert (error.phase, error.status, str(error)) == ("first token", 504, "nothing came (wait longer)")
