"""A Responses stream that breaks one rule, for every rule; each begins as a good one."""

from __future__ import annotations

import copy
import json
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dragoman.checks import RULES, check_response, check_responses_stream, compare_responses
from dragoman.events import CallArgs, CallEnd, CallStart, Content, Finish, Reasoning, Usage
from dragoman.protocols import sse
from dragoman.protocols.responses import Writer, read_request

ASKED = {"model": "m", "input": "Hi", "reasoning": {"summary": "auto"}, "tools": [{"type": "function", "name": "f"}]}
TURN = (
    Reasoning("r"),
    Content("a", part=1),
    Content("b", part=1),
    CallStart(0, "call_a", "f", 2),
    CallArgs(0, '{"a": 1}'),
    CallEnd(0, complete=True, valid=True),
    CallStart(1, "call_b", "f", 3),
    CallEnd(1, complete=True, valid=True),
    Usage(3, 4),
    Finish("tool_calls"),
)


def written(*turn):
    request, settings = read_request(ASKED)
    ids = count()
    stream = Writer(request, settings, answer_id="resp_1", created=1, ids=lambda: f"call_{next(ids)}")
    body = stream.write(turn) + stream.close()
    return [json.loads(message.data) for message in sse.Reader().feed(body) if message.data != "[DONE]"]


def good():
    return copy.deepcopy(written(*TURN))


def failed():
    return copy.deepcopy(written(Content("a"), Usage(), Finish("error", error=ValueError())))


def cut():
    return copy.deepcopy(written(Content("a"), Content("b", part=1), Usage(1, 1), Finish("length")))


def renumbered(items):
    return [{**item, "sequence_number": number} for number, item in enumerate(items)]


def body(items, *, done=b"data: [DONE]\n\n"):
    return b"".join(sse.frame(json.dumps(item).encode(), item.get("type", "")) for item in items) + done


def rules(items, **options):
    body_ = items if isinstance(items, bytes) else body(items)
    return {finding.rule for finding in check_responses_stream(body_, request=ASKED, **options)}


def place(items, kind, nth=0):
    return [index for index, item in enumerate(items) if item["type"].endswith(kind)][nth]


def changed(kind, *path, to=None, drop=False, nth=0, items=None):
    """The good stream with one value changed."""
    items = items or good()
    holder = items[place(items, kind, nth)]
    for key in path[:-1]:
        holder = holder[key]
    if drop:
        del holder[path[-1]]
    else:
        holder[path[-1]] = to
    return items


def without(kind, nth=0, items=None):
    items = items or good()
    del items[place(items, kind, nth)]
    return renumbered(items)


def test_good_streams_break_no_rule():
    for items in (good(), failed(), cut()):
        assert rules(items) == set()
    assert rules(body(good(), done=b"")) == set()


