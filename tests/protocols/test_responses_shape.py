from __future__ import annotations

import pytest

from dragoman.checks import check_response
from dragoman.errors import EngineError, RequestError
from dragoman.protocols.responses_shape import Response, error, error_event, incomplete_reason


@pytest.mark.parametrize(
    ("param", "told"),
    [("messages", "input"), ("response_format", "text.format"), ("tools[0].name", "tools[0].name"), (None, None)],
)
def test_r30_a_field_is_named_as_this_api_names_it(param, told):
    status, body = error(RequestError("no", param=param, code="c"))
    assert (status, body) == (
        400,
        {"error": {"message": "no", "type": "invalid_request_error", "param": told, "code": "c"}},
    )


def test_r13_an_error_event_has_both_forms():
    flat = {"code": "server_error", "message": "it fell over", "param": None}
    assert error_event(EngineError("it fell over")) == {**flat, "error": {"type": "server_error", **flat}}


def test_r14_a_response_that_nothing_was_said_about_has_every_key():
    response = Response("resp_1", 7, "m", {"tools": [1]}).object("in_progress", extra={"timings": {}, "status": "x"})
    assert (response["status"], response["tools"], response["timings"], response["usage"]) == (
        "in_progress",
        [1],
        {},
        None,
    )
    assert check_response(response) == []


@pytest.mark.parametrize(
    ("reason", "why"), [("stop", ""), ("tool_calls", ""), ("length", "max_output_tokens"), ("filter", "content_filter")]
)
def test_r12_why_a_response_is_not_whole(reason, why):
    assert incomplete_reason(reason) == why
