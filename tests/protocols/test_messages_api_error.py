from __future__ import annotations

import pytest
from anthropic.types import ErrorResponse

from dragoman.checks import check_messages_error
from dragoman.errors import Broken, Cancelled, Refused, RequestError, Timeout, Unreachable, UnsupportedFeature
from dragoman.protocols.messages_api import error


@pytest.mark.parametrize(
    ("exc", "status", "kind"),
    [
        (RequestError("bad", param="messages"), 400, "invalid_request_error"),
        (UnsupportedFeature("no"), 400, "invalid_request_error"),
        (RequestError("key", status=401), 401, "authentication_error"),
        (RequestError("no", status=403), 403, "permission_error"),
        (RequestError("where", status=404), 404, "not_found_error"),
        (RequestError("how", status=405), 405, "invalid_request_error"),
        (RequestError("big", status=413), 413, "request_too_large"),
        (RequestError("slow down", status=429), 429, "rate_limit_error"),
        (Unreachable("gone"), 503, "overloaded_error"),
        (Refused("no"), 502, "api_error"),
        (Broken("died"), 502, "api_error"),
        (Timeout("slow", phase="stall"), 504, "timeout_error"),
        (Cancelled("left"), 499, "api_error"),
        (KeyError("secret"), 500, "api_error"),
    ],
)
def test_m13_every_error_has_its_status_and_type(exc, status, kind):
    found, body = error(exc, "msg_1")
    assert (found, body["error"]["type"], body["request_id"]) == (status, kind, "msg_1")
    assert "secret" not in body["error"]["message"]
    assert [*check_messages_error(body)] == []
    if kind != "request_too_large":  # the client's types do not know it, its documentation does
        ErrorResponse.model_validate(body, strict=True)


def test_m13_a_prompt_that_is_too_long_says_so_in_the_words_that_agents_look_for():
    exc = RequestError("the limit is 5 tokens", code="context_length_exceeded")
    assert error(exc)[1]["error"]["message"] == "prompt is too long: the limit is 5 tokens"


def test_s02_half_characters_are_replaced():
    assert error(RequestError("a\ud83d"))[1]["error"]["message"] == "a\ufffd"
