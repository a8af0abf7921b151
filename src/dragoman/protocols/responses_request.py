"""A Responses request, read: every field is mapped, ignored, or refused by name.

Unknown fields are ignored, because clients send many.
A known field is refused where ignoring it would change what the answer means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..messages import Request
from .chat_request import read_stop
from .chat_sampling import read_sampling
from .chat_thinking import read_thinking
from .fields import Fields, fields_of, invalid, unsupported
from .left_out import left_out
from .responses_items import read_items
from .responses_tools import Offer, read_tools

__all__ = ["Settings", "read_request"]

NAMES = ("openai", "open-responses")
TOOL_ARGUMENTS = ("live", "buffered")
_SUMMARIES = ("auto", "concise", "detailed")
_SEALED = "reasoning.encrypted_content"
_LOGPROBS = "message.output_text.logprobs"


@dataclass(slots=True)
class Settings:
    """How the answer is to be written.

    `stream`: as events.  `stats`: with timings and the like, where the engine tells them.
    `reasoning_field`: none leaves reasoning out; every other value shows it.
    `tool_arguments`: live, or buffered (a call appears only when it is whole; a cut one never).
    `responses_names`: what the events of reasoning are called: as openai or open-responses does.
    `summary`: reasoning is shown as a summary too.  `sealed`: and given along as `encrypted_content`.
    `only`: names that may be called, None for all.  `spaces`: offered name -> namespace and name within it.
    `store`: keep the response.  `background`: answer at once, work on.  `previous`: the response that this one follows.
    `truncation`: disabled, or auto (the oldest messages go where the context is too small).
    `echo`: what the response repeats of the request.
    `ignored`: fields whose value was not understood and left aside.
    """

    stream: bool = False
    stats: bool = False
    reasoning_field: str = "reasoning_content"
    tool_arguments: str = "live"
    responses_names: str = "openai"
    summary: bool = False
    sealed: bool = False
    only: frozenset[str] | None = None
    spaces: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    store: bool = True
    background: bool = False
    previous: str = ""
    truncation: str = "disabled"
    echo: Mapping[str, Any] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def read_request(data: Mapping[str, Any], defaults: Settings | None = None) -> tuple[Request, Settings]:
    """Read a request's JSON object; `defaults` are the server's own settings.

    What `previous_response_id` refers to must stand in the input already: this reads, and keeps nothing.

    Raises:
        RequestError: a field is missing, wrong or not offered; `param` is its path.
    """
    fields = fields_of(data)
    _refuse(fields)
    offer = read_tools(fields)
    thinking, ignored = read_thinking(fields)
    messages, unknown = read_items(fields, offer)
    request = Request(
        model=fields.text("model"),
        messages=messages,
        tools=offer.tools,
        choice=offer.choice,
        parallel=fields.flag("parallel_tool_calls", default=True),
        limit=_limit(fields),
        stop=read_stop(fields),
        schema=_schema(fields),
        thinking=thinking,
        sampling=read_sampling(fields),
        logprobs=_logprobs(fields),
        template_kwargs=fields.mapping("chat_template_kwargs"),
    )
    settings = _settings(fields, defaults or Settings(), offer)
    settings.ignored = (*offer.ignored, *ignored, *unknown, *settings.ignored, *left_out(fields))
    settings.echo = _echo(fields, request, settings, offer)
    return request, settings


def _refuse(fields: Fields) -> None:
    for key in ("conversation", "prompt", "context_management"):
        if key in fields:
            unsupported(key, "is not offered here")
    if fields.flag("background") and not fields.flag("store", default=True):
        invalid("background", "needs store: the answer is fetched later")


def _settings(fields: Fields, defaults: Settings, offer: Offer) -> Settings:
    reasoning = fields.inner("reasoning") if isinstance(fields.get("reasoning"), Mapping) else Fields({})
    summary = reasoning.get("summary") or reasoning.get("generate_summary")
    include = fields.items("include")
    unknown = [f"include[{index}]" for index, name in enumerate(include) if name not in (_SEALED, _LOGPROBS)]
    return replace(
        defaults,
        stream=fields.flag("stream", default=defaults.stream),
        stats=fields.flag("stats", default=defaults.stats),
        tool_arguments=fields.word("tool_arguments", TOOL_ARGUMENTS, defaults.tool_arguments),
        responses_names=fields.word("responses_names", NAMES, defaults.responses_names),
        summary=summary in _SUMMARIES,
        sealed=_SEALED in include,
        only=offer.only,
        spaces=offer.spaces,
        store=fields.flag("store", default=defaults.store),
        background=fields.flag("background"),
        previous=fields.text("previous_response_id"),
        truncation=fields.word("truncation", ("disabled", "auto"), "disabled"),
        ignored=tuple(unknown),
    )


def _limit(fields: Fields) -> int | None:
    limit = fields.integer("max_output_tokens", None, -1)
    if limit == 0:
        invalid("max_output_tokens", "must be at least 1, or -1 for no limit; it is 0")
    return None if limit == -1 else limit


def _logprobs(fields: Fields) -> int | None:
    top = fields.integer("top_logprobs", None, 0, 20)
    return top or 0 if top or _LOGPROBS in fields.items("include") else None


def _schema(fields: Fields) -> Mapping[str, Any] | None:
    form = fields.inner("text").inner("format")
    word = form.text("type", "text")
    if word == "text":
        return None
    if word == "json_object":
        return {}
    if word != "json_schema":
        unsupported(form.param("type"), f"must be text, json_object or json_schema; it is {word!r:.60}")
    # Clients of the older API write the members of a schema one level deeper.
    holder = form.inner("json_schema") if "json_schema" in form else form
    return holder.mapping("schema")


def _echo(fields: Fields, request: Request, settings: Settings, offer: Offer) -> dict[str, Any]:
    """Every field of a response that repeats the request, with the value that was used."""
    sampling = request.sampling
    return {
        "previous_response_id": settings.previous or None,
        "instructions": fields.get("instructions"),
        "tools": offer.echo,
        "tool_choice": _choice(fields),
        "truncation": settings.truncation,
        "parallel_tool_calls": request.parallel,
        "text": {**fields.mapping("text"), "format": _format(fields)},
        "top_p": sampling.get("top_p", 1.0),
        "presence_penalty": sampling.get("presence_penalty", 0.0),
        "frequency_penalty": sampling.get("frequency_penalty", 0.0),
        "top_logprobs": request.logprobs or 0,
        "temperature": sampling.get("temperature", 1.0),
        "reasoning": _reasoning(fields),
        "max_output_tokens": request.limit,
        "max_tool_calls": fields.integer("max_tool_calls", None, 1),
        "store": settings.store,
        "background": settings.background,
        "service_tier": "default",
        "metadata": dict(fields.mapping("metadata")),
        **{key: fields.text(key) or None for key in ("safety_identifier", "prompt_cache_key", "user")},
    }


def _choice(fields: Fields) -> Any:
    choice = fields.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("type") == "allowed_tools":
        return {"mode": "auto", **choice}
    return choice or "auto"


def _format(fields: Fields) -> Mapping[str, Any]:
    form = fields.inner("text").inner("format")
    if form.text("type") != "json_schema":
        return {"type": form.text("type", "text")}
    inner = form.inner("json_schema") if "json_schema" in form else form
    facts = {"description": inner.text("description") or None, "strict": inner.flag("strict")}
    return {"type": "json_schema", "name": inner.text("name", "answer"), **facts, "schema": inner.mapping("schema")}


def _reasoning(fields: Fields) -> dict[str, Any]:
    given = fields.get("reasoning")
    given = given if isinstance(given, Mapping) else {}
    return {"effort": given.get("effort"), "summary": given.get("summary") or given.get("generate_summary")}
