"""The endpoints of text: the older Completions, and what local servers tell of texts and their tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.routing import Route

from ..engines.base import tokenizer
from ..engines.prompt import render
from ..messages import Request
from ..protocols import completions
from ..protocols.tokens import read_detokenize, read_template, read_tokenize, write_text, write_tokens
from .endpoints import Answers, Replies, both
from .roster import Served
from .service import Service

__all__ = ["routes"]


def routes(service: Service) -> list[Route]:
    """All paths, with and without /v1."""
    return [
        *both("/completions", Answers(service, completions, "cmpl-")),
        *both("/tokenize", Replies(service, _tokenize)),
        *both("/detokenize", Replies(service, _detokenize)),
        *both("/apply-template", Replies(service, _template)),
    ]


async def _tokenize(service: Service, data: Mapping[str, Any]) -> dict[str, Any]:
    wanted = read_tokenize(data)
    served = service.pick(wanted.model)
    text = _rendered(wanted.request, served) if wanted.request else wanted.text
    found = await tokenizer(served.engine).tokenize(text, special=wanted.special, start=wanted.start)
    return write_tokens([(token.id, token.piece) for token in found], wanted, served.info.context)


async def _detokenize(service: Service, data: Mapping[str, Any]) -> dict[str, Any]:
    model, ids = read_detokenize(data)
    return write_text(await tokenizer(service.pick(model).engine).spell(ids))


async def _template(service: Service, data: Mapping[str, Any]) -> dict[str, Any]:
    request = read_template(data)
    return {"prompt": _rendered(request, service.writer(request.model))}


def _rendered(request: Request, served: Served) -> str:
    return render(request, served.info, served.dialect).text