@pytest.mark.parametrize(
    ("rule", "items"),
    [
        ("S6", [*good(), good()[2]]),
        ("R1", without("created")),
        ("R1", renumbered([good()[0], *good()])),
        ("R1", changed("created", "response", "status", to="completed")),
        ("R2", changed("output_text.delta", "sequence_number", to=0)),
        ("R2", changed("output_text.delta", "sequence_number", drop=True)),
        ("R3", changed("response.completed", "response", "id", to="resp_2")),
        ("R3", changed("created", "response", "id", to="chatcmpl-1")),
        ("R4", changed("output_item.added", "output_index", to=0, nth=1)),
        ("R4", changed("output_item.added", "output_index", drop=True)),
        ("R5", changed("output_text.delta", "item_id", to="msg_other")),
        ("R5", changed("output_item.done", "item", "id", to="msg_other", nth=1)),
        ("R5", changed("output_item.done", "item", "call_id", to="call_x", nth=2)),
        ("R5", changed("output_item.added", "item", "id", to="item_1", nth=1)),
        ("R5", changed("output_item.added", "item", "call_id", to="call_a", nth=3)),
        ("R6", without("content_part.added")),
        ("R6", without("reasoning_summary_part.added")),
        ("R6", changed("content_part.added", "content_index", to=1)),
        ("R7", without("output_item.done")),
        ("R7", without("output_item.added")),
        ("R7", without("content_part.done")),
        ("R7", without("reasoning_summary_part.done")),
        ("R7", without("output_text.done")),
        ("R7", without("function_call_arguments.done")),
        ("R8", changed("output_text.delta", "delta", to="")),
        ("R8", changed("output_text.delta", "logprobs", drop=True)),
        ("R8", changed("output_text.done", "text", to="other")),
        ("R8", changed("output_item.done", "item", "content", 0, "text", to="other", nth=1)),
        ("R8", changed("reasoning_summary_text.done", "text", to="other")),
        ("R9", changed("output_item.added", "item", "call_id", drop=True, nth=2)),
        ("R9", changed("output_item.added", "item", "call_id", to="fc_10002", nth=2)),
        ("R9", changed("output_item.added", "item", "arguments", to="{", nth=2)),
        ("R9", changed("output_item.added", "item", "name", drop=True, nth=2)),
        ("R9", changed("output_item.done", "item", "arguments", to="[1]", nth=2)),
        ("R9", without("function_call_arguments.delta", 1)),
        ("R10", changed("response.completed", "response", "output", 0, "summary", to=None)),
        ("R10", changed("response.completed", "response", "output", 0, "summary", to=[])),
        ("R12", without("response.completed")),
        ("R12", renumbered([*good(), good()[-1]])),
        ("R12", changed("response.completed", "response", "status", to="failed")),
        ("R12", changed("response.incomplete", "response", "incomplete_details", to=None, items=cut())),
        ("R12", changed("response.incomplete", "response", "output", 0, "status", to="incomplete", items=cut())),
        ("R13", changed("error", "message", drop=True, items=failed())),
        ("R13", without("response.failed", items=failed())),
        ("R13", changed("response.failed", "response", "error", to=None, items=failed())),
        ("R14", changed("created", "response", "tools", drop=True)),
        ("R14", changed("response.completed", "response", "object", to="chat.completion")),
        ("R14", changed("created", "response", "tools", 0, "strict", drop=True)),
        ("R14", changed("created", "response", "output", to=None)),
        ("R14", changed("created", "response", "status", to="new")),
        ("R15", changed("response.completed", "response", "usage", to=None)),
        ("R15", changed("response.completed", "response", "usage", "total_tokens", to=1)),
        ("R15", changed("response.completed", "response", "usage", "input_tokens_details", to={})),
        ("R15", changed("created", "response", "usage", to={})),
        ("R16", changed("response.completed", "response", "output", to=[])),
        ("R17", changed("response.completed", "response", "output", 1, "role", to="user")),
        ("R17", changed("response.completed", "response", "output", 1, "phase", to="final")),
        ("R17", changed("response.completed", "response", "output", 1, "content", 0, "annotations", drop=True)),
    ],
)
def test_a_stream_that_breaks_a_rule(rule, items):
    assert rule in rules(items)
    assert rule in RULES


def test_r02_the_event_line():
    assert "R2" in rules(body(good()).replace(b"event: response.output_text.done\n", b""))


def test_r07_two_open_items():
    items = good()
    done, added = place(items, "output_item.done"), place(items, "output_item.added", 1)
    items[done], items[added] = items[added], items[done]
    assert "R7" in rules(renumbered(items))


def test_r08_marks_leak():
    assert rules(good(), marks=["<mark>"]) == set()
    assert "R8" in rules(good(), marks=["ab"])
    assert [finding.rule for finding in check_response(good()[-1]["response"], marks=["ab"])] == ["R8"]


def test_r09_an_item_of_an_answer_without_call_id():
    response = good()[-1]["response"]
    del response["output"][2]["call_id"]
    assert [finding.rule for finding in check_response(response)] == ["R9"]


def test_s8_a_stream_and_an_answer():
    response = good()[-1]["response"]
    assert not compare_responses(body(good()), response)
    assert compare_responses(body(good()), {**response, "status": "incomplete"})
    assert compare_responses(body(good()), {**response, "output": response["output"][1:]})


JSON = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 9), st.text(max_size=2), st.just([]), st.just({}), st.just([{}])
)


@examples(10)
@given(st.data())
def test_any_json_is_looked_at_without_harm(data):
    items = good()
    for _ in range(data.draw(st.integers(1, 4))):
        holder = data.draw(st.sampled_from([item for item in items if item]))
        while isinstance(holder, dict) and holder:
            key = data.draw(st.sampled_from(sorted(holder)))
            if not isinstance(holder[key], dict) or data.draw(st.booleans()):
                holder[key] = data.draw(JSON)
                break
            holder = holder[key]
    rules(b"".join(sse.frame(json.dumps(item).encode(), str(item.get("type"))) for item in items))


def test_r12_an_empty_stream():
    assert "R12" in rules(b"")
