from __future__ import annotations

import pytest

from dragoman.checks import check_error
from dragoman.errors import (
    Broken,
    Cancelled,
    EngineError,
    Refused,
    RequestError,
    Timeout,
    UnknownDialect,
    Unreachable,
    UnsupportedFeature,
)
from dragoman.protocols.chat import error, read_error


@pytest.mark.parametrize(
    ("exc", "status", "kind", "code"),
    [
        (RequestError("m", param="n", code="c"), 400, "invalid_request_error", "c"),
        (RequestError("m", status=401), 401, "authentication_error", None),
        (RequestError("m", status=403), 403, "permission_error", None),
        (RequestError("m", status=404), 404, "not_found_error", None),
        (RequestError("m", status=429), 429, "rate_limit_error", None),
        (UnsupportedFeature("m"), 400, "invalid_request_error", None),
        (EngineError("m"), 502, "server_error", "engine_error"),
        (Refused("m"), 502, "server_error", "engine_error"),
        (Refused("m", status=429), 429, "rate_limit_error", "engine_error"),
        (Unreachable("m"), 503, "server_error", "engine_unreachable"),
        (Timeout("m", phase="stall"), 504, "server_error", "engine_timeout"),
        (Broken("m"), 502, "server_error", "engine_broken"),
        (Cancelled("m"), 499, "server_error", "cancelled"),
    ],
)
def test_c21_every_error_has_its_shape(exc, status, kind, code):
    given, body = error(exc)
    assert (given, body["error"]["type"], body["error"]["code"]) == (status, kind, code)
    assert body["error"]["message"] == "m"
    assert list(check_error(body)) == []


@pytest.mark.parametrize(
    "exc", [KeyError("secret"), UnknownDialect("secret"), RecursionError("secret"), KeyboardInterrupt()]
)
def test_c21_what_is_not_meant_for_clients_is_not_told(exc):
    status, body = error(exc)
    assert status == 500
    assert "secret" not in str(body)
    assert list(check_error(body)) == []


def test_c21_param_and_hint_are_told():
    assert error(RequestError("m", param="a.b"))[1]["error"]["param"] == "a.b"
    assert error(Unreachable("m", hint="start it"))[1]["error"]["message"] == "m (start it)"


def test_s02_half_characters_do_not_break_an_error():
    assert error(RequestError("a\ud83d"))[1]["error"]["message"] == "a\ufffd"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "no", "type": "t", "code": 500}}, "no"),
        ({"error": "no"}, "no"),
        ({"object": "error", "message": "no", "code": 400}, "no"),
        ({"detail": "no"}, "no"),
        ({"detail": [{"loc": ["n"]}]}, '[{"loc":["n"]}]'),
        ("no", "no"),
        ({"error": {}}, "the engine answered with an error that says nothing"),
        (None, "the engine answered with an error that says nothing"),
    ],
)
def test_an_upstreams_error_keeps_its_words(body, message):
    exc = read_error(body, 500, "vllm")
    assert isinstance(exc, Refused)
    assert (exc.message, exc.engine, exc.status) == (message, "vllm", 502)


@pytest.mark.parametrize(("status", "told"), [(400, 502), (429, 429), (500, 502), (503, 503), (0, 502)])
def test_an_upstreams_status_is_not_ours(status, told):
    assert read_error("x", status).status == told


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 400, "message": "request (9 tokens) exceeds ...", "type": "exceed_context_size_error"}},
        {"error": {"message": "x", "code": "context_length_exceeded"}},
        {"object": "error", "message": "This model's maximum context length is 8 tokens."},
    ],
)
def test_an_overflow_is_the_requests_fault(body):
    exc = read_error(body)
    assert isinstance(exc, RequestError)
    assert (exc.status, exc.code) == (400, "context_length_exceeded")
    assert exc.message == (body.get("error") or body)["message"]
