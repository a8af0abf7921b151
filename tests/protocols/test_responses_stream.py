from __future__ import annotations

import gc
import itertools
import weakref
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from responselines import brief, events, final, lines, snapshot, validated
from strategies import examples, turns

from dragoman.checks import check_response, check_responses_stream, compare_responses
from dragoman.errors import Broken, Cancelled, EngineError, RequestError
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Notice, Reasoning, Usage
from dragoman.messages import Call, Message, Request, Tool
from dragoman.protocols import sse, wire
from dragoman.protocols.responses import Settings, Writer, answer, read_request
from dragoman.protocols.seal import unseal
from dragoman.syntax.fold import fold

WHOLE = CallEnd(0, complete=True, valid=True)
CUT = CallEnd(0, complete=False, valid=False, missing='"}')
END = (Usage(3, 4), Finish("stop"))
CALL = (CallStart(0, "call_a", "ping"), CallArgs(0, '{"n"'), CallArgs(0, ": 1}"), WHOLE)
ASKED = {"model": "m", "input": "Hi"}


def names(prefix="made_"):
    counter = itertools.count()
    return lambda: f"{prefix}{next(counter)}"


def facts():
    return {"answer_id": "resp_1", "created": 7, "ids": names(), "now": lambda: 9.5}


def writer(settings=None, request=None, **data):
    asked, told = read_request({**ASKED, **data})
    return Writer(request or asked, settings or told, **facts())


def written(*events, extra=None, **options):
    stream = writer(**options)
    return stream.write(events) + stream.close(extra)


def said(*events, **options):
    return brief(written(*events, **options))


def items(*events, **options):
    return final(written(*events, **options))["output"]


@dataclass
class Token:
    token: str
    logprob: float = -0.5
    bytes: tuple = ()
    top: tuple = ()


def test_the_whole_life_cycle():
    body = written(
        Reasoning("Hm."), Content("A", part=1), Content("b", part=1), *CALL, Usage(3, 4), Finish("tool_calls")
    )
    assert lines(body) == [
        "created in_progress",
        "in_progress in_progress",
        "output_item.added 0 reasoning",
        "content_part.added 0",
        "reasoning_text.delta 0 'Hm.'",
        "reasoning_text.done 0 'Hm.'",
        "content_part.done 0",
        "output_item.done 0 reasoning completed",
        "output_item.added 1 message",
        "content_part.added 1",
        "output_text.delta 1 'A'",
        "output_text.delta 1 'b'",
        "output_text.done 1 'Ab'",
        "content_part.done 1",
        "output_item.done 1 message completed",
        "output_item.added 2 function_call ping",
        "function_call_arguments.delta 2 '{\"n\"'",
        "function_call_arguments.delta 2 ': 1}'",
        "function_call_arguments.done 2 '{\"n\": 1}'",
        "output_item.done 2 function_call completed ping",
        "completed completed",
        "done",
    ]


def test_r01_the_first_event_is_a_whole_response_without_output():
    first = events(written(Content("a"), *END))[0]
    assert first["type"] == "response.created"
    assert (first["response"]["status"], first["response"]["output"]) == ("in_progress", [])
    assert validated(first["response"]).id == "resp_1"


def test_r02_events_are_numbered_and_named():
    body = written(Reasoning("r"), Content("a", part=1), *CALL, *END)
    assert [event["sequence_number"] for event in events(body)] == list(range(len(events(body))))
    reader = sse.Reader()
    for message in reader.feed(body)[:-1]:
        assert f'"type":"{message.event}"' in message.data


def test_r03_to_r06_names_and_indexes():
    body = written(
        Reasoning("r"), Content("a", part=1), *CALL, Content("b", part=3), *END, reasoning={"summary": "auto"}
    )
    assert not check_responses_stream(body, request={"reasoning": {"summary": "auto"}})
    assert [item["id"] for item in final(body)["output"]] == ["rs_10000", "msg_10001", "fc_10002", "msg_10003"]
    assert final(body)["output"][2]["call_id"] == "call_a"


@pytest.mark.parametrize("reason", ["length", "filter"])
def test_r07_what_is_open_is_closed_as_incomplete(reason):
    body = written(Content("a"), Usage(3, 4), Finish(reason))
    assert brief(body)[-3:] == ["output_item.done 0 message incomplete", "incomplete incomplete", "done"]


