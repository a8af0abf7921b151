from __future__ import annotations

import pytest

from dragoman.errors import RequestError, UnsupportedFeature
from dragoman.messages import Tool
from dragoman.protocols.fields import Fields
from dragoman.protocols.messages_api_tools import Offer, read_tools

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = {"name": "get_weather", "description": "A forecast.", "input_schema": SCHEMA}
PING = {"type": "custom", "name": "ping", "input_schema": {}, "strict": True, "eager_input_streaming": True}
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}


def read(*tools, **choice):
    return read_tools(Fields({"tools": list(tools), **({"tool_choice": choice} if choice else {})}))


def test_m19_tools_are_functions():
    offer = read(WEATHER, PING)
    assert offer.tools == (Tool("get_weather", "A forecast.", SCHEMA), Tool("ping", strict=True))
    assert (offer.choice, offer.parallel, offer.eager) == ("auto", True, {"ping"})
    assert read() == Offer()


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ({"type": "auto"}, "auto"),
        ({"type": "any"}, "required"),
        ({"type": "tool", "name": "ping"}, "name:ping"),
        ({"type": "none"}, "none"),
    ],
)
def test_m19_the_choice(choice, wanted):
    assert read(WEATHER, PING, **choice).choice == wanted


def test_m19_parallel_calls_can_be_refused():
    assert not read(WEATHER, type="any", disable_parallel_tool_use=True).parallel
    assert read(WEATHER, type="auto", disable_parallel_tool_use=False).parallel
    assert read(type="auto").choice == "none"


def test_m19_hosted_tools_are_left_out_and_told():
    offer = read(WEATHER, SEARCH)
    assert [tool.name for tool in offer.tools] == ["get_weather"]
    assert list(offer.left_out) == ["tools[1]"]


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "web_search"}])
def test_m19_hosted_tools_that_are_insisted_on_are_refused(choice):
    with pytest.raises(UnsupportedFeature):
        read(SEARCH, **choice)


@pytest.mark.parametrize(
    ("tools", "choice", "param"),
    [
        ([{"input_schema": {}}], {}, "tools[0].name"),
        ([{"name": "has blank"}], {}, "tools[0].name"),
        ([{"name": "x" * 129}], {}, "tools[0].name"),
        ([{"name": "a", "input_schema": []}], {}, "tools[0].input_schema"),
        ([WEATHER, WEATHER], {}, "tools[1]"),
        ([WEATHER], {"type": "tool"}, "tool_choice.name"),
        ([WEATHER], {"type": "tool", "name": "no"}, "tool_choice.name"),
        ([WEATHER], {"type": "what"}, "tool_choice.type"),
        ([], {"type": "any"}, "tool_choice.type"),
    ],
)
def test_m19_what_cannot_be_is_refused_by_name(tools, choice, param):
    with pytest.raises(RequestError) as caught:
        read(*tools, **choice)
    assert caught.value.param == param


LATER = {"name": "later", "input_schema": {}, "defer_loading": True}
FOUND = {"type": "tool_reference", "tool_name": "later"}


def offered(*tools, **more):
    return [tool.name for tool in read_tools(Fields({"tools": list(tools), **more})).tools]


def test_a_deferred_tool_is_on_offer_once_a_search_has_found_it():
    assert offered(WEATHER, LATER) == ["get_weather"]
    result = {"type": "tool_result", "tool_use_id": "a", "content": [FOUND]}
    assert offered(WEATHER, LATER, messages=[{"role": "user", "content": [result]}]) == ["get_weather", "later"]
    other = {**result, "content": [{**FOUND, "tool_name": "another"}]}
    assert offered(WEATHER, LATER, messages=[{"role": "user", "content": [other]}]) == ["get_weather"]
    assert offered(WEATHER, LATER, messages=[{"role": "user", "content": "later"}]) == ["get_weather"]


def test_a_deferred_tool_that_nobody_here_could_find_is_on_offer():
    hosted = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
    assert offered(hosted, LATER) == ["later"]
    assert offered(hosted, WEATHER, LATER) == ["get_weather", "later"]
    assert offered(LATER) == ["later"]


def test_a_deferred_tool_that_is_chosen_is_on_offer():
    assert offered(WEATHER, LATER, tool_choice={"type": "tool", "name": "later"}) == ["get_weather", "later"]
    assert offered(WEATHER, LATER, tool_choice={"type": "any"}) == ["get_weather"]
