"""The OpenAPI document of the whole server: every route, what it takes, what it gives, and how it tells errors.

Bodies of requests are made from the tables of fields, so the document and the server cannot differ.
A route that stands in no table here is told by what kind of endpoint it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from ..protocols.tables import VOCABULARY
from ..protocols.vocabulary import Field
from ..version import __version__
from .endpoints import Answers, Refusals, Replies
from .operations import OPERATIONS, Operation
from .service import Service

__all__ = ["document", "paths", "tell"]

_PARAMETER = re.compile(r"{(\w+)(?::\w+)?}")
_INFO = {
    "title": "dragoman",
    "version": __version__,
    "description": "Open-weight language models in every protocol that clients speak.",
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}
_NULLABLE = {"type": ["string", "null"]}
_ERRORS: Mapping[str, Mapping[str, Any]] = {
    "OpenAIError": {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["message", "type", "param", "code"],
                "properties": {
                    "message": {"type": "string"},
                    "type": {"type": "string"},
                    "param": _NULLABLE,
                    "code": _NULLABLE,
                },
            }
        },
    },
    "AnthropicError": {
        "type": "object",
        "required": ["type", "error"],
        "properties": {
            "type": {"const": "error"},
            "error": {
                "type": "object",
                "required": ["type", "message"],
                "properties": {"type": {"type": "string"}, "message": {"type": "string"}},
            },
            "request_id": _NULLABLE,
        },
    },
    "OllamaError": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
}
_STATUSES = {
    "400": "the request is wrong",
    "401": "the API key is missing or wrong",
    "404": "there is no such model, or no such thing",
    "413": "the body is too large",
    "415": "the body is no JSON",
    "429": "too many requests at once; Retry-After says when",
    "500": "an internal error",
    "501": "the engine cannot do it",
    "502": "the engine failed",
    "503": "the engine is not ready",
    "504": "the engine was too slow",
}


def tell(_: Service, scope: Scope) -> tuple[int, Any]:
    """The document of the application that was asked."""
    return 200, document(scope["app"].routes)


def document(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """The document of these routes."""
    told = {_PARAMETER.sub(r"{\1}", route.path): _path(route) for route in routes if isinstance(route, Route)}
    keys = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    }
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "paths": told,
        "components": {"schemas": {**_ERRORS, **_bodies()}, "securitySchemes": keys},
        "security": [{}, {"bearer": []}, {"key": []}],
    }


def paths(routes: Iterable[BaseRoute]) -> list[str]:
    """All paths; of one that is there with /v1 and without it, the first."""
    found = [_PARAMETER.sub(r"{\1}", route.path) for route in routes if isinstance(route, Route)]
    return [path for path in dict.fromkeys(found) if f"/v1{path}" not in found]


def _path(route: Route) -> dict[str, Any]:
    path = route.path.removeprefix("/v1")
    known = OPERATIONS.get(path) or OPERATIONS.get(route.path)
    operations = known or (_usual(route),)
    names = _PARAMETER.findall(route.path)
    told: dict[str, Any] = {operation.method: _operation(operation, route.path) for operation in operations}
    if names:
        told["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    return told


def _usual(route: Route) -> Operation:
    """An operation of a route that no table tells of."""
    if isinstance(route.endpoint, Answers | Replies):
        return Operation("post", f"What {route.path} answers")
    if isinstance(route.endpoint, Refusals):
        return Operation("post", "Not offered here", gives="")
    return Operation("get", f"What {route.path} tells")


def _operation(operation: Operation, path: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "summary": operation.summary,
        "tags": [_family(path)],
        "responses": {**_answers(operation), **_failures(path)},
    }
    if operation.query:
        told["parameters"] = [{"name": name, "in": "query", "schema": dict(shape)} for name, shape in operation.query]
    if operation.method == "post" and operation.takes is not None:
        shape = {"$ref": f"#/components/schemas/{_body(operation.takes)}"} if operation.takes else {"type": "object"}
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": shape}}}
    return told


def _answers(operation: Operation) -> dict[str, Any]:
    if not operation.gives:
        return {}
    content: dict[str, Any] = {operation.gives: {"schema": {"type": "object"} if "json" in operation.gives else {}}}
    if operation.streams:
        content[operation.streams] = {"schema": {"type": "string"}}
    return {str(status): {"description": "the answer", "content": content} for status in operation.statuses}


def _failures(path: str) -> dict[str, Any]:
    names = {"Ollama": "OllamaError", "Messages": "AnthropicError"}
    shape = {"$ref": f"#/components/schemas/{names.get(_family(path), 'OpenAIError')}"}
    content = {"application/json": {"schema": shape}}
    return {status: {"description": words, "content": content} for status, words in _STATUSES.items()}


def _family(path: str) -> str:
    stem = path.removeprefix("/v1")
    for beginning, name in (("/api", "Ollama"), ("/messages", "Messages"), ("/responses", "Responses")):
        if stem.startswith(beginning):
            return name
    return "dragoman" if stem.startswith(("/dragoman", "/metrics", "/health", "/openapi")) or stem == "/" else "OpenAI"


# --- bodies


@cache
def _bodies() -> dict[str, Any]:
    return {_body(title): _shape(title, table) for title, table in VOCABULARY.items() if "options" not in title}


def _body(title: str) -> str:
    return re.sub(r"\W+", "", title.title()) + "Request"


def _shape(title: str, table: Sequence[Field]) -> dict[str, Any]:
    required = {
        "Chat Completions": "messages",
        "Responses": "input",
        "Messages": "messages",
        "Completions": "prompt",
        "Embeddings": "input",
    }
    needed = [required[title]] if title in required else []
    properties = {field.name: field.schema for field in table if field.fate != "refused"}
    for name in needed:
        properties[name] = {**properties[name], "type": [kind for kind in properties[name]["type"] if kind != "null"]}
    return {"type": "object", "required": needed, "properties": properties, "additionalProperties": True}
