"""A Chat Completions request, read: every field is mapped, ignored, or refused by name.

Unknown fields are ignored, because clients send many.
A known field is refused where ignoring it would change what the answer means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..messages import Request
from . import wire
from .chat_messages import read_messages
from .chat_sampling import read_sampling
from .chat_thinking import read_thinking
from .chat_tools import read_tools, unread
from .fields import Fields, fields_of, invalid, kind, missing, unsupported
from .left_out import left_out

__all__ = ["Settings", "read_request", "read_schema", "read_stop"]

REASONING_FIELDS = ("reasoning_content", "reasoning", "both", "none", "inline")
TOOL_ARGUMENTS = ("live", "buffered")


@dataclass(slots=True)
class Settings:
    """How the answer is to be written.

    `stream`: as events.  `include_usage`: with a usage chunk at their end.
    `reasoning_field`: reasoning_content, reasoning, both, none (left out), or inline (in the content, between tags).
    `tool_arguments`: live, or buffered (a call appears only when it is whole; a cut one never).
    `logprobs`: with log probabilities.  `stats`: with timings and the like, where the engine tells them.
    `functions`: calls as `function_call`, the form before tools.
    `finish_reason_named`: what the finish of a call that the request named is called, tool_calls or stop.
    `ignored`: fields whose value was not understood and left aside.
    """

    stream: bool = False
    include_usage: bool = False
    reasoning_field: str = "reasoning_content"
    tool_arguments: str = "live"
    logprobs: bool = False
    stats: bool = False
    functions: bool = False
    finish_reason_named: str = "tool_calls"
    ignored: tuple[str, ...] = ()


def read_request(data: Mapping[str, Any], defaults: Settings | None = None) -> tuple[Request, Settings]:
    """Read a request's JSON object; `defaults` are the server's own settings.

    Raises:
        RequestError: a field is missing, wrong or not offered; `param` is its path.
    """
    fields = fields_of(data)
    _refuse(fields)
    tools, choice = read_tools(fields)
    thinking, ignored = read_thinking(fields)
    request = Request(
        model=fields.text("model"),
        messages=read_messages(fields),
        tools=tools,
        choice=choice,
        parallel=fields.flag("parallel_tool_calls", default=True) and "functions" not in fields,
        limit=_limit(fields),
        stop=read_stop(fields),
        schema=read_schema(fields),
        thinking=thinking,
        sampling=read_sampling(fields),
        n=fields.integer("n", 1, 1, 128) or 1,
        logprobs=_logprobs(fields),
        template_kwargs=_template(fields),
        continue_last=_continues(fields),
    )
    web = ("web_search_options",) if "web_search_options" in fields else ()
    ignored = (*ignored, *web, *unread(tools), *left_out(fields))
    settings = _settings(fields, defaults or Settings())
    return request, replace(settings, logprobs=request.logprobs is not None, ignored=ignored)


def _refuse(fields: Fields) -> None:
    for index, word in enumerate(fields.items("modalities")):
        if word != "text":
            unsupported(f"modalities[{index}]", f"must be text; {word!r:.60} is not offered here")
    if "chat_template" in fields:
        unsupported("chat_template", "cannot be sent with a request; the model's own is used")


def _settings(fields: Fields, defaults: Settings) -> Settings:
    return replace(
        defaults,
        stream=fields.flag("stream", default=defaults.stream),
        include_usage=fields.inner("stream_options").flag("include_usage", default=defaults.include_usage),
        reasoning_field=_reasoning_field(fields, defaults.reasoning_field),
        tool_arguments=fields.word("tool_arguments", TOOL_ARGUMENTS, defaults.tool_arguments),
        stats=fields.flag("stats", default=defaults.stats),
        functions="functions" in fields,
    )


# What other servers call the ways to write reasoning.
_REASONING_FORMATS = {
    "none": "inline",
    "raw": "inline",
    "hidden": "none",
    "deepseek-legacy": "inline",
}


def _reasoning_field(fields: Fields, default: str) -> str:
    if not fields.flag("include_reasoning", default=True) or _excluded(fields):
        return "none"
    if not fields.flag("separate_reasoning", default=True):
        return "inline"
    default = _REASONING_FORMATS.get(fields.text("reasoning_format"), default)
    return fields.word("reasoning_field", REASONING_FIELDS, default)


def _excluded(fields: Fields) -> bool:
    return isinstance(fields.get("reasoning"), Mapping) and fields.inner("reasoning").flag("exclude")


def _limit(fields: Fields) -> int | None:
    key = fields.first("max_completion_tokens", "max_tokens", "n_predict")
    limit = fields.integer(key, None, -1)
    if limit == 0:
        invalid(fields.param(key), "must be at least 1, or -1 for no limit; it is 0")
    return None if limit == -1 else limit


def read_stop(fields: Fields) -> tuple[str, ...]:
    """Up to four stop strings."""
    value = fields.get("stop")
    texts = [value] if isinstance(value, str) else list(fields.items("stop"))
    if len(texts) > 4:
        invalid("stop", f"may hold up to 4 strings; it holds {len(texts)}")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            invalid(f"stop[{index}]", f"must be a string; it is {kind(text)}", "invalid_type")
    return tuple(text for text in texts if text)


def _logprobs(fields: Fields) -> int | None:
    wanted = fields.flag("logprobs")
    top = fields.integer("top_logprobs", 0, 0, 20) or 0
    if top and not wanted:
        invalid("top_logprobs", "needs logprobs to be true")
    return top if wanted else None


def _continues(fields: Fields) -> bool:
    last = [*fields.each("messages")][-1]
    if not (fields.flag("continue_final_message") or last.flag("prefix") or last.flag("partial")):
        return False
    if last.get("role") != "assistant":
        invalid(last.param("role"), "must be assistant in a message that is to be continued")
    return True


def _template(fields: Fields) -> dict[str, Any]:
    documents = {"documents": fields.items("documents")} if "documents" in fields else {}
    return {**fields.mapping("chat_template_kwargs"), **documents}


def read_schema(fields: Fields) -> Mapping[str, Any] | None:
    """The schema that the answer must fit ({}: any object), None for free text."""
    if "response_format" in fields:
        return _response_format(fields.inner("response_format"))
    inner = fields.inner("structured_outputs")
    for key in ("regex", "choice", "grammar", "structural_tag"):
        if key in inner:
            unsupported(inner.param(key), "is not offered here; send response_format with a JSON schema")
    for holder, key in ((fields, "json_schema"), (fields, "guided_json"), (inner, "json")):
        if key in holder:
            return _json(holder, key)
    return None


def _response_format(fields: Fields) -> Mapping[str, Any] | None:
    form = fields.required("type", "text, json_object or json_schema")
    if form == "text":
        return None
    if form == "json_object":
        return _json(fields, "schema")
    if form != "json_schema":
        unsupported(fields.param("type"), f"must be text, json_object or json_schema; it is {form!r:.60}")
    if "json_schema" not in fields:
        missing(fields.param("json_schema"), "an object with a name and a schema")
    return _json(fields.inner("json_schema"), "schema")


def _json(fields: Fields, key: str) -> Mapping[str, Any]:
    if not isinstance(fields.get(key), str):
        return fields.mapping(key)
    try:
        schema = wire.load(fields.text(key))
    except ValueError as error:
        invalid(fields.param(key), f"must be a JSON schema: {error}")
    return Fields({key: schema}, fields.where).mapping(key)
