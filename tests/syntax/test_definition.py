"""A dialect as a file: exact both ways, and every mistake named with its line."""

from __future__ import annotations

import re

import pytest

import dragoman
from dragoman import api
from dragoman.errors import DialectError, UsageError
from dragoman.syntax.codecs.braces import Braces
from dragoman.syntax.codecs.json_call import JsonCall
from dragoman.syntax.codecs.params import Params
from dragoman.syntax.definition import dump, load
from dragoman.syntax.dialect import Dialect, Form

FILE = """\
name = "robin"
call = "<call>{call}</call>"
args = {codec = "json-call", name = "tool", args = ["with"], listed = true}
reasoning = "<thought>\\n{text}\\n</thought>"
ends = ["<end>"]
"""


@pytest.mark.parametrize("name", api.names())
def test_every_dialect_survives_its_file(name: str):
    written = dump(api.get(name))
    again = load(written)
    assert dump(again) == written
    assert [(form.template, type(form.codec)) for form in again.forms] == [
        (form.template, type(form.codec)) for form in api.get(name).forms
    ]


def test_a_file_is_read_to_the_last_newline():
    robin = load(FILE)
    assert (robin.name, robin.reasoning, robin.ends) == ("robin", "<thought>\n{text}\n</thought>", ("<end>",))
    assert isinstance(robin.args, JsonCall)
    assert (robin.args.name, robin.args.args, robin.args.listed, robin.args.lines) == ("tool", ("with",), True, "")
    assert dump(robin) == FILE


def test_what_a_dialect_does_not_say_is_left_out():
    assert dump(Dialect("mute")) == 'name = "mute"\n'


def test_a_dialect_of_a_file_works():
    turn = dragoman.decode(load(FILE), '<thought>\nhm\n</thought><call>[{"tool": "f", "with": {"a": 1}}]</call>')
    assert (turn.reasoning, turn.calls[0].name, turn.calls[0].arguments) == ("hm", "f", '{"a": 1}')


@pytest.mark.parametrize(
    "text",
    ['quote " and \\', "new\nline\ttab\r", "full ｜ width, é, 🙂", "\x7f\x00\x1b", "", "'''", "{braces} = [1]  # no"],
)
def test_any_text_comes_back(text: str):
    dialect = Dialect("odd", begins=text, turn=text, ends=(text, "x"))
    again = load(dump(dialect))
    assert (again.begins, again.turn, again.ends) == (text, text, (text, "x"))


def test_other_forms_keep_their_codecs():
    dialect = Dialect(
        "forms",
        call="<a>{name}{args}</a>",
        args=Braces("<s>"),
        also=("<b>{name}{args}</b>", Form("<c>{call}", JsonCall())),
    )
    again = load(dump(dialect))
    assert [type(form.codec) for form in again.forms] == [Braces, Braces, JsonCall]
    assert again.forms[2].template == "<c>{call}"


def test_switches_of_a_codec_are_kept():
    params = load(dump(Dialect("p", call="<f={name}>{args}</f>", args=Params("<p={key}>{value}</p>", strip=True)))).args
    assert isinstance(params, Params)
    assert (params.template, params.strip, params.cdata) == ("<p={key}>{value}</p>", True, False)


WRONG = {
    "not TOML": ('name = "x"\ncall = <a>\n', 2, "Invalid value"),
    "an unknown field": ('name = "x"\n\nmark = "<a>"\n', 3, "no 'mark'"),
    "no name": ('begins = "x"\n', 1, "name"),
    "a number for a text": ('name = "x"\nbegins = 1\n', 2, "text"),
    "a text for a list": ('name = "x"\nends = "<end>"\n', 2, "list"),
    "an unknown codec": ('name = "x"\ncall = "<a>{call}</a>"\nargs = {codec = "yaml"}\n', 3, "json-call"),
    "no codec at all": ('name = "x"\nargs = "json"\n', 2, "table"),
    "an unknown switch": ('name = "x"\ncall = "<a>{call}</a>"\nargs = {codec = "json-call", list = 1}\n', 3, "'list'"),
    "a codec without what it needs": ('name = "x"\nargs = {codec = "params"}\n', 2, "params"),
    "a template that cannot work": ('name = "x"\ncall = "<a>{text}</a>"\nargs = {codec = "json-call"}\n', 2, "{args}"),
    "a block without text": ('name = "x"\nbegins = "y"\nreasoning = "<think>"\n', 3, "{text}"),
    "a call without a codec": ('name = "x"\ncall = "<a>{call}</a>"\n', 2, "codec"),
    "a bad other form": ('name = "x"\nalso = [{template = "<a>{call}"}]\n', 2, "template and codec"),
    "a bad pattern": (
        (
            'name = "x"\n[frame]\ncodec = "header"\nstart = "<s>"\nrole = "me"\nchannel = "<c>"\nmessage = "<m>"\nnoise = []\n'
            'closes = []\nchannels = {}\nbuiltins = {regex = "("}\n'
        ),
        2,
        "pattern",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_mistake_is_named_with_its_line(what: str):
    text, line, word = WRONG[what]
    with pytest.raises(DialectError) as raised:
        load(text, "mine.toml")
    assert "mine.toml" in str(raised.value)
    assert re.search(rf"\bline {line}: .*{re.escape(word)}", str(raised.value)), str(raised.value)


def test_a_path_names_a_dialect(tmp_path):
    file = tmp_path / "robin.toml"
    file.write_text(FILE, "utf-8")
    assert api.get(str(file)).name == "robin"
    assert dragoman.decode(str(file), '<call>[{"tool": "f", "with": {}}]</call>').calls[0].name == "f"


def test_a_path_that_leads_nowhere(tmp_path):
    with pytest.raises(UsageError, match=r"nowhere\.toml"):
        api.get(str(tmp_path / "nowhere.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"binary\.toml"):
        api.get(str(tmp_path / "binary.toml"))