def test_r08_deltas_carry_text_and_logprobs():
    (delta,) = [event for event in events(written(Content("a"), Content(""), *END)) if event["type"].endswith("delta")]
    assert (delta["delta"], delta["logprobs"]) == ("a", [])


def test_r08_log_probabilities_ride_on_the_next_text():
    stream = writer()
    body = stream.write([Content("a")], 0, [Token("a", top=(Token("b", -2.0),))]) + stream.write([Content("b")])
    body += stream.write(END) + stream.close()
    deltas = [event for event in events(body) if event["type"].endswith("delta")]
    shown = [
        {"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": [{"token": "b", "logprob": -2.0, "bytes": [98]}]}
    ]
    assert [event["logprobs"] for event in deltas] == [shown, []]
    assert final(body)["output"][0]["content"][0]["logprobs"] == shown
    assert not check_responses_stream(body)


def test_r09_a_call_without_arguments_has_one_delta():
    assert said(CallStart(0, "c", "ping"), WHOLE, *END)[1] == "function_call_arguments.delta 0 '{}'"


def test_r09_invalid_arguments_are_carried_verbatim():
    call = (CallStart(0, "c", "ping"), CallArgs(0, "{'a"), CallEnd(0, complete=True, valid=False))
    assert items(*call, *END)[0]["arguments"] == "{'a"


@pytest.mark.parametrize("own", ["", "é", "x" * 41, "used"])
def test_r09_an_id_that_does_not_fit_is_made_anew(own):
    asked = Request("m", (Message("assistant", (Call("f", id="used"),)),))
    body = written(CallStart(0, own, "ping"), WHOLE, *END, request=asked)
    assert final(body)["output"][0]["call_id"] == "made_0"


def test_r09_a_custom_call_streams_its_text():
    request, settings = read_request({**ASKED, "tools": [{"type": "custom", "name": "sh"}]})
    call = (CallStart(0, "c", "sh"), CallArgs(0, '{"input": "l'), CallArgs(0, "s\\n"), CallArgs(0, '-a"}'), WHOLE)
    body = written(*call, *END, request=request, settings=settings)
    assert brief(body)[:5] == [
        "output_item.added 0 custom_tool_call sh",
        "custom_tool_call_input.delta 0 'l'",
        "custom_tool_call_input.delta 0 's\\n'",
        "custom_tool_call_input.delta 0 '-a'",
        "output_item.done 0 custom_tool_call completed sh",
    ]
    assert final(body)["output"] == [
        {
            "id": "ctc_10000",
            "type": "custom_tool_call",
            "status": "completed",
            "call_id": "c",
            "name": "sh",
            "input": "ls\n-a",
        }
    ]
    assert not check_responses_stream(body)


def test_r09_a_custom_call_of_another_form_is_verbatim():
    request, settings = read_request({**ASKED, "tools": [{"type": "custom", "name": "sh"}]})
    call = (CallStart(0, "c", "sh"), CallArgs(0, "ls "), CallArgs(0, "-a"), WHOLE)
    assert items(*call, *END, request=request, settings=settings)[0]["input"] == "ls -a"


def test_r21_a_call_of_a_namespace_says_so():
    space = {"type": "namespace", "name": "net", "description": "", "tools": [{"type": "function", "name": "ping"}]}
    (item,) = items(*CALL, *END, tools=[space])
    assert (item["namespace"], item["name"]) == ("net", "ping")


def test_r22_a_call_that_is_not_allowed_is_suppressed():
    tools = [{"type": "function", "name": name} for name in ("ping", "pong")]
    allowed = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "pong"}]}
    assert said(Content("a"), *CALL, *END, tools=tools, tool_choice=allowed) == [
        "output_item.added 0 message",
        "output_text.delta 0 'a'",
        "output_item.done 0 message completed",
        "completed completed",
        "done",
    ]


def test_r10_reasoning_and_its_summary_are_live_and_alike():
    body = written(Reasoning("a"), Reasoning("b"), *END, reasoning={"summary": "concise"})
    assert [line for line in lines(body) if "delta" in line] == [
        "reasoning_text.delta 0 'a'",
        "reasoning_summary_text.delta 0 'a'",
        "reasoning_text.delta 0 'b'",
        "reasoning_summary_text.delta 0 'b'",
    ]
    (item,) = final(body)["output"]
    assert item["summary"] == [{"type": "summary_text", "text": "ab"}]
    assert item["content"] == [{"type": "reasoning_text", "text": "ab"}]


