"""How every engine refuses what no engine can do, in the same words."""

from __future__ import annotations

from ..errors import RequestError

__all__ = ["bad_grammar", "overflow"]


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
