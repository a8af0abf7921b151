"""A turn back to text, or a refusal."""

from __future__ import annotations

import json

import pytest

from dragoman import api
from dragoman.dialects.gemma import GEMMA4
from dragoman.dialects.harmony import HARMONY
from dragoman.dialects.hermes import HERMES
from dragoman.dialects.qwen import QWEN3_CODER
from dragoman.errors import UsageError
from dragoman.messages import Call, Reasoning, Text, Tool, Turn
from dragoman.syntax.codecs.json import JsonObject
from dragoman.syntax.codecs.python import Python
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.encode import encode

CALL = Call("f", '{"a": "x", "n": [1, null]}')
TURN = Turn((Reasoning("hm"), Text("Text."), CALL))


WRITTEN = {
    HERMES: """\
<think>
hm
</think>

Text.
<tool_call>
{"name": "f", "arguments": {"a": "x", "n": [1, null]}}
</tool_call>""",
    QWEN3_CODER: """\
<think>
hm
</think>

Text.

<tool_call>
<function=f>
<parameter=a>
x
</parameter>
<parameter=n>
[1, null]
</parameter>
</function>
</tool_call>""",
    GEMMA4: """\
<|channel>thought
hm
<channel|>Text.<|tool_call>call:f{a:<|"|>x<|"|>,n:[1,null]}<tool_call|>""",
    HARMONY: """\
<|channel|>analysis<|message|>hm<|end|>\
<|start|>assistant<|channel|>final<|message|>Text.<|end|>\
<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": "x", "n": [1, null]}<|call|>""",
}


@pytest.mark.parametrize("dialect", WRITTEN, ids=lambda dialect: dialect.name)
def test_a_turn_is_written_as_its_models_write_it(dialect: Dialect):
    assert encode(dialect, TURN) == WRITTEN[dialect]


@pytest.mark.parametrize("name", api.names())
@pytest.mark.parametrize(
    "parts",
    [
        (),
        (Text("Text."),),
        (Text(" \n verbatim \n"),),
        (Reasoning("a"), Text("b")),
        (CALL,),
        (CALL, CALL),
        (Reasoning("a"), CALL, Call("g", "{}")),
        (Text("a"), CALL, Text("b")),
        (Call("f", '{"deep": {"a": [[], {}, {"b": "\\n\\"q\\" \\\\ <end>"}]}, "e": "", "t": true, "u": "é😀"}'),),
    ],
)
def test_what_is_written_reads_back(name: str, parts: tuple):
    dialect, called = api.get(name), [part for part in parts if isinstance(part, Call)]
    bare = dialect.gated or dialect.call.startswith("{")
    try:
        raw = api.encode(name, Turn(parts))
    except UsageError:
        spaced = (dialect.frame is not None or bool(dialect.content)) and parts == (Text(" \n verbatim \n"),)
        thought = any(isinstance(part, Reasoning) for part in parts) and not dialect.reasoning
        assert spaced or thought or (called and not dialect.forms) or (bare and isinstance(parts[0], Text))
        return
    back = api.decode(name, raw, [Tool(call.name) for call in called] if bare else None)
    assert back.content.strip() == Turn(parts).content.strip()
    assert [(c.name, json.loads(c.arguments)) for c in back.calls] == [
        (c.name, json.loads(c.arguments)) for c in Turn(parts).calls
    ]


@pytest.mark.parametrize("name", [name for name in api.names() if api.get(name).forms])
def test_strings_that_look_like_something_else_read_back_by_their_schema(name: str):
    kinds = {"n": "number", "s": "string", "l": "string"}
    tool = Tool("f", parameters={"properties": {key: {"type": kind} for key, kind in kinds.items()}})
    raw = api.encode(name, Turn((Call("f", '{"n": -1.5e3, "s": "12", "l": "null"}'),)))
    assert json.loads(api.decode(name, raw, [tool]).calls[0].arguments) == {"n": -1500, "s": "12", "l": "null"}


@pytest.mark.parametrize("arguments", ["", "[1]", "1", '{"a": 1', "not JSON", "[" * 100_000])
def test_arguments_that_are_no_object_are_refused(arguments: str):
    with pytest.raises(UsageError, match="the arguments of 'f' are no JSON object") as caught:
        encode(HERMES, Turn((Call("f", arguments),)))
    assert len(str(caught.value)) < 300


def test_a_cut_call_is_refused():
    with pytest.raises(UsageError, match="would read back as another one"):
        encode(HERMES, Turn((Call("f", "{}", complete=False),)))


@pytest.mark.parametrize(
    "part",
    [
        Text("a <|im_end|> b"),
        Text("a <think> b"),
        Text('<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'),
        Text('{"name": "f", "arguments": {}}'),
        Text("f(a=1)"),
        Reasoning("a </think> b"),
        Reasoning(" padded "),
        Reasoning(""),
    ],
)
def test_text_that_would_read_as_something_else_is_refused(part: Text | Reasoning):
    with pytest.raises(UsageError, match="cannot be written in hermes-json"):
        encode(HERMES, Turn((part,)))


def test_a_value_that_holds_its_own_mark_is_refused():
    with pytest.raises(UsageError):
        encode(GEMMA4, Turn((Call("f", json.dumps({"a": 'x<|"|>y'})),)))
    with pytest.raises(UsageError):
        encode(QWEN3_CODER, Turn((Call("f", json.dumps({"a": "x\n</parameter>\n</function>\n</tool_call>"})),)))


def test_a_name_that_is_none_is_refused():
    with pytest.raises(UsageError):
        encode(QWEN3_CODER, Turn((Call("a name", "{}"),)))


def test_a_prompt_that_opened_reasoning_is_kept_in_mind():
    prompt = "<|im_start|>assistant\n<think>\n"
    with pytest.raises(UsageError):
        encode(HERMES, Turn((Text("a"),)), prompt=prompt)
    assert encode(HERMES, Turn((Text("a"),)), prompt=prompt + "\n</think>\n\n") == "a"


def test_ids_are_written_where_the_dialect_has_a_place_for_them():
    dialect = Dialect("x", "<c>{name}<id>{id}<a>{args}</c>", JsonObject())
    assert encode(dialect, Turn((Call("f", "{}", id="7"),))) == "<c>f<id>7<a>{}</c>"


def test_a_pythonic_call_is_written_with_its_keywords():
    dialect = Dialect("x", "<c>[{call}]</c>", Python())
    turn = Turn((Call("f", '{"a": "it\'s", "b": [true, null, {"c": 1.5}]}'),))
    assert encode(dialect, turn) == """<c>[f(a="it's", b=[True, None, {"c": 1.5}])]</c>"""


def test_each_phase_has_its_template():
    turn = Turn((Text("Let me look.", "commentary"), Text("Done.", "final")))
    assert encode(HARMONY, turn) == (
        "<|channel|>commentary<|message|>Let me look.<|end|><|start|>assistant<|channel|>final<|message|>Done.<|end|>"
    )
