"""The tables of fields are true: each field is sent, and what happened is looked at; and no field is missing."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import message_create_params as messages_params
from anthropic.types.beta import message_create_params as beta_params
from openai.types import completion_create_params as completion_params
from openai.types import embedding_create_params
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params

from dragoman.errors import RequestError
from dragoman.protocols import (
    chat,
    completions,
    embeddings,
    messages_api,
    ollama,
    ollama_embed,
    ollama_embeddings,
    ollama_generate,
    responses,
)
from dragoman.protocols.vocabulary import FATES, Field
from dragoman.protocols.vocabulary_embeddings import EMBEDDINGS, OLLAMA_EMBED, OLLAMA_EMBEDDINGS
from dragoman.protocols.vocabulary_openai import CHAT, COMPLETIONS, RESPONSES
from dragoman.protocols.vocabulary_others import GENERATE, MESSAGES, OLLAMA, OLLAMA_OPTIONS

USER = [{"role": "user", "content": "Hi"}]
TABLES: dict[str, tuple[Any, list[Field], dict[str, Any]]] = {
    "chat": (chat, CHAT, {"messages": USER}),
    "responses": (responses, RESPONSES, {"input": "Hi"}),
    "completions": (completions, COMPLETIONS, {"prompt": "Hi"}),
    "messages": (messages_api, MESSAGES, {"messages": USER, "max_tokens": 99}),
    "ollama": (ollama, [*OLLAMA, *OLLAMA_OPTIONS], {"messages": USER}),
    "generate": (ollama_generate, [*GENERATE, *OLLAMA_OPTIONS], {"prompt": "Hi"}),
    "embeddings": (embeddings, EMBEDDINGS, {"input": "Hi"}),
    "embed": (ollama_embed, OLLAMA_EMBED, {"input": "Hi"}),
    "embed, older": (ollama_embeddings, OLLAMA_EMBEDDINGS, {"prompt": "Hi"}),
}
SDK: dict[str, Any] = {
    "chat": [chat_params.CompletionCreateParamsBase],
    "responses": [responses_params.ResponseCreateParamsBase],
    "completions": [completion_params.CompletionCreateParamsBase],
    "embeddings": [embedding_create_params.EmbeddingCreateParams],
    "messages": [messages_params.MessageCreateParamsBase, beta_params.MessageCreateParamsBase],
}
ALL = [(name, field) for name, (_, table, _) in TABLES.items() for field in table]


class Recorder(dict[str, Any]):
    """An object that knows which of its members were looked at."""

    def __init__(self, data: dict[str, Any]) -> None:
        super().__init__(data)
        self.asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def read(name: str, body: dict[str, Any]) -> tuple[Any, Any]:
    result: tuple[Any, Any] = TABLES[name][0].read_request(body)
    return result


def sent(body: dict[str, Any], field: Field) -> dict[str, Any]:
    if field.name.startswith("options."):
        return {**body, "options": {field.name.removeprefix("options."): field.example}}
    return {**body, field.name: field.example}


@pytest.mark.must("S9", "O8")
@pytest.mark.parametrize(("name", "field"), ALL, ids=[f"{name}-{field.name}" for name, field in ALL])
def test_a_field_has_its_fate(name: str, field: Field) -> None:
    body = {**TABLES[name][2], **(field.needs or {})}
    if field.fate == "refused":
        with pytest.raises(RequestError) as error:
            read(name, sent(body, field))
        assert str(error.value.param).startswith(field.name)
        return
    before, after = read(name, body), read(name, sent(body, field))
    if field.fate == "noted":
        assert after[1].ignored == (field.name,)
        assert after[0] == before[0]
    elif field.fate == "ignored":
        assert after == before
    else:
        assert after != before


@pytest.mark.parametrize("name", TABLES)
def test_each_field_stands_in_the_table_once(name: str) -> None:
    names = [field.name for field in TABLES[name][1]]
    doubled = {field for field in names if names.count(field) > 1}
    assert not doubled - {"temperature", "seed", "options.temperature", "options.seed"}
    assert all(field.fate in FATES for field in TABLES[name][1])


@pytest.mark.parametrize("name", TABLES)
def test_every_field_that_is_read_stands_in_the_table(name: str) -> None:
    recorder = Recorder(TABLES[name][2])
    read(name, recorder)
    spoken = {"prefix", "partial", "role"}
    known = {field.name for field in TABLES[name][1]}
    assert not recorder.asked - known - spoken - ({"functions"} if name == "ollama" else set())


@pytest.mark.parametrize("name", SDK)
def test_every_field_of_the_sdk_stands_in_the_table(name: str) -> None:
    names = {key for params in SDK[name] for key in params.__annotations__}
    assert not names - {field.name for field in TABLES[name][1]}
