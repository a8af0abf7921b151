"""Instructor: typed answers by tools, by JSON mode and by a schema, whole and while they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import instructor
import openai
import pytest
from instructor.core.exceptions import IncompleteOutputException

from dragoman.engines.script import Script

from ..server.conftest import Running, running
from .offers import Person, user
from .plays import FIRE, PERSON, call, scene, script

DIALECT = "deepseek-v31"
MODES = [instructor.Mode.TOOLS, instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """The model calls the tool that is named like the type."""
    names = "Person", "PartialPerson"
    tools = [scene(DIALECT, call(name, **PERSON), when={"user": "^person", "tool": name}) for name in names]
    wrong = [json.dumps({**PERSON, "age": "old"}), json.dumps(PERSON)]
    again = {**scene(DIALECT, wrong[0], when={"user": "again|error|rror"}), "output": wrong}
    with running(Script(script(DIALECT, *tools, again))) as started:
        yield started


@pytest.fixture
def client(server: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def ask(made: Any, words: str = "person", **more: Any) -> Any:
    answer = made.chat.completions.create(model="demo", messages=user(words), response_model=Person, **more)
    return answer.model_dump()  # its class is made by Instructor


@pytest.mark.parametrize("mode", MODES)
def test_a_typed_answer(client: openai.OpenAI, mode: Any):
    assert ask(instructor.from_openai(client, mode=mode), max_retries=0) == PERSON


@pytest.mark.parametrize("mode", MODES)
def test_while_it_is_written(client: openai.OpenAI, mode: Any):
    made = instructor.from_openai(client, mode=mode)
    *_, last = made.chat.completions.create_partial(model="demo", messages=user("person"), response_model=Person)
    assert last.model_dump() == PERSON


def test_asks_again_when_the_type_does_not_fit(client: openai.OpenAI):
    assert ask(instructor.from_openai(client, mode=instructor.Mode.JSON), "again", max_retries=2) == PERSON


def test_over_messages(server: Running):
    with anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0) as client:
        made = instructor.from_anthropic(client)
        assert ask(made, max_tokens=4096, max_retries=0) == PERSON


def test_cut_by_the_limit(client: openai.OpenAI):
    with pytest.raises(IncompleteOutputException):
        ask(instructor.from_openai(client, mode=instructor.Mode.JSON), "cut", max_tokens=20, max_retries=0)


def test_breaks_in_the_middle(client: openai.OpenAI):
    with pytest.raises(Exception, match=FIRE):
        ask(instructor.from_openai(client, mode=instructor.Mode.JSON), "break", max_retries=0)
