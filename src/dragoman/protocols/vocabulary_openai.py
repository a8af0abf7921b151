"""The fields of Chat Completions, Responses and the older Completions, and what becomes of each."""

from __future__ import annotations

from typing import Any

from .vocabulary import Field, fields, sampling

__all__ = ["CHAT", "COMPLETIONS", "RESPONSES"]

_TOOL: Any = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object"}}}
_FLAT: Any = {"type": "function", "name": "ping", "parameters": {"type": "object"}}
_USER: Any = [{"role": "user", "content": "Another question."}]
_ANSWER: Any = {"type": "object", "properties": {"a": {"type": "string"}}}

_COMMON = [
    ("model", "string", "the name of the model", "other"),
    ("stream", "boolean", "answer as events", True),
    ("temperature", "number", "how tokens are drawn", 0.5),
    ("stats", "boolean", "add timings and the like to the answer", True),
    ("seed", "integer", "where chance begins", 7),
]
_THINKING = [
    ("reasoning_effort", "string", "how much to think: none, minimal, low, medium, high, xhigh, max", "low"),
    ("reasoning", "object", "the same with its summary, or with enabled, max_tokens and exclude", {"effort": "low"}),
    ("thinking", "object|boolean|string", "the same as other servers say it, with budget_tokens", {"type": "enabled"}),
    ("enable_thinking", "boolean", "whether to think", False),
    ("thinking_budget", "integer", "tokens of thought", 0),
    ("chat_template_kwargs", "object", "variables of the chat template", {"a": 1}),
]

CHAT: list[Field] = [
    *fields(
        "mapped",
        [
            *_COMMON,
            *_THINKING,
            ("messages", "array", "the conversation", _USER),
            ("tools", "array", "functions and custom tools", [_TOOL]),
            ("tool_choice", "string|object", "none, auto, required, a name, or allowed_tools", "none", {"tools": [_TOOL]}),
            ("functions", "array", "the old form of tools", [_TOOL["function"]]),
            ("function_call", "string|object", "the old form of tool_choice", "none", {"functions": [_TOOL["function"]]}),
            ("parallel_tool_calls", "boolean", "more than one call in a turn", False),
            ("max_completion_tokens", "integer", "tokens at most, thoughts included", 9),
            ("max_tokens", "integer", "the same, older", 9),
            ("n_predict", "integer", "the same as llama.cpp says it; -1 is no limit", 9),
            ("stop", "string|array", "up to four strings that end the text", ["END"]),
            ("n", "integer", "how many answers", 2),
            ("logprobs", "boolean", "with log probabilities", True),
            ("top_logprobs", "integer", "with so many alternatives", 2, {"logprobs": True}),
            ("response_format", "object", "text, json_object or json_schema", {"type": "json_object"}),
            ("json_schema", "object", "the schema of the answer, as llama.cpp says it", _ANSWER),
            ("guided_json", "object|string", "the same as vLLM says it", _ANSWER),
            ("structured_outputs", "object", "the same, newer: json", {"json": _ANSWER}),
            ("stream_options", "object", "include_usage", {"include_usage": True}),
            ("documents", "array", "documents for the chat template", [{"text": "a"}]),
            ("continue_final_message", "boolean", "the last message is the beginning of the answer", True,
             {"messages": [*_USER, {"role": "assistant", "content": "It"}]}),
            ("include_reasoning", "boolean", "show reasoning", False),
            ("separate_reasoning", "boolean", "reasoning in a field of its own", False),
            ("reasoning_format", "string", "the same as llama.cpp and hosts say it", "none"),
            ("reasoning_field", "string", "what reasoning is called in the answer", "reasoning"),
            ("tool_arguments", "string", "live, or buffered until a call is whole", "buffered"),
        ],
    ),
    *fields(
        "ignored",
        [
            ("store", "boolean", "what is kept by the host", True),
            ("metadata", "object", "labels", {"a": "b"}),
            ("user", "string", "who asks", "u"),
            ("safety_identifier", "string", "who asks", "s"),
            ("prompt_cache_key", "string", "the host's cache", "k"),
            ("prompt_cache_options", "object", "the host's cache", {}),
            ("prompt_cache_retention", "string", "the host's cache", "24h"),
            ("service_tier", "string", "the host's price", "auto"),
            ("prediction", "object", "text that is expected; a matter of speed", {"type": "content", "content": "x"}),
            ("verbosity", "string", "a wish to the host's models", "low"),
            ("moderation", "object", "the host's filter", {}),
            ("audio", "object", "how speech would sound; asking for speech is refused", {"voice": "a"}),
        ],
    ),
    *fields("noted", [("web_search_options", "object", "a search of the host", {})]),
    *fields(
        "refused",
        [
            ("modalities", "array", "anything but text", ["text", "audio"]),
            ("chat_template", "string", "a template that comes with the request", "{{ messages }}"),
        ],
    ),
    *sampling(),
]  # fmt: skip

