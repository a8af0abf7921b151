from __future__ import annotations

import pytest

from dragoman.errors import Broken, Cancelled
from dragoman.events import Usage
from dragoman.protocols.chat_shape import CallIds, Joints, extras, failure, finish_word, reasoning_keys, usage_shape


def joined(*blocks, inline=False):
    """All text as the content and the reasoning get it; None is a call."""
    joints = Joints(inline=inline)
    shown = {"content": "", "reasoning": "", "refusal": ""}
    for block in blocks:
        if block is None:
            shown["content"] += joints.leave()
            continue
        kind, part, text = block
        key = "content" if inline and kind == "reasoning" else kind
        shown[key] += joints.before(kind, part) + text
    shown["content"] += joints.leave()
    return {key: text for key, text in shown.items() if text}


C, R, X = "content", "reasoning", "refusal"


@pytest.mark.parametrize(
    ("blocks", "shown"),
    [
        ([(C, 0, "a"), (C, 0, "b")], {C: "ab"}),
        ([(C, 0, "a"), (C, 1, "b")], {C: "a\nb"}),
        ([(R, 0, "r"), (C, 1, "a"), (R, 2, "s"), (C, 3, "b")], {C: "a\nb", R: "r\ns"}),
        ([(R, 0, "r"), (C, 0, "a"), (R, 0, "s"), (C, 0, "b")], {C: "a\nb", R: "r\ns"}),
        ([(C, 0, "a"), None, (C, 0, "b")], {C: "a\nb"}),
        ([None, (C, 1, "a")], {C: "a"}),
        ([(C, 0, "a"), (X, 1, "no"), (X, 1, "pe"), (X, 2, "!")], {C: "a", X: "nope\n!"}),
    ],
)
def test_blocks_of_one_kind_are_joined_by_a_newline(blocks, shown):
    assert joined(*blocks) == shown


@pytest.mark.parametrize(
    ("blocks", "content"),
    [
        ([(C, 0, "a")], "a"),
        ([(R, 0, "r")], "<think>\nr\n</think>"),
        ([(R, 0, "r"), (C, 1, "a")], "<think>\nr\n</think>\n\na"),
        ([(R, 0, "r"), (R, 1, "s"), (C, 2, "a"), (C, 3, "b")], "<think>\nr\ns\n</think>\n\na\nb"),
        ([(R, 0, "r"), None, (C, 1, "a")], "<think>\nr\n</think>\na"),
        ([(C, 0, "a"), (R, 1, "r"), (C, 2, "b")], "a\n<think>\nr\n</think>\n\nb"),
    ],
)
def test_c06_reasoning_inline_stands_between_tags(blocks, content):
    assert joined(*blocks, inline=True) == {"content": content}


def test_c06_a_refusal_closes_no_tags_of_the_content():
    assert joined((R, 0, "r"), (X, 1, "no"), inline=True) == {"content": "<think>\nr\n</think>", "refusal": "no"}


def test_c10_ids():
    made = iter(["one", "two"])
    ids = CallIds({"old"}, lambda: next(made))
    assert [ids.give(own) for own in ("new", "new", "old")] == ["new", "one", "two"]


@pytest.mark.parametrize(
    ("reason", "called", "word"),
    [
        ("stop", False, "stop"),
        ("stop", True, "tool_calls"),
        ("length", True, "length"),
        ("filter", True, "content_filter"),
    ],
)
def test_c12_finish_words(reason, called, word):
    assert finish_word(reason, called=called) == word


def test_c14_choices_share_their_prompt():
    usage = usage_shape([Usage(5, 1, 1, 2), None, Usage(5, 2, None, 9)])
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (5, 3, 8)
    assert usage["prompt_tokens_details"] == {"cached_tokens": 5}
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 1}


def test_names_of_reasoning():
    assert reasoning_keys("both") == ("reasoning_content", "reasoning")
    assert reasoning_keys("none") == ()
    assert reasoning_keys("reasoning") == ("reasoning",)


def test_further_facts_hide_nothing():
    assert extras({"id": 1, "timings": 2}, ("id",)) == {"timings": 2}
    assert extras(None, ()) == {}


def test_failures_without_a_cause():
    assert isinstance(failure("cancelled"), Cancelled)
    assert isinstance(failure("error"), Broken)