def test_r10_without_a_summary_there_is_an_empty_one():
    (item,) = items(Reasoning("a"), *END)
    assert (item["summary"], item["encrypted_content"]) == ([], None)


def test_r10_encrypted_content_is_ours_and_opens_again():
    (item,) = items(Reasoning("a"), *END, include=["reasoning.encrypted_content"])
    assert unseal(item["encrypted_content"]) == "a"


def test_r10_hidden_reasoning_is_carried_only_sealed():
    told = Settings(reasoning_field="none", sealed=True, summary=True)
    (item,) = items(Reasoning("a"), *END, settings=told)
    assert (item["content"], item["summary"], unseal(item["encrypted_content"])) == ([], [], "a")


def test_r10_hidden_reasoning_that_nobody_asked_for_is_no_item():
    assert (
        items(Reasoning("a"), Content("b", part=1), *END, settings=Settings(reasoning_field="none"))[0]["type"]
        == "message"
    )


def test_r11_the_other_spelling_is_a_switch():
    body = written(Reasoning("a"), *END, responses_names="open-responses")
    kinds = [event["type"] for event in events(body)]
    assert "response.reasoning.delta" in kinds
    assert "response.reasoning.done" in kinds
    assert "response.reasoning_text.delta" not in kinds
    assert not check_responses_stream(body)


@pytest.mark.parametrize(
    ("reason", "status", "why"),
    [
        ("stop", "completed", None),
        ("tool_calls", "completed", None),
        ("length", "incomplete", {"reason": "max_output_tokens"}),
        ("filter", "incomplete", {"reason": "content_filter"}),
    ],
)
def test_r12_the_terminal_event(reason, status, why):
    body = written(Content("a"), Usage(3, 4), Finish(reason))
    last = events(body)[-1]
    assert last["type"] == f"response.{status}"
    assert (last["response"]["status"], last["response"]["incomplete_details"]) == (status, why)
    assert last["response"]["completed_at"] == (9 if status == "completed" else None)
    assert body.endswith(sse.DONE)


@pytest.mark.parametrize("reason", ["length", "stop"])
def test_r12_a_cut_call_is_incomplete_whatever_the_engine_says(reason):
    body = written(CallStart(0, "c", "ping"), CallArgs(0, '{"a": "b'), CUT, Usage(3, 4), Finish(reason))
    assert final(body)["output"][0]["status"] == "incomplete"
    assert final(body)["status"] == "incomplete"
    assert not check_responses_stream(body)


def test_r12_a_whole_call_before_the_limit_is_complete():
    body = written(*CALL, Usage(3, 4), Finish("length"))
    assert final(body)["output"][0]["status"] == "completed"


def test_r13_an_error_is_told_twice():
    stream = writer()
    body = stream.write([Content("a")]) + stream.error(EngineError("the engine fell over"))
    assert brief(body)[-4:] == [
        "output_item.done 0 message incomplete",
        "error server_error the engine fell over",
        "failed failed",
        "done",
    ]
    assert final(body)["error"] == {"code": "server_error", "message": "the engine fell over"}
    told = events(body)[-2]
    assert told["error"] == {
        "type": "server_error",
        "code": "server_error",
        "message": "the engine fell over",
        "param": None,
    }
    assert not check_responses_stream(body)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RequestError("too long", code="context_length_exceeded"), "invalid_prompt"),
        (EngineError("busy", status=429), "rate_limit_exceeded"),
        (ZeroDivisionError("secret"), "server_error"),
    ],
)
def test_r13_codes(error, code):
    body = writer().error(error)
    assert final(body)["error"]["code"] == code
    assert "secret" not in body.decode()
    assert brief(body)[0].startswith("error")
    assert not check_responses_stream(body)


def test_r12_a_finish_with_an_error_is_a_failure():
    assert said(Content("a"), Usage(3, 4), Finish("error", error=Broken("it broke")))[-3:] == [
        "error server_error it broke",
        "failed failed",
        "done",
    ]


