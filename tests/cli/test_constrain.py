import json

import pytest
from grammars import lark_error
from llguidance.gbnf_to_lark import gbnf_to_lark
from xgrammars import judge

import dragoman

WEATHER = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS = json.dumps([WEATHER, {"name": "ping"}])


def test_it_prints_what_the_library_makes(cli):
    ran = cli("constrain", "-d", "hermes", "--tools", TOOLS)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == dragoman.constrain("hermes", json.loads(TOOLS))
    assert lark_error(gbnf_to_lark(ran.out)) == ""


def test_every_form_is_read_by_its_engine(cli):
    words = ("constrain", "-d", "hermes", "--tools", TOOLS, "--choice", "required", "--format")
    assert lark_error(cli(*words, "lark").out) == ""
    assert judge(cli(*words, "structural_tag").out)
    document = cli("constrain", "-d", "xlam", "--tools", TOOLS, "--choice", "ping", "--format", "json_schema")
    assert json.loads(document.out)["items"]["properties"]["name"] == {"const": "ping"}


def test_tools_come_from_a_file_a_request_or_standard_input(cli, tmp_path):
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"model": "m", "tools": [{"type": "function", "function": WEATHER}]}), "utf-8")
    from_file = cli("constrain", "-d", "gemma4", "--tools", file, "--choice", "get_weather")
    piped = cli(
        "constrain", "-d", "gemma4", "--tools", "-", "--choice", "required", "--single", stdin=file.read_bytes()
    )
    assert from_file.status == piped.status == 0
    assert from_file.out == piped.out


def test_the_turn_is_as_told(cli):
    words = ("constrain", "-d", "qwen35-xml", "--tools", TOOLS, "--choice", "ping")
    assert "thoughts" in cli(*words).out
    assert "thoughts" not in cli(*words, "--no-reasoning").out
    assert cli(*words, "--prompt", "<|im_start|>assistant\n<think>\n").out.startswith("root ::= thoughts")
    assert "<[7]>" in cli(*words, "--specials", '{"<tool_call>": 7}').out
    answer = cli(
        "constrain", "-d", "qwen35-xml", "--choice", "none", "--schema", '{"enum": ["yes", "no"]}', "--no-reasoning"
    )
    assert answer.out == 'root ::= "\\"yes\\"" | "\\"no\\""\n'


def test_what_is_not_enforced_is_told(cli):
    odd = json.dumps([{"name": "f", "parameters": {"properties": {"x": {"type": "integer", "multipleOf": 3}}}}])
    ran = cli("constrain", "-d", "hermes", "--tools", odd)
    assert ran.status == 0
    assert ran.err == "note: f: #/properties/x/multipleOf is not enforced\n"
    assert "note" not in ran.out
    assert cli("constrain", "-d", "xlam", "--tools", odd, "--choice", "f", "--format", "json_schema").err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-d", "hermse"], "did you mean hermes"),
        (["-d", "hermes", "--choice", "required"], "needs a tool; on offer: none"),
        (["-d", "hermes", "--tools", TOOLS, "--choice", "nope"], "no tool is named 'nope'; on offer: "),
        (["-d", "hermes", "--tools", "[1]"], "a list of tools is expected"),
        (["-d", "hermes", "--tools", "no-such-file"], "cannot read no-such-file"),
        (["-d", "hermes", "--tools", TOOLS, "--format", "ebnf"], '"structural_tag"'),
        (["-d", "hermes", "--tools", TOOLS, "--choice", "ping", "--format", "json_schema"], "use another form"),
        (["-d", "hermes", "--schema", "[1]"], "--schema: a JSON object is expected"),
        (["-d", "hermes", "--specials", '{"<a>": "1"}'], "--specials: each mark needs the number of its token"),
        (["-d", "hermes", "--tools", '[{"name": "f", "parameters": {"properties": {"a": false}, "required": ["a"]}}]', "--choice", "f"], "admit no arguments"),
        ([], "--dialect requires an argument"),
    ],
)  # fmt: skip
def test_mistakes(cli, words, said):
    ran = cli("constrain", *words)
    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
