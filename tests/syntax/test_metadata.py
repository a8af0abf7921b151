"""What a model says of its own output, compiled to a dialect."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman
from dragoman.errors import UsageError
from dragoman.syntax.codecs.json_call import JsonCall
from dragoman.syntax.definition import dump, load
from dragoman.syntax.metadata import compiled

BEGINS = "<|im_start|>assistant\n"
CONTENT = {"close_pattern": r"<\|im_end\|>\s*|$", "content": "text"}
THINKING = {"open": "<think>", "close_pattern": r"</think>\s*"}
NAMED = {"type": "function", "function": {"name": "{fn}", "arguments": "{content}"}}


def template(calls: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    given = {"thinking": THINKING, "content": CONTENT, **({"tool_calls": calls} if calls else {}), **fields}
    return {"defaults": {"role": "assistant"}, "start_anchor": BEGINS, "fields": given}


def calls(kind: str, open_pattern: str, close: str, transform: Any = NAMED, **args: Any) -> dict[str, Any]:
    fields = {"open_pattern": open_pattern, "close": close, "content": kind, "repeats": True, "transform": transform}
    return {**fields, **({"content_args": args} if args else {})}


WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "an object": (
        calls("json", "<call>", "</call>", {"type": "function", "function": "{content}"}),
        '<call>{"name": "f", "arguments": %s}</call>',
    ),
    "other keys": (
        calls("json", "<call>", "</call>", {"function": {"name": "{content.tool}", "arguments": "{content.with}"}}),
        '<call>{"tool": "f", "with": %s}</call>',
    ),
    "the name in the mark": (calls("json", r"<call:(?P<fn>\w+)>", "</call>"), "<call:f>%s</call>"),
    "the object as a mark": (
        calls("json", r'\{"name":\s*"(?P<fn>[^"]+)",\s*"parameters":\s*', "}"),
        '{"name": "f", "parameters": %s}',
    ),
    "tags": (
        calls(
            "xml-inline", r"<call>\s*<f=(?P<fn>[^>]+)>", "</call>",
            tag_pattern=r"<p=(?P<key>[^>]+)>\n?(?P<value>.*?)\n?</p>",
        ),
        "<call>\n<f=f>\n<p=city>\nOslo\n</p>\n<p=days>\n2\n</p>\n</call>",
    ),
    "loose tags": (
        calls("xml-inline", r"<f=(?P<fn>[^>]+)>", "</f>", tag_pattern=r"<p=(?P<key>[^>]+)>\s*(?P<value>.*?)\s*</p>"),
        "<f=f><p=city>  Oslo </p><p=days>\n2\n</p></f>",
    ),
    "braces": (
        calls("json", r"@@call:(?P<fn>\w+)", "@@", unquoted_keys=True, string_delims=[["<q>", "<q>"]]),
        "@@call:f{city:<q>Oslo<q>,days:2}@@",
    ),
    "strings between two marks": (
        calls("json", r"@@call:(?P<fn>\w+)", "@@", unquoted_keys=True, string_delims=[["<q>", "</q>"]]),
        "@@call:f{city:<q>Oslo</q>,days:2}@@",
    ),
    "lines": (calls("kv-lines", r"CALL (?P<fn>\w+)\n", "END", kv_sep="="), "CALL f\ncity=Oslo\ndays=2\nEND"),
    "lines with a colon": (calls("kv-lines", r"<f=(?P<fn>\w+)>\n", "</f>"), "<f=f>\ncity: Oslo\n\ndays: 2\n</f>"),
    "a list of Python calls": (
        calls("python-call-list", "<py>", "</py>", {"function": "{content}"}),
        "<py>[f(city='Oslo', days=2)]</py>",
    ),
    "keyword arguments": (
        calls("xml-inline", r"(?:<py>\[|,\s*)(?P<fn>\w+)\(", ")]</py>", tag_pattern=r"(?P<key>\w+)=(?P<value>[^,)]*)"),
        "<py>[f(city='Oslo', days=2)]</py>",
    ),
}  # fmt: skip
TOOLS = [{"name": "f", "parameters": {"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}]
GIVEN = {"city": "Oslo", "days": 2}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_to_write_calls(way: str):
    given, raw = WAYS[way]
    dialect = compiled(template(given))
    raw = raw % json.dumps(GIVEN) if "%s" in raw else raw
    turn = dragoman.decode(dialect, f"<think>hm</think>\n\n{raw}<|im_end|>", TOOLS, prompt=BEGINS)
    assert turn.reasoning == "hm"
    assert [(call.name, json.loads(call.arguments)) for call in turn.calls] == [("f", GIVEN)]
    again = dragoman.decode(dialect, dragoman.encode(dialect, turn), TOOLS)
    assert json.loads(again.calls[0].arguments) == GIVEN
    assert dump(load(dump(dialect))) == dump(dialect)


def test_what_a_search_for_marks_gets_wrong():
    """The reference cuts at a mark in a string, and fails on a cut call."""
    dialect = compiled(template(WAYS["an object"][0]))
    raw = '<call>{"name": "f", "arguments": {"city": "a</call>b"}}</call>'
    assert json.loads(dragoman.decode(dialect, raw).calls[0].arguments) == {"city": "a</call>b"}
    (cut,) = dragoman.decode(dialect, raw[:40], finish="length").calls
    assert not cut.complete
    both = dragoman.decode(dialect, f"One. {raw} Two.")
    assert both.content.split() == ["One.", "Two."]


def test_a_prompt_that_has_opened_the_thinking():
    dialect = compiled(
        template(thinking={"open_pattern": r"(?=[\s\S]*?</think>)", "close": "</think>"})
        | {"start_anchor": f"{BEGINS}<think>\n"}
    )
    assert (dialect.begins, dialect.reasoning) == (BEGINS, "<think>\n{text}\n</think>")
    assert dragoman.decode(dialect, "hm</think>Hi", prompt=f"{BEGINS}<think>\n").reasoning == "hm"


def test_several_marks():
    dialect = compiled(template(thinking={"open": ["<think>", "[THINK]"], "close": ["</think>", "[/THINK]"]}))
    assert len(dialect.thoughts) == 1
    ends = compiled(template(content={"close_pattern": "<a>|<b>|$"})).ends
    assert ends == ("<a>", "<b>")


def test_a_list_of_objects():
    given = {
        "open": "[CALLS]",
        "content": "json",
        "transform_each": {"function": {"name": "{content.name}", "arguments": "{content.arguments}"}},
    }
    codec = compiled(template(given)).args
    assert isinstance(codec, JsonCall)
    assert codec.listed


def test_messages_with_headers():
    given = {
        "start_anchor": "<|go|>bot",
        "fields": {
            "thinking": {"open": "<|of|>musing<|is|>", "close_pattern": r"<\|over\|>\s*"},
            "content": {"open": "<|of|>reply<|is|>", "close": "<|done|>"},
            "tool_calls": calls("json", r"to=tools\.(?P<fn>\S+?)<\|of\|>work\s+json<\|is\|>", "<|do|>"),
        },
    }
    dialect = compiled(given)
    assert dialect.frame is not None
    raw = '<|of|>musing<|is|>hm<|over|><|go|>bot to=tools.f<|of|>work json<|is|>{"city": "<|over|>"}<|do|>'
    turn = dragoman.decode(dialect, raw, TOOLS, prompt="<|go|>bot")
    assert (turn.reasoning, turn.calls[0].arguments) == ("hm", '{"city": "<|over|>"}')
    assert dragoman.encode(dialect, turn, prompt="<|go|>bot") == raw
    assert dragoman.decode(dialect, "<|of|>reply<|is|>Hi<|done|>", prompt="<|go|>bot").content == "Hi"


def test_learn_takes_it_too():
    assert dragoman.learn(template(WAYS["an object"][0]), name="robin").name == "robin"


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no fields": ({}, "fields"),
    "another field": (template(plan={"open": "<p>"}), "'plan'"),
    "thinking without an end": (template(thinking={"open": "<t>"}), "closes"),
    "calls without a beginning": (template({"close": "x", "content": "json"}), "opens"),
    "another way": (template(calls("csv", "CALL (?P<fn>[a-z]+)", "END")), "'csv'"),
    "any text": (template(content={"close_pattern": r"\w+"}), "any text"),
    "values without marks": (
        template(calls("xml-inline", "<(?P<fn>x)>", "</>", tag_pattern="(?P<key>a):(?P<value>b)")),
        "without marks",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_no_dialect_can_say_is_told(what: str):
    given, word = WRONG[what]
    with pytest.raises(UsageError, match=word):
        compiled(given)
