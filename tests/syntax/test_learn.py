"""Learning a dialect: templates of every make, played by functions, shown once and read from then on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import dragoman
from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Reasoning, Text, Turn
from dragoman.syntax.codecs.braces import Braces
from dragoman.syntax.codecs.json import JsonObject
from dragoman.syntax.codecs.json_call import JsonCall
from dragoman.syntax.codecs.params import Params
from dragoman.syntax.codecs.python import Python
from dragoman.syntax.definition import dump, load
from dragoman.syntax.dialect import Dialect
from dragoman.syntax.layouts import joint
from dragoman.syntax.learn import learn, study

Calls = Callable[[list[dict[str, Any]]], str]


def template(calls: Calls, *, thought: str = "<think>\n%s\n</think>\n\n", opened: str = "", end: str = "<|im_end|>\n"):
    """A template in the manner of ChatML that writes calls in this way."""

    def render(messages, tools, add_generation_prompt=False, **flags):
        text = ""
        for message in messages:
            text += f"<|im_start|>{message['role']}\n"
            if message.get("reasoning_content") and thought:
                text += thought % message["reasoning_content"]
            text += message["content"] or ""
            if message.get("tool_calls"):
                text += calls([{**call["function"], "id": call["id"]} for call in message["tool_calls"]])
            text += end
        return text + ("<|im_start|>assistant\n" + opened) * add_generation_prompt

    return render


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def tagged_json(calls):
    return "\n".join(
        f'<call>\n{{"name": "{call["name"]}", "arguments": {dumps(call["arguments"])}}}\n</call>' for call in calls
    )


def other_keys(calls):
    return "".join(f"<do>{dumps({'tool': call['name'], 'with': call['arguments']})}</do>" for call in calls)


def keyed(calls):
    return f"<|in|>{dumps([{call['name']: call['arguments']} for call in calls])}<|out|>"


def one_list(calls):
    return f"[CALLS]{dumps([{'name': call['name'], 'arguments': call['arguments']} for call in calls])}"


def name_first(calls):
    return "<all>" + "".join(f"<one>{call['name']}<sep>{dumps(call['arguments'])}</one>" for call in calls) + "</all>"


def with_ids(calls):
    return "".join(f"[CALL]{call['name']}[ID]{call['id']}[ARGS]{dumps(call['arguments'])}" for call in calls)


def only_ids(calls):
    inner = "".join(f"<|b|>{call['id']}<|a|>{dumps(call['arguments'])}<|e|>" for call in calls)
    return f"<|bb|>{inner}<|ee|>"


def tags(calls):
    def args(call):
        return "".join(
            f"<parameter={key}>\n{value if isinstance(value, str) else dumps(value)}\n</parameter>\n"
            for key, value in call["arguments"].items()
        )

    return "\n".join(f"<call>\n<function={call['name']}>\n{args(call)}</function>\n</call>" for call in calls)


def typed_tags(calls):
    def args(call):
        return "".join(
            f'<p name="{key}" text="{dumps(isinstance(value, str))}">'
            f"{value if isinstance(value, str) else dumps(value)}</p>\n"
            for key, value in call["arguments"].items()
        )

    inner = "\n".join(f'<invoke name="{call["name"]}">\n{args(call)}</invoke>' for call in calls)
    return f"<calls>\n{inner}\n</calls>"


def braces(calls):
    return "".join(f"<|call>do:{call['name']}{Braces('<q>')._write(call['arguments'])}<call|>" for call in calls)


def python(calls):
    def one(call):
        return f"{call['name']}({', '.join(f'{key}={value!r}' for key, value in call['arguments'].items())})"

    return f"<|py|>[{', '.join(map(one, calls))}]<|yp|>"


WAYS: dict[str, tuple[Calls, type, str]] = {
    "an object between tags": (tagged_json, JsonCall, "<call>\n{call}\n</call>"),
    "other keys": (other_keys, JsonCall, "<do>{call}</do>"),
    "names as keys": (keyed, JsonCall, "<|in|>{call}<|out|>"),
    "one list": (one_list, JsonCall, "[CALLS]{call}"),
    "the name first, in a section": (name_first, JsonObject, "<one>{name}<sep>{args}</one>"),
    "ids": (with_ids, JsonObject, "[CALL]{name}[ID]{id}[ARGS]{args}"),
    "ids that hold the name": (only_ids, JsonObject, "<|b|>functions.{name}:{index}<|a|>{args}<|e|>"),
    "nested tags": (tags, Params, "<call>\n<function={name}>\n{args}</function>\n</call>"),
    "tags that tell the type": (typed_tags, Params, '<invoke name="{name}">\n{args}</invoke>'),
    "braces": (braces, Braces, "<|call>do:{name}{args}<call|>"),
    "Python": (python, Python, "<|py|>{call}<|yp|>"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_to_write_calls_is_learnt(way: str):
    calls, codec, call = WAYS[way]
    lesson = study(template(calls))
    assert (type(lesson.dialect.args), lesson.dialect.call) == (codec, call)
    assert lesson.unread == ()
    assert lesson.sure == 1.0
    assert lesson.dialect.begins == "<|im_start|>assistant\n"
    assert lesson.dialect.ends[0] == "<|im_end|>"
    assert lesson.dialect.reasoning == "<think>\n{text}\n</think>\n\n"


@pytest.mark.parametrize("way", WAYS)
def test_what_was_learnt_reads_and_writes_what_was_never_shown(way: str):
    dialect = learn(template(WAYS[way][0]))
    turn = Turn(
        (Reasoning("hm, so"), Text("I look."), Call("look_up", '{"where": "Oslo", "days": 3, "near": ["a", true]}'))
    )
    shown = template(WAYS[way][0])(
        [{"role": "assistant", "content": "I look.", "reasoning_content": "hm, so", "tool_calls": [
            {"id": "functions.look_up:0" if way == "ids that hold the name" else "abc", "function": {"name": "look_up", "arguments": json.loads(turn.calls[0].arguments)}}
        ]}],
        None,
    )  # fmt: skip
    tools = [dragoman.Tool("look_up", parameters={"type": "object", "properties": {"days": {"type": "integer"}}})]
    read = dragoman.decode(dialect, shown.removeprefix(dialect.begins), tools, prompt=dialect.begins)
    assert (read.reasoning, read.content) == ("hm, so", "I look.")
    assert [(call.name, json.loads(call.arguments)) for call in read.calls] == [
        ("look_up", json.loads(turn.calls[0].arguments))
    ]
    again = dragoman.decode(dialect, dragoman.encode(dialect, turn), tools)
    assert json.loads(again.calls[0].arguments) == json.loads(turn.calls[0].arguments)


def test_a_section_is_told_from_its_calls():
    assert learn(template(name_first)).section == "<all>{calls}</all>"
    assert learn(template(typed_tags)).section == "<calls>\n{calls}\n</calls>"
    assert learn(template(tags)).section == ""


def test_the_keys_of_a_call():
    codec = learn(template(other_keys)).args
    assert isinstance(codec, JsonCall)
    assert (codec.name, codec.args[0], codec.listed) == ("tool", "with", False)
    codec = learn(template(one_list)).args
    assert isinstance(codec, JsonCall)
    assert codec.listed


def test_the_word_of_a_type():
    codec = learn(template(typed_tags)).args
    assert isinstance(codec, Params)
    assert (codec.template, codec.text) == ('<p name="{key}" text="{type}">{value}</p>\n', ("true",))


def test_reasoning_without_any():
    assert learn(template(tagged_json, thought="")).reasoning == ""


@pytest.mark.parametrize("thought", ["[T]%s[/T]", "<|in|>%s<|out|>", "<deep>\n%s\n</deep>\n"])
def test_reasoning_in_other_marks(thought: str):
    assert learn(template(tagged_json, thought=thought)).reasoning == thought.replace("%s", "{text}")


def test_a_label_behind_the_mark_of_reasoning():
    dialect = learn(template(tagged_json, thought="<|way>thought\n%s\n<way|>"))
    assert (dialect.reasoning, dialect.label) == ("<|way>thought\n{text}\n<way|>", "thought")


def test_a_prompt_that_has_opened_the_reasoning():
    dialect = learn(template(tagged_json, thought="", opened="<think>\n"))
    assert dialect.begins == "<|im_start|>assistant\n"
    assert dialect.reasoning == "<think>\n{text}\n</think>\n\n"
    turn = dragoman.decode(dialect, "hm\n</think>\n\nHi", prompt="<|im_start|>assistant\n<think>\n")
    assert (turn.reasoning, turn.content) == ("hm", "Hi")


def test_a_template_that_leaves_old_thoughts_out_knows_their_marks():
    def render(messages, tools, **flags):
        shown = [{**one, "content": (one["content"] or "").split("</think>")[-1].lstrip()} for one in messages]
        return template(tagged_json, thought="")(shown, tools, **flags)

    assert learn(render).reasoning == "<think>{text}</think>".replace("{text}", "\n{text}\n") + "\n\n"


def test_a_block_of_no_thoughts_belongs_to_nothing():
    def render(messages, tools, **flags):
        def filled(one):
            empty = one["role"] == "assistant" and not one.get("reasoning_content")
            return {**one, "content": "<think>\n\n</think>\n\n" * empty + (one["content"] or "")}

        return template(tagged_json)([filled(one) for one in messages], tools, **flags)

    lesson = study(render)
    assert lesson.unread == ()
    assert lesson.dialect.begins == "<|im_start|>assistant\n"


def test_specials_are_the_marks_that_are_tokens():
    dialect = learn(template(name_first), specials={"<all>", "<one>", "<|im_end|>", "<unused>"})
    assert dialect.special == ("<one>", "<all>", "<|im_end|>")


def test_a_learnt_dialect_survives_its_file_and_tells_itself():
    dialect = learn(template(typed_tags), name="robin")
    assert dump(load(dump(dialect))) == dump(dialect)
    assert dialect.name == "robin"
    assert dialect.signs == ("<calls>",)


# --- templates that are hard to please


def picky(check: Callable[[list[dict[str, Any]]], bool], calls: Calls = tagged_json):
    def render(messages, tools, **flags):
        if not check(messages):
            raise ValueError("refused")
        return template(calls)(messages, tools, **flags)

    return render


def _calls(messages):
    return [call for message in messages for call in message.get("tool_calls") or ()]


def test_arguments_as_text():
    def calls(given):
        return "".join(f"<c>{call['name']}<s>{call['arguments']}</c>" for call in given)

    lesson = study(template(calls))
    assert (lesson.dialect.call, lesson.unread) == ("<c>{name}<s>{args}</c>", ())


def test_ids_of_nine_letters():
    lesson = study(picky(lambda messages: all(len(call["id"]) == 9 for call in _calls(messages))))
    assert lesson.unread == ()


def test_contents_as_parts():
    def render(messages, tools, **flags):
        shown = [
            {**one, "content": "".join(part["text"] for part in one["content"]) if one["content"] else ""}
            for one in messages
        ]
        return template(tagged_json)(shown, tools, **flags)

    assert study(render).unread == ()


def test_a_result_behind_every_call():
    def answered(messages):
        return all("tool_calls" not in one or messages[-1] is not one for one in messages)

    lesson = study(picky(answered))
    assert lesson.dialect.call == "<call>\n{call}\n</call>"


def test_no_content_beside_calls():
    lesson = study(picky(lambda messages: all(not one.get("tool_calls") or one["content"] is None for one in messages)))
    assert lesson.dialect.call == "<call>\n{call}\n</call>"


def test_messages_that_are_changed_while_shown():
    def render(messages, tools, **flags):
        text = template(tagged_json)(messages, tools, **flags)
        messages.clear()
        return text

    assert study(render).unread == ()


def test_a_template_without_calls_still_tells_its_turns():
    lesson = study(template(lambda calls: ""))
    assert lesson.dialect.call == ""
    assert (lesson.dialect.begins, lesson.dialect.ends[0]) == ("<|im_start|>assistant\n", "<|im_end|>")


def _refuse(*_, **__):
    raise RuntimeError("no")


@pytest.mark.parametrize("render", [_refuse, lambda *_, **__: "", lambda *_, **__: "always the same"])
def test_nothing_to_learn_from(render):
    with pytest.raises(UsageError, match="told"):
        learn(render)


def test_calls_that_nobody_could_read():
    def calls(given):
        return "".join(f"{call['name']} with {' and '.join(map(str, call['arguments'].values()))}" for call in given)

    with pytest.raises(UsageError, match=r"how a call is written.*V4lue"):
        learn(template(lambda given: calls(given) + ", keys: " + ",".join(given[0]["arguments"])))


def test_the_number_of_renderings_is_bounded():
    count = 0

    def render(messages, tools, **flags):
        nonlocal count
        count += 1
        return template(tagged_json)(messages, tools, **flags)

    learn(render)
    assert count < 60
    count = 0
    with pytest.raises(UsageError):
        learn(lambda *args, **flags: render(*args, **flags)[:0])
    assert count < 60


# --- the dialects at hand, by what they write themselves


def own_template(dialect: Dialect):
    """A template whose answers are what a dialect writes."""

    def render(messages, tools, add_generation_prompt=False, **flags):
        text = ""
        for message in messages:
            if message["role"] != "assistant":
                text += f"<|{message['role']}|>\n{message['content']}<|over|>\n"
                continue
            calls = [
                Call(one["function"]["name"], dumps(one["function"]["arguments"]), one["id"])
                for one in message.get("tool_calls") or ()
            ]
            thought = message.get("reasoning_content")
            parts = (
                *([Reasoning(thought)] if thought else []),
                *([Text(message["content"])] if message["content"] else []),
            )
            text += dialect.begins + api.encode(dialect, Turn((*parts, *calls))) + dialect.ends[0] + "\n"
        return text + dialect.begins * add_generation_prompt

    return render


COMPOSED = ("kimi-k3-xtml",)  # its marks are tags around words: renderings do not tell where such a mark ends
KNOWN = [
    name
    for name in api.names()
    if (one := api.get(name)).call
    and one.frame is None
    and one.begins
    and one.ends
    and one.call[0] != "{"
    and not one.gated
    and name not in COMPOSED
]


@pytest.mark.parametrize("name", KNOWN)
def test_what_a_dialect_writes_is_learnt_again(name: str):
    dialect = api.get(name)
    lesson = study(own_template(dialect))
    turn = Turn((Call("look_up", '{"where": "Oslo", "more": "x y"}'),))
    raw = api.encode(dialect, turn)
    tools = [dragoman.Tool("look_up")]
    for reader, text in ((lesson.dialect, raw), (dialect, api.encode(lesson.dialect, turn))):
        (call,) = api.decode(reader, text, tools).calls
        assert (call.name, json.loads(call.arguments)) == ("look_up", {"where": "Oslo", "more": "x y"})


JOINTS = [
    ("</c>\n<c>", "</c>", "<c>", ("</c>", "\n", "<c>")),
    ("</c><c>", "</c></all>", "<all><c>", ("</c>", "", "<c>")),
    ("\n</p>\n<p=", "\n</p>\n</f>", "<f>\n<p=", ("\n</p>\n", "", "<p=")),
    (", ", "]", "[", ("", ", ", "")),
]


@pytest.mark.parametrize(("between", "behind", "before", "cut"), JOINTS)
def test_what_stands_between_two_is_cut_in_two(between, behind, before, cut):
    assert joint(between, behind, before) == cut
