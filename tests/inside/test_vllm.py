"""vLLM's plug-in, driven as vLLM drives one; against the installed package if it is there, else against a stand-in."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import enginestandins
import pytest

from dragoman import api
from dragoman.errors import UsageError

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
RAW = f"<think>\nhm\n</think>\n\nOk. {CALL}\n{CALL.replace('1', '2')}"
TOOL = {"type": "function", "function": {"name": "f", "description": "", "parameters": {"type": "object"}}}


@pytest.fixture
def plugin(monkeypatch):
    if enginestandins.missing("vllm"):
        for name, module in enginestandins.vllm().items():
            monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "dragoman.inside.vllm", raising=False)
    module = importlib.import_module("dragoman.inside.vllm")
    module.register()
    yield module
    sys.modules.pop("dragoman.inside.vllm", None)


def request(choice="auto", **fields):
    values = {"tools": [TOOL], "tool_choice": choice, "skip_special_tokens": True, "parallel_tool_calls": True}
    return SimpleNamespace(**{"structured_outputs": None, **values, **fields})


def made(plugin, name: str = "dragoman-hermes-json", tokenizer=None):
    tokenizer = tokenizer or enginestandins.Letters()
    thoughts = plugin.ReasoningParserManager.get_reasoning_parser(name)(tokenizer)
    return thoughts, plugin.ToolParserManager.get_tool_parser(name)(tokenizer)


@pytest.mark.parametrize("size", [1, 3, 11, 1000])
def test_a_stream(plugin, size: int):
    pieces = [RAW[at : at + size] for at in range(0, len(RAW), size)]
    answer = enginestandins.stream_vllm(*made(plugin), pieces, [], request())
    assert (answer.reasoning.strip(), answer.content.strip()) == ("hm", "Ok.")
    assert answer.calls == [["f", '{"a": 1}'], ["f", '{"a": 2}']]


def test_the_prompt_decides_where_it_begins(plugin):
    prompt = list(map(ord, "<|im_start|>assistant\n<think>\n"))
    answer = enginestandins.stream_vllm(*made(plugin), list("hm</think>Hi"), prompt, request())
    assert (answer.reasoning, answer.content) == ("hm", "Hi")
    closed = list(map(ord, "<|im_start|>assistant\n<think>\n\n</think>\n\n"))
    answer = enginestandins.stream_vllm(*made(plugin), list("Hi"), closed, request())
    assert (answer.reasoning, answer.content) == ("", "Hi")


def test_an_end_in_the_middle_gives_all_that_was_held(plugin):
    answer = enginestandins.stream_vllm(*made(plugin), list("Hi <tool"), [], request())
    assert answer.content == "Hi <tool"
    answer = enginestandins.stream_vllm(*made(plugin), list("<think>hm </thi"), [], request())
    assert answer.reasoning.startswith("hm")


def test_calls_without_a_reasoning_parser(plugin):
    answer = enginestandins.stream_vllm(None, made(plugin)[1], [RAW], [], request())
    assert (answer.reasoning.strip(), len(answer.calls)) == ("hm", 2)


def test_a_whole_answer(plugin):
    thoughts, calls = made(plugin)
    thought, rest = thoughts.extract_reasoning(RAW, request())
    assert (thought.strip(), rest[:3]) == ("hm", "Ok.")
    found = calls.extract_tool_calls(rest, request())
    assert found.tools_called
    assert [call.function.arguments for call in found.tool_calls] == ['{"a": 1}', '{"a": 2}']
    assert all(call.id and call.type == "function" for call in found.tool_calls)
    assert found.content == "Ok."
    assert not calls.extract_tool_calls("Hi", request()).tools_called
    assert thoughts.extract_reasoning("Hi", request()) == (None, "Hi")


def test_a_cut_call_is_never_run(plugin):
    assert not made(plugin)[1].extract_tool_calls(CALL[:30], request()).tools_called


def test_no_calls_where_none_are_wanted(plugin):
    found = made(plugin)[1].extract_tool_calls(CALL, request("none"))
    assert (found.tools_called, found.content) == (False, CALL)


def test_marks_stay_in_the_text(plugin):
    thoughts, calls = made(plugin)
    assert thoughts.adjust_request(request()).skip_special_tokens is False
    assert calls.adjust_request(request()).skip_special_tokens is False
    assert calls.adjust_request(request(tools=None)).skip_special_tokens is True


def test_a_forced_call_is_held_by_our_grammar(plugin):
    _, calls = made(plugin)
    assert calls.supports_required_and_named is False
    assert calls.adjust_request(request()).structured_outputs is None
    for choice in ("required", SimpleNamespace(function=SimpleNamespace(name="f")), SimpleNamespace(name="f")):
        assert '"structural_tag"' in calls.adjust_request(request(choice)).structured_outputs.structural_tag
    own = SimpleNamespace(structural_tag="theirs")
    assert calls.adjust_request(request("required", structured_outputs=own)).structured_outputs is own


def test_whether_the_thinking_is_over(plugin):
    thoughts, _ = made(plugin)
    ids = [list(map(ord, text)) for text in ("<think>hm", "<think>hm</think>", "Hi")]
    assert [thoughts.is_reasoning_end(one) for one in ids] == [False, True, False]
    assert thoughts.is_reasoning_end_streaming(ids[1], ids[1])
    assert (thoughts.reasoning_start_str, thoughts.reasoning_end_str) == ("<think>", "</think>")


def test_ids_behind_the_thinking(plugin):
    tokenizer = enginestandins.Letters(("</think>",))
    thoughts, _ = made(plugin, tokenizer=tokenizer)
    assert thoughts.extract_content_ids(tokenizer.encode("a</think>bc")) == [ord("b"), ord("c")]
    assert thoughts.extract_content_ids([1, 2]) == [1, 2]


def test_the_dialect_is_found_by_the_tokenizer(plugin):
    marks = api.get("kimi-k2").special
    thoughts, calls = made(plugin, "dragoman", enginestandins.Letters(marks))
    assert {thoughts.speaks.name, calls.speaks.name} == {"kimi-k2"}
    template = enginestandins.Letters((), "<tool_call> <function= <parameter= ")
    assert made(plugin, "dragoman", template)[1].speaks.name == "qwen3-coder-xml"
    with pytest.raises(UsageError, match="dragoman-NAME"):
        made(plugin, "dragoman")


def test_a_version_that_has_moved_everything(plugin, monkeypatch):
    monkeypatch.setattr(plugin, "_PLACES", ())
    with pytest.raises(UsageError, match="DeltaMessage"):
        made(plugin)[1].extract_tool_calls_streaming("", "Hi", "Hi", [], [], [], request())
