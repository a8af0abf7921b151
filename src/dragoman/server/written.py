"""Forced calls for an engine that takes no grammar, but a JSON schema for all that it writes (Ollama's `format`).

The marks around the call are not left to the model: the opening one is put behind the prompt, the closing one behind
what comes.  Where a call is not one JSON object, or the prompt has opened the reasoning, nothing can be forced.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from .. import api
from ..errors import UsageError
from ..messages import Request
from ..syntax.dialect import Dialect
from ..syntax.template import split

__all__ = ["by_schema"]


def by_schema(request: Request, dialect: Dialect, prompt: str) -> tuple[str, tuple[str, str]]:
    """The schema of a forced call, and what stands around it; "" where nothing is forced, or nothing can be."""
    bare = _bare(dialect)
    if request.choice in ("auto", "none") or bare is None or _thinks(dialect, prompt):
        return "", ("", "")
    try:
        schema = api.constrain(bare, request.tools, request.choice, form="json_schema", parallel=False)
    except UsageError:
        return "", ("", "")
    (outer, _, end), (inner, _, close) = split(dialect.section or "{calls}"), split(dialect.call)
    return schema, (outer + inner, close + end)


@lru_cache(128)
def _bare(dialect: Dialect) -> Dialect | None:
    """It without the marks around its calls; None where a call is more than one text between marks."""
    if dialect.frame is not None or "{call}" not in dialect.call or dialect.call.count("{") > 1:
        return None
    return replace(dialect, call="{call}", section="", also=())


def _thinks(dialect: Dialect, prompt: str) -> bool:
    """Whether the model goes on in its reasoning."""
    opens = split(dialect.reasoning)[0].strip() if dialect.reasoning else ""
    return bool(opens) and prompt.rstrip().endswith(opens)
