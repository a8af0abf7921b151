"""How every engine refuses what no engine can do, in the same words; and what an upstream refuses, in ours."""

from __future__ import annotations

from ..errors import DragomanError, EngineError, RequestError
from ..protocols import wire
from ..protocols.chat import read_error

__all__ = ["bad_grammar", "overflow", "refused"]

_WRONG = (400, 413, 422)  # the request is, and so the client's
_HINTS = {
    401: "the upstream's key is missing or wrong",
    403: "the upstream's key may not do this",
    404: "is the upstream's URL right, and does it know this model?",
}


def overflow(prompt: object, context: object) -> RequestError:
    """The prompt is longer than the context; both in tokens."""
    return RequestError(
        f"This model's maximum context length is {context} tokens, but the prompt has {prompt} tokens. "
        "Shorten the messages or the tools, or serve the model with a larger context.",
        param="messages",
        code="context_length_exceeded",
    )


def bad_grammar(problem: str) -> RequestError:
    """The engine cannot read the grammar."""
    return RequestError(f"the engine cannot use this grammar: {problem}", code="grammar_refused")


def refused(status: int, body: str, engine: str) -> DragomanError:
    """An answer of an upstream that is not 200: what it says, and whose fault it is."""
    try:
        told = wire.load(body)
    except ValueError:
        told = body[:500].strip()
    error = read_error(told, status, engine)
    if isinstance(error, RequestError):
        return error
    if status in _WRONG:
        return RequestError(f"the upstream refuses this request: {error.message}")
    return _with_hint(error, f"the upstream answered {status}: {error.message}", _HINTS.get(status, ""))


def _with_hint(error: EngineError, message: str, hint: str) -> EngineError:
    return type(error)(message, engine=error.engine, hint=hint, status=error.status)
