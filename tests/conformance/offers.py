"""The tools and types that the tests offer to the model, in the shapes of the protocols."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from .plays import OSLO, PARIS

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
NUMBER: dict[str, Any] = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}

_TOOLS = (
    ("get_weather", "The weather of a city.", CITY),
    ("refresh", "Takes nothing.", NOTHING),
    ("step", "One of many steps.", NUMBER),
)
CHAT: list[Any] = [
    {"type": "function", "function": {"name": name, "description": text, "parameters": schema}}
    for name, text, schema in _TOOLS
]
RESPONSES: list[Any] = [
    {"type": "function", "name": name, "description": text, "parameters": schema, "strict": False}
    for name, text, schema in _TOOLS
]
MESSAGES: list[Any] = [{"name": name, "description": text, "input_schema": schema} for name, text, schema in _TOOLS]

SKY = {PARIS: "sun", OSLO: "snow"}
LIMIT = 30  # pieces of the scripted model: enough to begin, too few to end


class Person(BaseModel):
    """What the model tells of a person."""

    name: str
    age: int
    tags: list[str]


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: its name.
    """
    return SKY[city]


def step(number: int) -> str:
    """One of many steps.

    Args:
        number: which.
    """
    return f"done {number}"
