"""Headers of messages: which block they open."""

from __future__ import annotations

import pickle
import re

import pytest

from dragoman.syntax.codecs.header import Header, Part, Route

HEADER = Header(
    start="<s>", role="me", channel="<c>", message="<m>", noise=("<n>",), closes=("</s>",),
    channels={"think": ("reasoning", ""), "talk": ("content", "talk"), "final": ("content", "final")},
    prefix="tools.", builtins=re.compile("shell"),
)  # fmt: skip


def parts(text: str) -> list[Part]:
    """`me<c>think` as parts."""
    found, at = [], 0
    for piece in re.findall(r"(?:<\w>)?[^<]*", text):
        mark = piece[:3] if piece.startswith("<") else ""
        if piece or not found:
            found.append(Part(mark, at + len(mark), piece[len(mark) :]))
            at += len(piece)
    return found


def route(text: str, *declared: str) -> Route:
    return HEADER.route(parts(text), declared.__contains__)


@pytest.mark.parametrize(
    ("text", "kind", "phase"),
    [
        ("<s>me<c>think", "reasoning", ""),
        ("<c>talk", "content", "talk"),
        ("<c>final<n>json", "content", "final"),
        ("<c>think<c>final", "content", "final"),
        ("<c>odd<c>think", "reasoning", ""),
        ("<c>thinking hard", "reasoning", ""),
        ("<c> -?think", "reasoning", ""),
        ("<s>methink", "reasoning", ""),
        ("<s>me", "content", ""),
        ("<c>odd", "content", ""),
        ("", "content", ""),
    ],
)
def test_the_channel_opens_its_block(text: str, kind: str, phase: str):
    one = route(text)
    assert (one.kind, one.phase) == (kind, phase)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<s>me to=tools.f<c>talk", "f"),
        ("<c>talk to=tools.f", "f"),
        ("<c>talk to= tools.f.<n>json", "f"),
        ("<c>to=f", "f"),
        ("<c>talk to=me to=tools.f", "f"),
        ("<c>talk to=tools.f to=tools.g", "g"),
        ("<c>talk to=a/b-c.d", "a/b-c.d"),
    ],
)
def test_a_recipient_makes_a_call(text: str, name: str):
    assert (route(text).kind, route(text).name) == ("call", name)


def test_the_model_itself_is_no_recipient():
    assert route("<c>talk to=me").kind == "content"


def test_a_tool_may_be_declared_with_the_prefix():
    assert route("<c>to=tools.f", "tools.f").name == "tools.f"
    assert route("<c>to=tools.f", "tools.f", "f").name == "f"


def test_the_type_of_a_body():
    assert route("<c>talk to=shell code").type == "code"
    assert route("<c>talk to=shell<n>json").type == ""
    assert route("<c>talk to=code").type == ""


def test_text_behind_a_channels_name_is_told_with_its_place():
    one = route("<c>finalDone.")
    assert (one.rest, one.at) == ("Done.", 8)


@pytest.mark.parametrize(
    "text", ["", " ", "m", "me", "meme", "me to", "t", "to=tools.f", "think", "me thin", "talk to=", "talk t", "fin"]
)
def test_what_may_still_be_a_header(text: str):
    assert HEADER.likely(text)


@pytest.mark.parametrize("text", ["x", "Hello", "me x", "thinking", "talk x", "memeX"])
def test_what_can_be_none(text: str):
    assert not HEADER.likely(text)


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("<s>me", False),
        ("<s>", False),
        ("<s>me to=x", False),
        ("<s>think", False),
        ("<s>to=x", False),
        ("<s>user", True),
        ("<s>tools.f to=me", True),
        ("user<c>x", False),
    ],
)
def test_a_message_of_somebody_else_is_known_by_its_role(text: str, foreign: bool):
    assert HEADER.foreign(parts(text)) is foreign


def test_a_header_pickles():
    assert pickle.loads(pickle.dumps(HEADER)).route(parts("<c>think"), lambda _: False).kind == "reasoning"
