from __future__ import annotations

import pytest

from dragoman.checks import check_ollama_error
from dragoman.errors import Cancelled, Refused, RequestError, Timeout
from dragoman.protocols.ollama import error


@pytest.mark.parametrize(
    ("exc", "status", "text"),
    [
        (RequestError("too long", status=413), 413, "too long"),
        (Refused("no", engine="e", hint="why"), 502, "no (why)"),
        (Timeout("slow", phase="stall"), 504, "slow"),
        (Cancelled("gone"), 499, "gone"),
        (KeyError("secret"), 500, "an internal error; the server's log has the details"),
    ],
)
def test_o07_an_error_is_a_text(exc, status, text):
    assert error(exc) == (status, {"error": text})
    assert list(check_ollama_error(error(exc)[1])) == []
