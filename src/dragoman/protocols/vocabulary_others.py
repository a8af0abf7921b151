"""The fields of Messages and of Ollama's two endpoints, and what becomes of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..messages import Message, Text
from .ollama_context import pack
from .vocabulary import Field, fields, sampling

__all__ = ["GENERATE", "MESSAGES", "OLLAMA", "OLLAMA_OPTIONS"]

_USER: Any = [{"role": "user", "content": "Another question."}]
_TOOL: Any = {"name": "ping", "input_schema": {"type": "object"}}
_FUNCTION: Any = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object"}}}
_SO_FAR: Any = pack((Message("user", (Text("Hello"),)),))
_FORM: Any = {"type": "json_schema", "schema": {"type": "object"}}

MESSAGES: list[Field] = [
    *fields(
        "mapped",
        [
            ("model", "string", "the name of the model", "other"),
            ("messages", "array", "the conversation", _USER),
            ("system", "string|array", "the system's text, or blocks of it", "Be brief."),
            ("max_tokens", "integer", "tokens at most, thoughts included", 9),
            ("stream", "boolean", "answer as events", True),
            ("stop_sequences", "array", "strings that end the text", ["END"]),
            ("tools", "array", "tools; hosted ones are left out", [_TOOL]),
            ("tool_choice", "object", "auto, any, tool or none; disable_parallel_tool_use", {"type": "any"},
             {"tools": [_TOOL]}),
            ("thinking", "object", "disabled, enabled with budget_tokens, or adaptive; display", {"type": "disabled"}),
            ("output_config", "object", "effort, and the format of the answer", {"effort": "low"}),
            ("output_format", "object", "the format of the answer, older", _FORM),
            ("chat_template_kwargs", "object", "variables of the chat template", {"a": 1}),
            ("temperature", "number", "how tokens are drawn", 0.5),
            ("seed", "integer", "where chance begins", 7),
            ("stats", "boolean", "add timings and the like to the answer", True),
        ],
    ),
    *fields(
        "ignored",
        [
            ("metadata", "object", "who asks", {"user_id": "u"}),
            ("service_tier", "string", "the host's price", "auto"),
            ("betas", "array", "the host's trials", []),
            ("cache_control", "object", "the host's cache", {"type": "ephemeral"}),
            ("container", "string|object", "the host's machines", "c"),
            ("context_management", "object", "the host's way to shorten a conversation", {"edits": []}),
            ("compaction", "object", "the host's way to shorten a conversation", {}),
            ("inference_geo", "string", "where the host works", "eu"),
            ("speed", "string", "the host's price", "fast"),
            ("billing_policy", "string", "the host's price", "a"),
            ("diagnostics", "object", "the host's log", {}),
            ("fallback_credit_token", "string", "the host's price", "a"),
            ("fallbacks", "array", "other models of the host", []),
            ("thread", "object", "a conversation that the host keeps", {}),
            ("user_profile_id", "string", "who asks", "u"),
            ("workspace_id", "string", "who asks", "w"),
        ],
    ),
    *fields("refused", [("mcp_servers", "array", "tools that the host calls", [{"name": "a"}])]),
    *sampling(),
]  # fmt: skip

_BOTH: list[tuple[Any, ...]] = [
    ("model", "string", "the name of the model", "other"),
    ("stream", "boolean", "answer in lines; the default", False),
    ("format", "string|object", "json, or a schema", "json"),
    ("think", "boolean|string", "whether and how much to think", False),
    ("logprobs", "boolean", "with log probabilities", True),
    ("top_logprobs", "integer", "with so many alternatives", 2, {"logprobs": True}),
    ("options", "object", "how tokens are drawn, and the limit", {"num_predict": 9}),
]
_KEPT = ("keep_alive", "string|number", "how long a model stays loaded: here always", "5m")

OLLAMA: list[Field] = [
    *fields(
        "mapped",
        [
            *_BOTH,
            ("messages", "array", "the conversation", _USER),
            ("tools", "array", "tools", [_FUNCTION]),
            ("tool_choice", "string|object", "as in Chat Completions", "none", {"tools": [_FUNCTION]}),
        ],
    ),
    *fields("ignored", [_KEPT]),
]

GENERATE: list[Field] = [
    *fields(
        "mapped",
        [
            *_BOTH,
            ("prompt", "string", "the user's text", "Another question."),
            ("system", "string", "the system's text", "Be brief."),
            ("images", "array", "images in base64", ["iVBORw0KGgo="]),
            ("context", "array", "the conversation so far, as an answer gave it", _SO_FAR),
            ("raw", "boolean", "the prompt goes to the model as it is", True),
        ],
    ),
    *fields("ignored", [_KEPT]),
    *fields(
        "refused",
        [
            ("suffix", "string", "what stands behind the text", "x"),
            ("template", "string", "a template that comes with the request", "x"),
        ],
    ),
]

OLLAMA_OPTIONS: list[Field] = [
    replace(field, name=f"options.{field.name}")
    for field in [
        *fields(
            "mapped",
            [
                ("num_predict", "integer", "tokens at most; -1 is no limit", 9),
                ("stop", "string|array", "strings that end the text", ["END"]),
                ("temperature", "number", "how tokens are drawn", 0.5),
                ("seed", "integer", "where chance begins", 7),
            ],
        ),
        *fields(
            "noted",
            [
                ("num_ctx", "integer", "the size of the context: it is the server's", 4096),
                ("num_keep", "integer", "what stays where the context is full", 4),
                ("tfs_z", "number", "an old way to draw tokens", 1.0),
                ("penalize_newline", "boolean", "an old way to draw tokens", True),
                ("draft_num_predict", "integer", "tokens of a draft", 4),
            ],
        ),
        *fields(
            "ignored",
            [
                ("num_batch", "integer", "of the machine", 512),
                ("num_gpu", "integer", "of the machine", 1),
                ("main_gpu", "integer", "of the machine", 0),
                ("use_mmap", "boolean", "of the machine", True),
                ("num_thread", "integer", "of the machine", 4),
                ("numa", "boolean", "of the machine", False),
            ],
        ),
        *sampling(),
    ]
]