def test_r28_a_cancelled_response_is_no_failure():
    stream = writer()
    body = stream.write([Content("a")]) + stream.error(Cancelled("enough"))
    assert brief(body)[-3:] == ["output_item.done 0 message incomplete", "incomplete cancelled", "done"]
    assert not check_responses_stream(body)


def test_r28_a_background_response_is_queued_first():
    stream = writer(background=True)
    assert stream.response["status"] == "queued"
    body = stream.write([Content("a"), *END]) + stream.close()
    assert lines(body)[:3] == ["created queued", "queued queued", "in_progress in_progress"]
    assert not check_responses_stream(body)


def test_r12_an_answer_that_was_never_finished_is_a_failure():
    stream = writer()
    assert brief(stream.write([Content("a")]) + stream.close())[-2:] == ["failed failed", "done"]


def test_s6_nothing_follows_the_end():
    stream = writer()
    stream.write([Content("a"), *END])
    assert stream.close()
    assert stream.ended
    assert b"" == stream.close() == stream.error(Broken("x")) == stream.write([Content("b")]) == stream.ping()


def test_r14_every_state_has_all_keys():
    stream = writer(tools=[{"type": "function", "name": "f"}])
    stream.write([Content("a")])
    assert not check_response(stream.response)
    assert stream.response["output"][0]["status"] == "in_progress"
    validated(stream.response)


@pytest.mark.parametrize(
    ("usage", "shape"),
    [(Usage(3, 4, 2, 1), (3, 4, 7, 1, 2)), (Usage(), (0, 0, 0, 0, 0)), (Usage(3, 4, 9, 9), (3, 4, 7, 3, 4))],
)
def test_r15_usage(usage, shape):
    told = final(written(Content("a"), usage, Finish("stop")))["usage"]
    details = told["input_tokens_details"]["cached_tokens"], told["output_tokens_details"]["reasoning_tokens"]
    assert (told["input_tokens"], told["output_tokens"], told["total_tokens"], *details) == shape
    assert all(event["response"]["usage"] is None for event in events(written(Content("a"), *END))[:2])


def test_r16_the_end_repeats_every_item():
    body = written(Reasoning("r"), Content("a", part=1), *CALL, *END)
    done = [event["item"] for event in events(body) if event["type"] == "response.output_item.done"]
    assert final(body)["output"] == done
    assert snapshot(body).output_text == "a"


@pytest.mark.parametrize(("phase", "shown"), [("commentary", "commentary"), ("final", "final_answer"), ("", None)])
def test_r17_phases(phase, shown):
    assert items(Content("a", phase=phase), *END)[0].get("phase") == shown


def test_r17_a_refusal_is_a_part_of_its_own():
    body = written(Content("no", phase="refusal"), *END)
    assert final(body)["output"][0]["content"] == [{"type": "refusal", "refusal": "no"}]
    assert not check_responses_stream(body)


def test_r18_text_before_and_after_a_call_are_two_messages():
    assert [item["type"] for item in items(Content("a"), *CALL, Content("b"), *END)] == [
        "message",
        "function_call",
        "message",
    ]


def test_blocks_of_one_kind_are_items_of_their_own():
    assert len(items(Content("a"), Content("b", part=1), *END)) == 2


def test_decision_15_buffered_calls_come_whole():
    told = Settings(tool_arguments="buffered")
    assert said(*CALL, *END, settings=told)[:3] == [
        "output_item.added 0 function_call ping",
        "function_call_arguments.delta 0 '{\"n\": 1}'",
        "output_item.done 0 function_call completed ping",
    ]
    assert items(CallStart(0, "c", "ping"), CallArgs(0, '{"a'), CUT, Usage(1, 1), Finish("length"), settings=told) == []


def test_notices_are_not_shown_and_extras_ride_along():
    body = written(Notice("x"), Content("a"), *END, extra={"timings": {"ms": 1}, "id": "other"})
    assert final(body)["timings"] == {"ms": 1}
    assert final(body)["id"] == "resp_1"


def test_s3_a_ping_is_a_comment():
    stream = writer()
    stream.open()
    assert stream.ping("still here") == b": still here\n\n"


