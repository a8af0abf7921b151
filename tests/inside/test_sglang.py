"""SGLang's plug-in, driven as SGLang drives one; against the installed package if it is there, else against a stand-in."""

from __future__ import annotations

import importlib
import sys

import enginestandins
import pytest

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
RAW = f"<think>\nhm\n</think>\n\nOk. {CALL}\n{CALL.replace('1', '2')}"
TOOLS = [
    {"type": "function", "function": {"name": "g", "parameters": {}}},
    {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
]


@pytest.fixture
def plugin(monkeypatch):
    if enginestandins.missing("sglang"):
        for name, module in enginestandins.sglang().items():
            monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "dragoman.inside.sglang", raising=False)
    module = importlib.import_module("dragoman.inside.sglang")
    module.register()
    module.register()
    yield module
    sys.modules.pop("dragoman.inside.sglang", None)


def made(plugin, name: str = "dragoman-hermes-json", **fields):
    return plugin.ReasoningParser.DetectorMap[name](**fields), plugin.FunctionCallParser.ToolCallParserEnum[name]()


def test_the_names_are_offered_once(plugin):
    for names in (plugin.TOOL_CALL_PARSER_NAMES, plugin.REASONING_PARSER_NAMES):
        assert names.count("dragoman-hermes-json") == 1
        assert len(names) > 40


@pytest.mark.parametrize("size", [1, 3, 11, 1000])
def test_a_stream(plugin, size: int):
    thoughts, calls = made(plugin, stream_reasoning=True, tool_call_parser_active=True)
    pieces = [RAW[at : at + size] for at in range(0, len(RAW), size)]
    answer = enginestandins.stream_sglang(thoughts, calls, pieces, TOOLS)
    assert (answer.reasoning.strip(), answer.content.strip()) == ("hm", "Ok.")
    assert answer.calls == [["f", '{"a": 1}'], ["f", '{"a": 2}']]
    assert (
        calls.streamed_args_for_tool
        == [call["arguments"] for call in calls.prev_tool_call_arr]
        == ['{"a": 1}', '{"a": 2}']
    )


def test_thinking_that_the_prompt_has_opened(plugin):
    answer = enginestandins.stream_sglang(*made(plugin, force_reasoning=True), list("hm</think>Hi"), TOOLS)
    assert (answer.reasoning, answer.content) == ("hm", "Hi")


def test_an_answer_that_goes_on(plugin):
    fields = {"continue_final_message": True, "previous_content": "<think>so"}
    answer = enginestandins.stream_sglang(*made(plugin, **fields), list(" hm</think>Hi"), TOOLS)
    assert (answer.reasoning.strip(), answer.content) == ("hm", "Hi")


def test_what_was_held_at_the_end(plugin):
    answer = enginestandins.stream_sglang(*made(plugin), list("Hi <tool"), TOOLS)
    assert answer.content == "Hi <tool"


def test_a_whole_answer(plugin):
    thoughts, calls = made(plugin)
    split = thoughts.detect_and_parse(RAW)
    assert split.reasoning_text.strip() == "hm"
    found = calls.detect_and_parse(split.normal_text, TOOLS)
    assert [(call.tool_index, call.name, call.parameters) for call in found.calls] == [
        (1, "f", '{"a": 1}'),
        (1, "f", '{"a": 2}'),
    ]
    assert found.normal_text == "Ok."


def test_whether_a_call_may_be_there(plugin):
    _, calls = made(plugin)
    assert calls.has_tool_call(RAW)
    assert not calls.has_tool_call("Hi")
    assert plugin.FunctionCallParser.ToolCallParserEnum["dragoman-llama3-json"]().has_tool_call("Hi")


def test_forced_calls(plugin):
    _, calls = made(plugin)
    info = calls.structure_info()("f")
    assert calls.supports_structural_tag()
    assert (info.begin, info.end, info.trigger) == (
        '<tool_call>\n{"name": "f", "arguments": ',
        "}\n</tool_call>",
        "<tool_call>",
    )
    assert not plugin.FunctionCallParser.ToolCallParserEnum["dragoman-qwen3-coder-xml"]().supports_structural_tag()


def test_an_answer_in_marks_of_its_own(plugin):
    raw = "<think>\nhm\n</think>\n<answer>\nIt rains.\n</answer>"
    thoughts, calls = made(plugin, "dragoman-hunyuan-a13b", tool_call_parser_active=True)
    text = thoughts.detect_and_parse(raw).normal_text
    assert calls.has_tool_call(text)
    assert calls.detect_and_parse(text, TOOLS).normal_text.strip() == "It rains."


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_without_tools_nobody_else_takes_the_marks_off(plugin, size: int):
    raw = "<think>\nhm\n</think>\n<answer>\nIt rains.\n</answer>"
    thoughts, _ = made(plugin, "dragoman-hunyuan-a13b")
    parts = [thoughts.parse_streaming_increment(raw[at : at + size]) for at in range(0, len(raw), size)]
    parts.append(thoughts.finish())
    assert "".join(part.normal_text for part in parts).strip() == "It rains."
    assert "".join(part.reasoning_text for part in parts).strip() == "hm"
