"""A dialect is checked when it is made, and it pickles."""

from __future__ import annotations

import pickle

import pytest

from dragoman import api
from dragoman.errors import DialectError, UsageError
from dragoman.syntax.codecs.braces import Braces
from dragoman.syntax.codecs.header import Header
from dragoman.syntax.codecs.json import JsonObject
from dragoman.syntax.codecs.json_call import JsonCall
from dragoman.syntax.dialect import Dialect, Form

CALL = {"call": "<call>{call}</call>", "args": JsonCall()}


def test_a_dialect_may_have_no_calls_at_all():
    assert Dialect("plain", reasoning="<think>{text}</think>").forms == ()


def test_its_forms_begin_with_the_canonical_one_and_share_its_codec():
    braces = Braces()
    also = (Form("<f>{name}{args}</f>", braces), "<c>{call}</call>")
    dialect = Dialect("x", **CALL, also=also)
    assert [form.template for form in dialect.forms] == [
        "<call>{call}</call>",
        "<f>{name}{args}</f>",
        "<c>{call}</call>",
    ]
    assert [form.codec for form in dialect.forms] == [CALL["args"], braces, CALL["args"]]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"call": "<call>{call}</call>"}, "needs a codec"),
        ({"call": "<call>{name}</call>", "args": JsonObject()}, "either {args} or {call}"),
        ({"call": "<call>{name}:{args}{call}", "args": JsonObject()}, "either {args} or {call}"),
        ({"call": "<call>{args}</call>", "args": JsonObject()}, "needs a {name}"),
        ({"call": "<call>{id}{name}:{args}", "args": JsonObject()}, "two holes side by side"),
        ({**CALL, "also": ("<call>",)}, "either {args} or {call}"),
        ({**CALL, "also": (Form("<call>{args}", JsonObject()),)}, "needs a {name}"),
        ({"reasoning": "<think>"}, "exactly one {text}"),
        ({"reasoning": "<think>{text}{text}"}, "exactly one {text}"),
        ({"section": "<calls>"}, "exactly one {calls}"),
        ({"thoughts": ("<t>",)}, "exactly one {text}"),
        ({"content": ("<a>{text}", "<b>{name}")}, "exactly one {text}"),
        ({"frame": Header("<s>", "me", "<c>", "<m>", (), (), {"a": ("content", "")})}, "need a call"),
    ],
)
def test_a_definition_that_cannot_work_is_refused(fields: dict, problem: str):
    with pytest.raises(DialectError, match="dialect 'x'") as caught:
        Dialect("x", **fields)
    assert problem in caught.value.problem
    assert caught.value.dialect == "x"
    assert isinstance(caught.value, UsageError)


def test_a_name_may_touch_its_arguments():
    assert Dialect("x", "<call>{name}{args}</call>", Braces()).forms


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        Dialect("x").name = "y"  # type: ignore[misc]


@pytest.mark.parametrize("name", api.names())
def test_every_dialect_pickles_and_still_decodes(name: str):
    before = api.get(name)
    after = pickle.loads(pickle.dumps(before))
    same = [field for field in before.__dataclass_fields__ if field not in ("args", "also", "frame")]
    assert [getattr(after, field) for field in same] == [getattr(before, field) for field in same]
    assert api.decode(after, "Hello.") == api.decode(before, "Hello.")