def test_while_there_is_no_output_some_pings_are_events():
    stream = writer()
    pings = [stream.ping() for _ in range(12)]
    told = [event["type"] for event in events(b"".join(pings))]
    assert told == ["response.created", "response.in_progress", "response.in_progress", "response.in_progress"]
    body = b"".join(pings) + stream.write([Content("Hi")])
    assert {stream.ping() for _ in range(12)} == {sse.comment("")}
    body += stream.write(END) + stream.close()
    assert not list(check_responses_stream(body))
    assert snapshot(body).output_text == "Hi"


def test_the_model_is_the_one_that_answers():
    asked, told = read_request(ASKED)
    assert Writer(asked, told, **facts(), model="real").response["model"] == "real"


@examples(10)
@given(turns())
def test_r01_to_r18_every_legal_turn(turn):
    body = written(*turn)
    assert not check_responses_stream(body)
    lines(body)
    if final(body)["status"] == "completed":
        assert snapshot(body).output_text == "".join(
            part["text"] for item in final(body)["output"] if item["type"] == "message" for part in item["content"]
        )


@examples(10)
@given(turns(broken=True), st.sampled_from(["live", "buffered"]), st.sampled_from([None, "auto"]))
def test_s8_p7_the_answer_is_the_end_of_the_stream(turn, arguments, summary):
    data = {**ASKED, "tool_arguments": arguments, "reasoning": {"summary": summary}}
    request, settings = read_request(data)
    body = written(*turn, request=request, settings=settings)
    whole = answer([fold(turn)], request, settings, **facts())
    assert not compare_responses(body, whole)
    validated(whole)


@examples(10)
@given(turns(), st.data())
def test_r07_a_stream_that_fails_anywhere_is_closed_properly(turn, data):
    stream = writer()
    body = stream.write(turn[: data.draw(st.integers(0, len(turn) - 1))]) + stream.error(Broken("it broke"))
    assert not [finding for finding in check_responses_stream(body) if finding.rule != "R9"]
    assert brief(body)[-2:] == ["failed failed", "done"]


@examples(10)
@given(turns(), st.data())
def test_writing_together_or_apart_is_the_same(turn, data):
    together, apart = writer(), writer()
    at = data.draw(st.integers(0, len(turn)))
    one = together.write(turn) + together.close()
    assert one == apart.write(turn[:at]) + apart.write(turn[at:]) + apart.close()


def test_a_custom_call_is_the_same_whole():
    request, settings = read_request({**ASKED, "tools": [{"type": "custom", "name": "sh"}]})
    turn = [CallStart(0, "c", "sh"), CallArgs(0, '{"input": "a\\u00e9'), CallArgs(0, '"}'), WHOLE, *END]
    whole = answer([fold(turn)], request, settings, **facts())
    assert not compare_responses(written(*turn, request=request, settings=settings), whole)
    assert whole["output"][0]["input"] == "aé"


def test_a_failed_turn_has_no_answer():
    request, settings = read_request(ASKED)
    for turn, error in ((replace(fold(list(END)), finish="error", error=Broken("x")), Broken),
                        (replace(fold(list(END)), finish="cancelled"), Cancelled)):  # fmt: skip
        with pytest.raises(error):
            answer([turn], request, settings, **facts())


def test_log_probabilities_of_a_whole_answer_are_shared_out():
    request, settings = read_request(ASKED)
    turn = [Content("ab"), *CALL, Content("c", part=2), *END]
    whole = answer([fold(turn)], request, settings, **facts(), logprobs=[[Token("a"), Token("b"), Token("c")]])
    shown = [
        [token["token"] for token in item["content"][0]["logprobs"]] for item in whole["output"] if "content" in item
    ]
    assert shown == [["a", "b"], ["c"]]


def test_a_stream_that_was_dropped_is_freed():
    stream = writer()
    stream.write([Content("a"), *CALL])
    gone = weakref.ref(stream)
    gc.disable()
    try:
        del stream
        assert gone() is None
    finally:
        gc.enable()


def test_a_tool_of_the_request_is_custom_only_if_it_says_so():
    asked = Request("m", tools=(Tool("ping"),))
    assert items(*CALL, *END, request=asked)[0]["type"] == "function_call"


def test_a_token_costs_one_quoting_and_no_dict(monkeypatch):
    stream = writer()
    stream.write([Content("a"), Reasoning("b", part=1)])
    monkeypatch.setattr(wire, "dump", None)
    assert stream.write([Reasoning("x", part=1)] * 3).count(b'"delta":"x"') == 3
