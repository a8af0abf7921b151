"""A request to the older Completions, read: prompts as they are, and how to go on from them.

Every field is mapped, ignored, or refused by name, as in Chat; what is drawn and how has the same names there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..messages import Raw, Request
from .chat_request import read_schema
from .chat_sampling import read_sampling
from .fields import Fields, fields_of, invalid, is_token, kind, missing, unsupported
from .left_out import left_out

__all__ = ["Settings", "read_request"]

_LIMIT = 16  # tokens, where a request names no limit; so it is in the API
_MOST = 128  # answers to one request


@dataclass(slots=True)
class Settings:
    """How the answer is to be written.

    `stream`: as events.  `include_usage`: with a usage chunk at their end.  `echo`: the prompt stands before the text.
    `stats`: with timings and the like, where the engine tells them.  `ignored`: fields that were left aside.
    """

    stream: bool = False
    include_usage: bool = False
    echo: bool = False
    stats: bool = False
    ignored: tuple[str, ...] = ()


def read_request(data: Mapping[str, Any], defaults: Settings | None = None) -> tuple[Request, Settings]:
    """Read a request's JSON object; `defaults` are the server's own settings.

    Raises:
        RequestError: a field is missing, wrong or not offered; `param` is its path.
    """
    fields, defaults = fields_of(data), defaults or Settings()
    prompts = tuple(_prompts(fields))
    request = Request(
        model=fields.text("model"),
        prompts=prompts,
        limit=_limit(fields),
        stop=_stop(fields),
        schema=read_schema(fields),
        sampling=read_sampling(fields),
        n=_count(fields, len(prompts)),
        logprobs=fields.integer("logprobs", None, 0, 20),
    )
    settings = replace(
        defaults,
        stream=fields.flag("stream", default=defaults.stream),
        include_usage=fields.inner("stream_options").flag("include_usage", default=defaults.include_usage),
        echo=fields.flag("echo", default=defaults.echo),
        stats=fields.flag("stats", default=defaults.stats),
        ignored=left_out(fields),
    )
    _refuse(fields, request, settings)
    return request, settings


def _refuse(fields: Fields, request: Request, settings: Settings) -> None:
    if fields.text("suffix"):
        unsupported(
            "suffix", "is not offered here: the model is not asked to fill a gap; put all of it into the prompt"
        )
    if settings.echo and request.logprobs is not None:
        unsupported("logprobs", "cannot be had together with echo: the engine tells those of its own tokens alone")
    if request.limit == 0 and not settings.echo:
        invalid("max_tokens", "must be at least 1, or -1 for no limit; 0 makes sense only with echo")


def _prompts(fields: Fields) -> Sequence[Raw]:
    prompt = fields.get("prompt")
    if prompt is None:
        chat = "; messages go to /v1/chat/completions" if "messages" in fields else ""
        missing("prompt", f"a text, the ids of its tokens, or a list of either{chat}")
    if isinstance(prompt, str):
        return [Raw(prompt)]
    if not isinstance(prompt, list | tuple) or not prompt:
        invalid("prompt", f"must be a text, the ids of its tokens, or a list of either; it is {_said(prompt)}")
    if isinstance(prompt[0], int):
        return [_ids(prompt, "prompt")]
    return [_prompt(item, f"prompt[{index}]") for index, item in enumerate(prompt)]


def _prompt(item: Any, where: str) -> Raw:
    if isinstance(item, str):
        return Raw(item)
    if not isinstance(item, list | tuple) or not item:
        invalid(where, f"must be a text or the ids of its tokens; it is {_said(item)}", "invalid_type")
    return _ids(item, where)


def _ids(items: Sequence[Any], where: str) -> Raw:
    for index, item in enumerate(items):
        if not is_token(item):
            invalid(f"{where}[{index}]", f"must be the id of a token; it is {item!r:.40}", "invalid_type")
    return Raw(ids=tuple(items))


def _said(value: Any) -> str:
    return "empty" if isinstance(value, list | tuple) else kind(value)


def _limit(fields: Fields) -> int | None:
    key = fields.first("max_tokens", "max_completion_tokens", "n_predict")
    limit = fields.integer(key, _LIMIT, -1)
    return None if limit == -1 else limit


def _stop(fields: Fields) -> tuple[str, ...]:
    value = fields.get("stop")
    texts = [value] if isinstance(value, str) else fields.items("stop")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            invalid(f"stop[{index}]", f"must be a string; it is {kind(text)}", "invalid_type")
    return tuple(text for text in texts if text)


def _count(fields: Fields, prompts: int) -> int:
    count = fields.integer("n", 1, 1, _MOST) or 1
    if count * prompts > _MOST:
        invalid("n", f"asks for {count * prompts} answers together with the prompts; the most is {_MOST}")
    best = fields.integer("best_of", count, 1, _MOST)
    if best != count:
        unsupported("best_of", f"must be n ({count}), or absent: no answers are made only to be thrown away")
    return count
