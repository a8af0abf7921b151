"""An Ollama request, read: /api/chat and /api/generate differ only in where the conversation stands.

Unknown fields are ignored, as are options about the machine; those of the model's settings that cannot be chosen by a
request (such as `num_ctx`) are reported.  What would change the meaning of an answer is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..messages import Message, Raw, Request, Text
from .chat_sampling import read_sampling
from .chat_thinking import read_thinking
from .chat_tools import read_tools
from .fields import Fields, fields_of, invalid, kind, unsupported
from .left_out import left_out
from .ollama_context import unpack
from .ollama_messages import read_images, read_messages

__all__ = ["Settings", "read_chat", "read_generate"]

# Options that are the server's to decide, and that a client should hear of.
_FIXED = ("num_ctx", "num_keep", "tfs_z", "penalize_newline", "draft_num_predict")


@dataclass(slots=True)
class Settings:
    """How the answer is to be written.

    `stream`: in lines.  `stats`: always, as each answer tells its durations.
    `reasoning_field`: reasoning is shown as `thinking`, unless this is `none`.
    `idle`: why nothing is generated (load, unload), or "".
    `ignored`: fields whose value was left aside.
    """

    stream: bool = True
    stats: bool = True
    reasoning_field: str = "reasoning_content"
    idle: str = ""
    ignored: tuple[str, ...] = ()


def read_chat(data: Mapping[str, Any], defaults: Settings | None = None) -> tuple[Request, Settings]:
    """Read a request to /api/chat; `defaults` are the server's own settings.

    Raises:
        RequestError: a field is wrong or not offered; `param` is its path.
    """
    fields = _fields(data)
    tools, choice = read_tools(fields)
    messages = read_messages(fields)
    request = _request(fields, messages)
    request = replace(request, tools=tools, choice=choice, continue_last=_continues(messages))
    return request, _settings(fields, request, defaults, idle=not messages)


def read_generate(data: Mapping[str, Any], defaults: Settings | None = None) -> tuple[Request, Settings]:
    """Read a request to /api/generate; the rest as in `read_chat`."""
    fields = _fields(data)
    for key in ("suffix", "template"):
        if fields.text(key):
            unsupported(key, "is not offered here; leave it out" if key == "suffix" else _TEMPLATE)
    prompt = fields.text("prompt")
    images = tuple(read_images(fields))
    idle = not (prompt or images)
    if fields.flag("raw"):
        request = replace(_request(fields, ()), prompts=(_raw(fields, prompt),))
    else:
        request = _request(fields, (*_before(fields), Message("user", (*images, Text(prompt)))))
    return request, _settings(fields, request, defaults, idle=idle)


_TEMPLATE = "cannot be sent with a request; the model's own is used, or none with raw"


def _fields(data: Mapping[str, Any]) -> Fields:
    return fields_of(data)


def _request(fields: Fields, messages: tuple[Message, ...]) -> Request:
    """What both endpoints say alike."""
    options = fields.inner("options")
    return Request(
        model=fields.text("model"),
        messages=messages,
        limit=_limit(options),
        stop=_stop(options),
        schema=_schema(fields),
        thinking=_thinking(fields),
        sampling=read_sampling(options),
        logprobs=_logprobs(fields),
    )


def _settings(fields: Fields, request: Request, defaults: Settings | None, *, idle: bool) -> Settings:
    defaults = defaults or Settings()
    options = fields.inner("options")
    # Where no thinking is wanted, none is shown, whatever the model does.
    shown = "none" if request.thinking is False else defaults.reasoning_field
    return replace(
        defaults,
        stream=fields.flag("stream", default=defaults.stream),
        reasoning_field=shown,
        idle=_idle(fields) if idle else "",
        ignored=(*(options.param(name) for name in _FIXED if name in options), *left_out(options)),
    )


def _idle(fields: Fields) -> str:
    """A request that asks nothing loads the model, or unloads it if it is not to be kept alive."""
    kept = fields.get("keep_alive")
    return "unload" if kept in (0, "0", "0s", "0m") and kept is not False else "load"


def _continues(messages: tuple[Message, ...]) -> bool:
    """A last message of the assistant is the beginning of the answer."""
    last = messages[-1] if messages else Message("user")
    return last.role == "assistant" and bool(last.parts) and isinstance(last.parts[-1], Text)


def _before(fields: Fields) -> tuple[Message, ...]:
    """What stands before the prompt: the system's text and the conversation so far."""
    history = unpack(fields.items("context"), fields.param("context"))
    system = fields.text("system")
    if not system:
        return history
    return (Message("system", (Text(system),)), *(message for message in history if message.role != "system"))


def _raw(fields: Fields, prompt: str) -> Raw:
    for key in ("system", "context", "images"):
        if fields.get(key):
            invalid(key, "has no place in a raw prompt")
    return Raw(prompt)


def _limit(options: Fields) -> int | None:
    """Zero and less mean no limit."""
    limit = options.integer("num_predict", None, -(2**31)) or 0
    return limit if limit > 0 else None


def _stop(options: Fields) -> tuple[str, ...]:
    value = options.get("stop")
    texts = [value] if isinstance(value, str) else options.items("stop")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            invalid(f"{options.param('stop')}[{index}]", f"must be a string; it is {kind(text)}", "invalid_type")
    return tuple(text for text in texts if text)


def _schema(fields: Fields) -> Mapping[str, Any] | None:
    form = fields.get("format")
    if form is None or form == "":
        return None
    if isinstance(form, Mapping):
        return form
    if form != "json":
        invalid("format", f"must be json or a JSON schema; it is {form!r:.60}")
    return {}


def _thinking(fields: Fields) -> bool | str | None:
    think = fields.get("think")
    if think is None or isinstance(think, bool):
        return think
    thinking, unknown = read_thinking(Fields({"reasoning_effort": think}))
    if unknown:
        invalid("think", f"must be true, false, low, medium, high or max; it is {think!r:.60}")
    return thinking


def _logprobs(fields: Fields) -> int | None:
    top = fields.integer("top_logprobs", 0, 0, 20) or 0
    return top if fields.flag("logprobs") else None
