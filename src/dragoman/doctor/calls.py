"""Scenarios of tools: forced, named, parallel and unwanted calls, and turns with results."""

from __future__ import annotations

import json

from ..checks.heard import Heard
from ..messages import Call, Message, Result, Text, Tool
from .scenario import scenario
from .visit import Skip, Visit, said

__all__: list[str] = []

CITY = {"type": "string", "enum": ["Paris", "Oslo", "Rome"]}
ONE_CITY = {"type": "object", "properties": {"city": CITY}, "required": ["city"], "additionalProperties": False}
ZONE = {"type": "string", "enum": ["UTC", "CET"]}
ONE_ZONE = {"type": "object", "properties": {"zone": ZONE}, "required": ["zone"], "additionalProperties": False}
WEATHER = Tool("get_weather", "The weather in a city.", ONE_CITY)
CLOCK = Tool("get_time", "The time in a zone.", ONE_ZONE)
ASKED = "What is the weather in Paris? Use the tool."
TWO = "What is the weather in Paris, and in Oslo? Call the tool once for each city."
ROOM = 3  # times the usual limit: a call needs more tokens than a greeting


@scenario("a call that is forced", needs=("forced",), optional=True)
async def forced(visit: Visit) -> None:
    """Whole and streamed."""
    for stream in (False, True):
        request = visit.request(ASKED, tools=(WEATHER,), choice="required", limit=ROOM * visit.limit)
        _called(visit, await visit.ask(request, stream=stream), "get_weather")


@scenario("a call of a named tool", needs=("forced",), optional=True)
async def named(visit: Visit) -> None:
    """Not the one that fits best."""
    tools, limit = (WEATHER, CLOCK), ROOM * visit.limit
    request = visit.request(ASKED, tools=tools, choice="name:get_time", limit=limit)
    _called(visit, await visit.ask(request, stream=True), "get_time")


@scenario("tools on offer, left to the model", needs=("tools",), optional=True)
async def offered(visit: Visit) -> None:
    """Whatever it does, it must be right."""
    request = visit.request(ASKED, tools=(WEATHER, CLOCK), choice="auto", limit=ROOM * visit.limit)
    await visit.ask(request, stream=True)


@scenario("two calls at once", needs=("forced",), optional=True)
async def parallel(visit: Visit) -> None:
    """One is allowed too; two must be told apart."""
    request = visit.request(TWO, tools=(WEATHER,), choice="required", limit=2 * ROOM * visit.limit)
    heard = await visit.ask(request, stream=True)
    if len({call.id for call in heard.calls}) < len(heard.calls):
        visit.find("C10", f"two calls have one id: {heard}")


@scenario("one call at a time", needs=("forced",), optional=True)
async def serial(visit: Visit) -> None:
    """Though two are asked for."""
    limit = 2 * ROOM * visit.limit
    request = visit.request(TWO, tools=(WEATHER,), choice="required", parallel=False, limit=limit)
    heard = await visit.ask(request, stream=True)
    if len(heard.calls) > 1:
        visit.find("C26", f"{len(heard.calls)} calls: {heard}")


@scenario("tools on offer, but no calls wanted", needs=("tools",), optional=True)
async def unwanted(visit: Visit) -> None:
    """Then there are none."""
    request = visit.request(ASKED, tools=(WEATHER,), choice="none")
    heard = await visit.ask(request, stream=True)
    if heard.calls:
        visit.find("C25", f"a call, though none was wanted: {heard}")


@scenario("a turn with a tool's result", needs=("tools",), optional=True)
async def result(visit: Visit) -> None:
    """The second half of every use of a tool."""
    await visit.ask(visit.request(*_conversation("Paris"), tools=(WEATHER,)), stream=True)


@scenario("results in another order than their calls", needs=("tools",))
async def swapped(visit: Visit) -> None:
    """As agents send them that run calls at the same time."""
    visit.rule = "C30"
    first, calls, *results = _conversation("Paris", "Oslo")
    await visit.ask(visit.request(first, calls, *reversed(results), tools=(WEATHER,)))


def _conversation(*cities: str) -> list[Message]:
    calls = [Call("get_weather", json.dumps({"city": city}), f"call_{number}") for number, city in enumerate(cities)]
    results = [Result(call.id, (Text("Sunny, 20 degrees."),), call.name) for call in calls]
    asked = said("user", f"What is the weather in {' and '.join(cities)}?")
    return [asked, Message("assistant", tuple(calls)), *(Message("tool", (item,)) for item in results)]


def _called(visit: Visit, heard: Heard, name: str) -> None:
    if heard.finish == "length" and not heard.calls:
        raise Skip("the limit cut the call")
    if [call.name for call in heard.calls[:1]] != [name]:
        visit.find("C25", f"no call of {name}, though it was forced: {heard}")
    elif heard.finish not in ("tool_calls", "length"):
        visit.find("C12", f"a call was given, and the answer ended by {heard.finish or 'nothing'}")
