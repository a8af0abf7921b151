"""Detection: by the marks that are there, the most of them first."""

from __future__ import annotations

import pytest

from dragoman import api
from dragoman.dialects.detect import detections
from dragoman.syntax.codecs.header import Header
from dragoman.syntax.codecs.json import JsonObject
from dragoman.syntax.codecs.json_call import JsonCall
from dragoman.syntax.codecs.params import Params
from dragoman.syntax.dialect import Dialect

JSON = Dialect("json", "<call>{call}</call>", JsonCall(), signs=("<call>",), special=("<call>", "</call>"))
TAGS = Dialect(
    "tags", "<call><f={name}>{args}</f></call>", Params("<p={key}>{value}</p>"), reasoning="<think>{text}</think>",
    signs=("<call>", "<f="),
)  # fmt: skip
FRAMED = Dialect(
    "framed", "<c>x to={name}<m>{args}</s>", JsonObject(), reasoning="<c>t<m>{text}</s>",
    frame=Header("<s>", "me", "<c>", "<m>", (), ("</s>",), {"t": ("reasoning", "")}),
)  # fmt: skip
MUTE = Dialect("mute")
ALL = (MUTE, JSON, TAGS, FRAMED)


def found(template: str = "", vocab=None, text: str = "") -> list[str]:
    return [name for name, _ in detections(ALL, template, vocab, text)]


def test_a_template_tells_by_all_its_signs():
    assert found("... <call> ...") == ["json"]
    assert found("... <call> <f= ...") == ["tags", "json"]
    assert found("nothing") == []


def test_a_vocabulary_tells_by_the_special_marks():
    assert found(vocab={"<call>", "</call>", "a"}) == ["json"]
    assert found(vocab={"<call>"}) == []
    assert found(vocab=frozenset()) == []


def test_a_text_tells_by_how_calls_and_reasoning_begin():
    assert found(text='Hm. <call>{"name": ') == ["json"]
    assert found(text="<call>\n<f=x>") == ["tags"]
    assert found(text="<think>hm") == ["tags"]
    assert found(text="<c>t<m>hm") == ["framed"]
    assert found(text="Hello") == []


def test_a_reason_says_what_was_found_where():
    assert detections(ALL, "<call> <f=", None, "")[0] == ("tags", "the chat template has <call> and <f=")
    assert detections(ALL, "", {"<call>", "</call>"}, "") == [("json", "the vocabulary has <call> and </call>")]
    assert detections(ALL, "", None, "<think>") == [("tags", "the text has <think>")]


def test_each_dialect_is_named_once_with_its_best_reason():
    assert detections(ALL, "<call>", {"<call>", "</call>"}, "") == [("json", "the vocabulary has <call> and </call>")]


def test_nothing_at_all_is_no_dialect():
    assert found() == []
    assert api.detect() is None


TEXTS = {
    "hermes-json": '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
    "gemma4": '<|tool_call>call:f{a:<|"|>x<|"|>}<tool_call|>',
    "harmony": "<|channel|>analysis<|message|>hm<|end|>",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_sample_of_output_tells_its_dialect(name: str):
    assert api.detect(text=TEXTS[name]) == name


def test_tags_are_told_from_json():
    best = api.detect(text="<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>")
    assert best in ("qwen3-coder-xml", "qwen35-xml")


@pytest.mark.parametrize("name", [name for name in api.names() if api.get(name).signs])
def test_every_dialect_is_found_by_its_own_signs(name: str):
    assert name in dict(api.detections(" ".join(api.get(name).signs)))
    assert api.detect(" ".join(api.get(name).signs)) == name


def test_how_turns_begin_is_weak_evidence():
    begun = Dialect("begun", begins="<|me|>\n", signs=("<call>",))
    assert [name for name, _ in detections([begun, JSON], "<|me|> <call>", None, "")] == ["begun", "json"]
    assert detections([begun, JSON], "<|me|>", {"<call>", "</call>"}, "")[0][0] == "json"
    assert detections([begun], "<|me|>", None, "") == [("begun", "the chat template only has <|me|>")]
    assert detections([MUTE], "<|me|>", None, "") == []


def test_a_text_whose_call_lost_its_opening_is_known_by_the_other_marks():
    assert found(text="<f=x><p=a>1</p></f></call>") == ["tags"]
    assert (
        api.detect(text="<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>") == "qwen3-coder-xml"
    )
    assert found(text="an </f> alone") == []
