"""The fields of requests for embeddings, of OpenAI and of Ollama, and what becomes of each."""

from __future__ import annotations

from .vocabulary import Field, fields

__all__ = ["EMBEDDINGS", "OLLAMA_EMBED", "OLLAMA_EMBEDDINGS"]

EMBEDDINGS: list[Field] = [
    *fields(
        "mapped",
        [
            ("model", "string", "the name of the model", "other"),
            ("input", "string|array", "a text, texts, the ids of tokens, or lists of them", ["a", "b"]),
            ("encoding_format", "string", "float, or base64 of little-endian 32-bit numbers", "base64"),
            ("dimensions", "integer", "numbers of a vector; fewer only where the model was trained for that", 2),
        ],
    ),
    *fields("ignored", [("user", "string", "who asks", "u")]),
    *fields(
        "noted",
        [
            ("input_type", "string", "another server's way to choose a prefix; write it before the text", "query"),
            ("instruction", "string", "the same", "Find"),
            ("normalize", "boolean", "vectors always have the length 1", False),
            ("truncate_prompt_tokens", "integer", "another server's way to cut; what is too long is refused", 9),
        ],
    ),
]

_KEPT = ("keep_alive", "string|number", "how long the model stays loaded: it always does", "5m")
_OPTIONS = ("options", "object", "of the machine, or of writing; `num_ctx` is noted", {"num_thread": 1})

OLLAMA_EMBED: list[Field] = [
    *fields(
        "mapped",
        [
            ("model", "string", "the name of the model", "other"),
            ("input", "string|array", "a text or texts", ["a", "b"]),
            ("truncate", "boolean", "what is too long is cut, and else refused", False),
            ("dimensions", "integer", "numbers of a vector; fewer only where the model was trained for that", 2),
        ],
    ),
    *fields("ignored", [_KEPT, _OPTIONS]),
]

OLLAMA_EMBEDDINGS: list[Field] = [
    *fields(
        "mapped",
        [
            ("model", "string", "the name of the model", "other"),
            ("prompt", "string", "the text", "Another text."),
        ],
    ),
    *fields("ignored", [_KEPT, _OPTIONS]),
]