RESPONSES: list[Field] = [
    *fields(
        "mapped",
        [
            *_COMMON,
            *_THINKING,
            ("input", "string|array", "the conversation, as a text or as items", "Another question."),
            ("instructions", "string|array", "the first system message", "Be brief."),
            ("tools", "array", "functions, custom tools and namespaces; hosted ones are left out, mcp is refused", [_FLAT]),
            ("tool_choice", "string|object", "none, auto, required, a name, or allowed_tools", "none", {"tools": [_FLAT]}),
            ("parallel_tool_calls", "boolean", "more than one call in a turn", False),
            ("max_output_tokens", "integer", "tokens at most, thoughts included", 9),
            ("stop", "string|array", "up to four strings that end the text", ["END"]),
            ("text", "object", "its format: text, json_object or json_schema", {"format": {"type": "json_object"}}),
            ("top_logprobs", "integer", "with so many alternatives", 2),
            ("include", "array", "message.output_text.logprobs, reasoning.encrypted_content",
             ["reasoning.encrypted_content"]),
            ("store", "boolean", "keep the response", False),
            ("background", "boolean", "answer at once, work on", True),
            ("previous_response_id", "string", "the response that this one follows", "resp_1"),
            ("truncation", "string", "disabled, or auto: the oldest messages go", "auto"),
            ("tool_arguments", "string", "live, or buffered until a call is whole", "buffered"),
            ("responses_names", "string", "events as openai or open-responses names them", "open-responses"),
            ("metadata", "object", "labels; repeated in the response", {"a": "b"}),
            ("user", "string", "who asks; repeated in the response", "u"),
            ("safety_identifier", "string", "who asks; repeated in the response", "s"),
            ("prompt_cache_key", "string", "the host's cache; repeated in the response", "k"),
            ("max_tool_calls", "integer", "calls of hosted tools, of which there are none; repeated in the response", 3),
        ],
    ),
    *fields(
        "ignored",
        [
            ("service_tier", "string", "the host's price", "auto"),
            ("prompt_cache_options", "object", "the host's cache", {}),
            ("prompt_cache_retention", "string", "the host's cache", "24h"),
            ("moderation", "object", "the host's filter", {}),
            ("stream_options", "object", "include_obfuscation", {"include_obfuscation": False}),
            ("background_options", "object", "the host's queue", {}),
            ("access_programs", "array", "the host's offers", []),
            ("image", "object", "how the host's images would look", {}),
        ],
    ),
    *fields(
        "refused",
        [
            ("conversation", "string|object", "a conversation that the host keeps", "conv_1"),
            ("prompt", "object", "a prompt that the host keeps", {"id": "pmpt_1"}),
            ("context_management", "array|object", "compaction by the host", [{"type": "compaction"}]),
        ],
    ),
    *sampling(),
]  # fmt: skip

COMPLETIONS: list[Field] = [
    *fields(
        "mapped",
        [
            *_COMMON,
            ("prompt", "string|array", "a text, the ids of its tokens, or a list of either", "Another text"),
            ("max_tokens", "integer", "tokens at most", 9),
            ("max_completion_tokens", "integer", "the same", 9),
            ("n_predict", "integer", "the same as llama.cpp says it", 9),
            ("stop", "string|array", "strings that end the text", ["END"]),
            ("n", "integer", "how many answers to each prompt", 2),
            ("logprobs", "integer", "log probabilities with so many alternatives", 2),
            ("echo", "boolean", "the prompt stands before the text", True),
            ("response_format", "object", "json_object or json_schema", {"type": "json_object"}),
            ("json_schema", "object", "the schema of the answer", _ANSWER),
            ("guided_json", "object|string", "the same as vLLM says it", _ANSWER),
            ("structured_outputs", "object", "the same, newer: json", {"json": _ANSWER}),
            ("stream_options", "object", "include_usage", {"include_usage": True}),
        ],
    ),
    *fields("ignored", [("user", "string", "who asks", "u")]),
    *fields(
        "refused",
        [
            ("suffix", "string", "what stands behind the text", "x"),
            ("best_of", "integer", "answers that are thrown away", 3),
        ],
    ),
    *sampling(),
]
