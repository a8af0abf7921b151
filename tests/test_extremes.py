"""What no model should write: nesting without end, marks that begin one another, everything left open."""

from __future__ import annotations

import json
import re

import pytest
from garble import JSON, PLACES, TOOLS, cut_up, kinds, marks_of, soup
from hypothesis import given
from hypothesis import strategies as st
from scenes import LONG, examples, in_order, said_after_each_character, tiles
from streams import Setting, merge, numbered, play, singly, turn_of

from dragoman import api
from dragoman.errors import UsageError
from dragoman.events import CallArgs, CallStart, Notice
from dragoman.messages import Call, Turn
from dragoman.syntax.codecs.json_call import JsonCall
from dragoman.syntax.dialect import Dialect

DEEP = 10_000
BRACKETS = ("[", "{", "(", '{"a":', '[{"a":', '{"a":[', "{a:", "[[1],", "{'a':", "<", "</", "```\n", '"', "\\")

QUOTED = re.compile("""<[^<]*>@<[^<]*>|"@"|'@'""")

CALLERS = [name for name in (api.names() if LONG else kinds(api.names())) if api.get(name).call]

for_each = pytest.mark.parametrize("name", CALLERS)
for_all = pytest.mark.parametrize("name", api.names())


def holes(name: str) -> dict[str, str]:
    """Where the nonsense goes: a turn of the dialect with @ in each place."""
    dialect = api.get(name)
    places = {"content": "@", "begun": dialect.begins + "@", "reasoning": dialect.reasoning.split("{text}")[0] + "@"}
    arguments = {
        "string": {"path": "@"},
        "list": {"path": "a", "list": ["@"]},
        "object": {"path": "a", "obj": {"k": "@"}},
    }
    for place, value in arguments.items():
        written = api.encode(name, Turn((Call("put", json.dumps(value)),), "tool_calls"), prompt=dialect.begins)
        places[place] = written
        places[f"bare {place}"] = re.sub(QUOTED, "@", written)
        places[f"open {place}"] = written[: written.index("@") + 1]
    return places


@for_each
@pytest.mark.parametrize("bracket", BRACKETS)
def test_p1_p5_deep_nesting(name: str, bracket: str):
    dialect = api.get(name)
    for template in holes(name).values():
        raw = template.replace("@", bracket * DEEP, 1)
        for pieces in ([(raw, False)], [(raw[i : i + 999], False) for i in range(0, len(raw), 999)]):
            in_order(play(Setting(dialect, TOOLS), pieces, "length"), "length")


@for_each
def test_p5_p8_marks_without_end(name: str):
    dialect = api.get(name)
    for mark in marks_of(dialect):
        for template in holes(name).values():
            raw = template.replace("@", mark * 60, 1)
            spans: list[tuple[int, int, str]] = []
            events = play(Setting(dialect, TOOLS), [(raw, False)], "stop", spans)
            in_order(events, "stop")
            tiles(raw, spans, events)


@for_each
@pytest.mark.parametrize("depth", [50, 70, 500])
def test_nesting_beyond_the_limit_leaves_a_notice(name: str, depth: int):
    dialect = api.get(name)
    raw = holes(name)["bare list"].replace("@", "[" * depth + "]" * depth, 1)
    events = play(Setting(dialect, TOOLS, dialect.begins), [(raw, False)])
    in_order(events, "stop")
    calls = turn_of(events).calls
    noticed = {event.code for event in events if isinstance(event, Notice)} - {"recovered"}
    valid = bool(calls) and all(call.complete and call.valid for call in calls)
    assert (valid and not noticed) if depth < 64 else (valid or noticed or turn_of(events).content == raw)


@for_each
def test_a_name_without_end_is_no_name(name: str):
    dialect = api.get(name)
    try:
        raw = api.encode(name, Turn((Call("n" * 5000, "{}"),), "tool_calls"), prompt=dialect.begins)
    except UsageError:
        return
    events = play(Setting(dialect, None, dialect.begins), [(raw, False)])
    in_order(events, "stop")
    assert any(isinstance(event, Notice) for event in events)


