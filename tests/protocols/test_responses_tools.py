from __future__ import annotations

import pytest

from dragoman.errors import RequestError, UnsupportedFeature
from dragoman.messages import Grammar, Tool
from dragoman.protocols import chat
from dragoman.protocols.chat_tools import FREE_TEXT
from dragoman.protocols.fields import Fields
from dragoman.protocols.responses_tools import read_tools

PING = {"type": "function", "name": "ping", "description": "Ping.", "parameters": {"type": "object"}, "strict": None}
SHELL = {"type": "custom", "name": "sh"}


def read(*tools, choice=None):
    return read_tools(Fields({"tools": list(tools), "tool_choice": choice}))


def names(offer):
    return [tool.name for tool in offer.tools]


def test_r21_a_function_is_flat():
    offer = read(PING)
    assert offer.tools == (Tool("ping", "Ping.", {"type": "object"}),)
    assert offer.choice == "auto"


def test_r21_a_function_of_the_other_api_is_taken_too():
    assert names(read({"type": "function", "function": {"name": "ping"}})) == ["ping"]


def test_r14_functions_are_echoed_with_all_their_keys():
    assert read(PING).echo == [{**PING, "strict": False}]
    assert read({"type": "function", "name": "f"}).echo == [
        {"type": "function", "name": "f", "description": None, "parameters": None, "strict": False}
    ]


def test_r21_a_custom_tool_takes_free_text():
    offer = read(SHELL)
    assert offer.tools == (Tool("sh", "", FREE_TEXT, kind="custom"),)
    assert offer.echo == [{"type": "custom", "name": "sh", "description": None, "format": {"type": "text"}}]


def test_r21_the_grammar_of_a_custom_tool_is_told():
    form = {"type": "grammar", "syntax": "lark", "definition": 'start: "a"'}
    (tool,) = read({**SHELL, "description": "Patch.", "format": form}).tools
    assert tool.description == 'Patch.\n\nThe input must follow this grammar (lark):\nstart: "a"'
    assert tool.grammar == Grammar("lark", 'start: "a"', "tools[0].format")


@pytest.mark.parametrize(
    ("syntax", "definition"),
    [("lark", "start: <[5]>"), ("lark", "start: a"), ("regex", "(?=a)b"), ("lark", ""), ("regex", "(")],
)
def test_s9_a_grammar_that_cannot_be_read_is_told_and_noted(syntax, definition):
    form = {"type": "grammar", "syntax": syntax, "definition": definition}
    offer = read(PING, {**SHELL, "format": form})
    assert offer.ignored == ["tools[1].format"]
    assert offer.tools[1].grammar is None
    assert definition in offer.tools[1].description
    nested = {"type": "grammar", "grammar": {"syntax": syntax, "definition": definition}}
    request, settings = chat.read_request(
        {
            "messages": [{"role": "user", "content": "a"}],
            "tools": [{"type": "custom", "custom": {"name": "sh", "format": nested}}],
        }
    )
    assert settings.ignored == ("tools[0].custom.format",)
    assert request.tools[0].grammar is None


@pytest.mark.parametrize(
    "form", [{"type": "grammar", "syntax": "lark"}, {"type": "grammar", "syntax": "x"}, {"type": "y"}]
)
def test_r30_a_format_that_cannot_be(form):
    with pytest.raises(RequestError) as caught:
        read({**SHELL, "format": form})
    assert caught.value.param.startswith("tools[0].format.")


def test_r21_a_namespace_is_flattened():
    offer = read({"type": "namespace", "name": "files", "description": "", "tools": [PING, SHELL]})
    assert names(offer) == ["ping", "sh"]
    assert offer.spaces == {"ping": ("files", "ping"), "sh": ("files", "sh")}
    assert offer.name("files", "ping") == "ping"


def test_r21_names_that_clash_get_their_namespace():
    space = {"type": "namespace", "name": "net", "description": "", "tools": [PING]}
    offer = read(PING, space)
    assert names(offer) == ["ping", "net.ping"]
    assert offer.spaces == {"net.ping": ("net", "ping")}
    assert offer.name("net", "ping") == "net.ping"
    assert offer.name("", "ping") == "ping"


def test_r21_hosted_tools_are_left_out():
    offer = read({"type": "web_search"}, PING)
    assert names(offer) == ["ping"]
    assert offer.ignored == ["tools[0]"]


def test_r21_an_mcp_server_is_refused():
    with pytest.raises(UnsupportedFeature, match="as functions") as caught:
        read(PING, {"type": "mcp", "server_label": "files", "server_url": "https://x.test"})
    assert caught.value.param == "tools[1].type"


@pytest.mark.parametrize(
    ("choice", "read_as"),
    [
        (None, "auto"),
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "name": "ping"}, "name:ping"),
        ({"type": "custom", "name": "sh"}, "name:sh"),
    ],
)
def test_r22_choices(choice, read_as):
    offer = read(PING, SHELL, choice=choice)
    assert (offer.choice, offer.only) == (read_as, None)


def test_r22_allowed_tools_are_a_hard_limit():
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "ping"}]}
    offer = read(PING, SHELL, choice=allowed)
    assert (names(offer), offer.choice, offer.only) == (["ping"], "required", {"ping"})


@pytest.mark.parametrize("choice", [{"type": "web_search"}, {"type": "mcp", "server_label": "x"}, {}])
def test_r22_a_hosted_tool_cannot_be_forced(choice):
    with pytest.raises(RequestError) as caught:
        read(PING, {"type": "web_search"}, choice=choice)
    assert caught.value.param == "tool_choice.type"


@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "gone"}, "sometimes", 3])
def test_r30_choices_that_cannot_be(choice):
    with pytest.raises(RequestError) as caught:
        read({"type": "web_search"}, choice=choice)
    assert caught.value.param.startswith("tool_choice")


def test_r30_two_tools_of_one_name():
    with pytest.raises(RequestError, match="earlier tool"):
        read(PING, PING)
