"""A request, written for an upstream that speaks the older Completions."""

from __future__ import annotations

from typing import Any

from ..messages import Request
from .chat_sampling import write_sampling
from .completions_request import Settings

__all__ = ["write_request"]


def write_request(request: Request, settings: Settings) -> dict[str, Any]:
    """The JSON object to send; `read_request` gives the same request again."""
    prompts: list[Any] = [list(prompt.ids) or prompt.text for prompt in request.prompts]
    fields = {
        "model": request.model,
        "prompt": prompts[0] if len(prompts) == 1 else prompts,
        "max_tokens": -1 if request.limit is None else request.limit,
        "stream": settings.stream,
        "stream_options": {"include_usage": True} if settings.stream and settings.include_usage else None,
        "echo": settings.echo or None,
        "stop": list(request.stop) or None,
        "n": request.n if request.n > 1 else None,
        "logprobs": request.logprobs,
        **write_sampling(request.sampling),
    }
    return {key: value for key, value in fields.items() if value is not None}