@pytest.mark.parametrize(
    "name", [n for n in CALLERS if api.get(n).reasoning and api.get(n).call[0] in "<[" and not api.get(n).frame]
)
def test_p4_a_call_in_open_reasoning_waits_for_32_kib_at_most(name: str):
    """A file written while the reasoning was never closed: it becomes a call at the latest then."""
    dialect = api.get(name)
    opening = dialect.begins + dialect.reasoning.split("{text}")[0]
    before = holes(name)["open string"].removesuffix("@")
    parser = Setting(dialect, TOOLS, opening).parser()
    said = [event for piece in ("Go.\n", before) for event in parser.feed(piece)]
    assert not any(isinstance(event, CallStart) for event in said)
    fed = 0
    while not any(isinstance(event, CallStart) for event in said):
        said += parser.feed("some text ")
        fed += 10
        assert fed <= 32 * 1024 + 100
    assert fed > 30 * 1024
    text = "".join(event.json for event in said if isinstance(event, CallArgs))
    assert text.endswith(("some text ", "some text"))


# --- marks that begin one another

WORDS = Dialect(
    "words", call="CALL{call}END", args=JsonCall(), reasoning="CALLED{text}ENDED", ends=("ENDING", "E"), begins="BEGIN"
)
TAGS = Dialect("tags", call="<a>{call}</a>", args=JsonCall(), reasoning="<a>b{text}</a>b", ends=("</a>bc", "<a"))
BARS = Dialect("bars", call="<|x|>{call}<|y|>", args=JsonCall(), reasoning="<|x|>z{text}<|y|>z", ends=("<|x", "<|y||>"))
PAIRS = (WORDS, TAGS, BARS)


@pytest.mark.parametrize("dialect", PAIRS, ids=lambda dialect: dialect.name)
def test_p2_marks_that_begin_one_another(dialect: Dialect):
    @examples(3)
    @given(soup(dialect, 10), st.booleans(), st.sampled_from((TOOLS, None, ())), PLACES)
    def check(raw, special, tools, places):
        made = Setting(dialect, tools, "", numbered(marks_of(dialect)) if special else None)
        said = said_after_each_character(made, [(raw, False)])
        parser, events, at = made.parser(), [], 0
        for text, _ in cut_up([(raw, False)], places):
            events += parser.feed(text)
            at += len(text)
            assert merge(events) == said[at], (raw, at)
        spans: list[tuple[int, int, str]] = []
        assert merge(events + parser.close()) == merge(play(made, singly([(raw, False)]), "stop", spans))

    check()


@pytest.mark.parametrize("dialect", PAIRS, ids=lambda dialect: dialect.name)
def test_p2_every_order_of_marks_that_begin_one_another(dialect: Dialect):
    marks = (*marks_of(dialect), '{"name": "ping"}', "x", " ")
    made = Setting(dialect, TOOLS)
    for first in marks:
        for second in marks:
            for third in marks:
                raw = first + second + third
                assert merge(play(made, [(raw, False)])) == merge(play(made, singly([(raw, False)]))), raw


@for_each
def test_p1_lone_surrogates_everywhere(name: str):
    dialect = api.get(name)
    for template in holes(name).values():
        for odd in ("\ud800", "\udfff\ud800", "\ud83d", "\0", "\ufeff"):
            raw = template.replace("@", odd, 1)
            assert merge(play(Setting(dialect, TOOLS), singly([(raw, False)]))) == merge(
                play(Setting(dialect, TOOLS), [(raw, False)])
            )


@for_all
def test_p2_fragments_of_json_at_the_beginning(name: str):
    """Where recovery begins, every pair of fragments, whole and singly."""
    made = Setting(api.get(name), TOOLS)
    for first in JSON:
        for second in JSON:
            raw = first + second
            assert merge(play(made, [(raw, False)])) == merge(play(made, singly([(raw, False)]))), raw
