"""Learning from what is on this machine: a template's text, a folder, a GGUF file."""

from __future__ import annotations

import json

import chat_templates
import pytest

from dragoman import api
from dragoman.engines.gguf import Metadata
from dragoman.engines.lessons import fitting, lesson, metadata, renderer
from dragoman.errors import EngineError, UsageError

CALL = "<tool_call>\n{call}\n</tool_call>"


def test_a_file_with_a_template(tmp_path):
    file = tmp_path / "robin.jinja"
    file.write_text(chat_templates.TOOLS, "utf-8")
    known = metadata(file)
    learnt = lesson(known)
    assert (known.name, learnt.dialect.name, learnt.dialect.call) == ("robin", "robin", CALL)
    assert learnt.unread == ()
    assert learnt.dialect.reasoning == "<think>\n{text}\n</think>\n\n"


def test_a_folder_knows_its_end_and_its_special_tokens(tmp_path):
    config = {
        "chat_template": chat_templates.TOOLS,
        "eos_token": "<|im_end|>",
        "added_tokens_decoder": {"1": {"content": "<|im_end|>"}, "2": {"content": "<tool_call>"}},
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    for place in (tmp_path, tmp_path / "tokenizer_config.json"):
        assert lesson(metadata(place)).dialect.special == ("<tool_call>", "<|im_end|>")


def test_arguments_as_text_with_short_ids(tmp_path):
    learnt = lesson(Metadata(template=chat_templates.SHORT, eos="</s>"))
    assert learnt.dialect.call
    turn = api.decode(learnt.dialect, api.encode(learnt.dialect, api.decode(learnt.dialect, "Hi")))
    assert turn.content == "Hi"


@pytest.mark.parametrize("name", ["CHATML", "STRICT"])
def test_templates_without_calls(name: str):
    learnt = lesson(Metadata(template=getattr(chat_templates, name), eos="</s>"))
    assert learnt.dialect.call == ""
    assert learnt.dialect.begins


def test_no_template():
    with pytest.raises(UsageError, match="no chat template"):
        lesson(Metadata(name="robin"))


def test_a_broken_template():
    with pytest.raises(EngineError, match="does not parse"):
        lesson(Metadata(template="{% if %}"))


def test_a_place_that_is_none(tmp_path):
    with pytest.raises(UsageError, match="nowhere"):
        metadata(tmp_path / "nowhere.jinja")


def test_the_renderer_gives_every_flag_on():
    render = renderer(
        Metadata(template="{{ bos_token }}{{ messages[0].content }}{{ tools }}{{ odd }}{{ eos_token }}", bos="<s>")
    )
    assert render([{"role": "user", "content": "x"}], None, odd=1) == "<s>xNone1"


RESPONSE = {
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "reasoning_content": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "content": "json",
            "transform": {"function": "{content}"},
        },
        "content": {"close": "<|im_end|>"},
    },
}


def test_a_models_own_word_counts_where_it_is_true(tmp_path):
    config = {"chat_template": chat_templates.TOOLS, "response_template": RESPONSE}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    learnt = lesson(metadata(tmp_path))
    assert (learnt.found, learnt.unread) == ({"all": "its own response_template"}, ())
    assert lesson(Metadata(response_template=RESPONSE)).dialect.call == "<tool_call>{call}</tool_call>"


def test_its_older_word_takes_from_the_template_how_a_turn_begins(tmp_path):
    calls = {
        "x-regex-iterator": r"<tool_call>\s*(.+?)\s*</tool_call>",
        "items": {"x-parser": "json", "x-parser-args": {"transform": "{type: 'function', function: @}"}},
    }
    whole = r"^(?:<think>\n?(?P<thinking>.*?)\n?</think>\s*)?(?P<content>.*?)(?P<tool_calls>(?:<tool_call>.*)?)$"
    schema = {"x-regex": whole, "properties": {"content": {}, "thinking": {}, "tool_calls": calls}}
    config = {"chat_template": chat_templates.TOOLS, "response_schema": schema}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    learnt = lesson(metadata(tmp_path))
    assert (learnt.found, learnt.unread) == ({"all": "its own response_template"}, ())
    assert learnt.dialect.begins == "<|im_start|>assistant\n"
    assert learnt.dialect.ends == ("<|im_end|>", "<|im_start|>")


def test_a_models_own_word_is_held_against_its_template():
    other = json.loads(json.dumps(RESPONSE).replace("tool_call>", "call>"))
    learnt = lesson(Metadata(template=chat_templates.TOOLS, response_template=other))
    assert learnt.dialect.call == CALL
    broken = {"fields": {"odd": {}}}
    assert lesson(Metadata(template=chat_templates.TOOLS, response_template=broken)).dialect.call == CALL


ODD = (
    chat_templates.TOOLS.replace("<tool_call>", "<odd>")
    .replace("</tool_call>", "</odd>")
    .replace("<think>", "<muse>")
    .replace("</think>", "</muse>")
)


def test_a_dialect_that_reads_the_models_own_template_stays():
    hermes = api.get("hermes-json")
    assert fitting(Metadata(template=chat_templates.TOOLS), hermes, "as it is") == (hermes, "as it is")


def test_a_dialect_that_does_not_gives_way_to_the_one_learnt():
    for other in (api.get("gemma4"), None):
        dialect, why = fitting(Metadata("robin", ODD), other, "by its name")
        assert (dialect.name, dialect.call) == ("robin", "<odd>\n{call}\n</odd>")
        assert why.startswith("learnt from its chat template: 19 of 19")


def test_nothing_better_is_to_be_had():
    gemma = api.get("gemma4")
    for template in ("", "{{ messages }}", "{% if %}", chat_templates.CHATML):
        assert fitting(Metadata(template=template), gemma, "why") == (gemma, "why")
