"""What real agents send beside the question: fields of hosted services, tools that nobody here has, images, probes.

The bodies are made after requests that were seen; the model plays `plays.py`.
"""

from __future__ import annotations

from typing import Any

import pytest

from ..server.conftest import Running, call
from .offers import CHAT, MESSAGES, RESPONSES, user
from .plays import GREETING

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

CHAT_PATH, RESPONSES_PATH, MESSAGES_PATH = "/v1/chat/completions", "/v1/responses", "/v1/messages?beta=true"

# --- fields that change nothing here

CHAT_HABITS: list[dict[str, Any]] = [
    {"store": True, "metadata": {"a": "b"}, "user": "u", "safety_identifier": "s", "service_tier": "flex"},
    {"prompt_cache_key": "k", "prompt_cache_retention": "24h", "verbosity": "low", "modalities": ["text"]},
    {"prediction": {"type": "content", "content": "x"}, "web_search_options": {}},
    {"stream_options": {"include_usage": True, "include_obfuscation": False}, "stream": True},
    {"reasoning_effort": "xhigh", "parallel_tool_calls": True, "tools": CHAT, "tool_choice": "auto"},
    {"tools": [], "tool_choice": "none"},
    {"tools": CHAT, "tool_choice": "none", "seed": None, "stop": None, "response_format": {"type": "text"}},
    {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 20, "min_p": 0, "repetition_penalty": 1.0},
    {"think": True, "enable_thinking": True, "thinking": {"type": "enabled"}, "extra_body": {"a": 1}},
    {"messages": [{"role": "developer", "content": "Be brief."}, {"role": "system", "content": "Be kind."}, *user("plain")]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "plain", "cache_control": {"type": "ephemeral"}}]}]},
]  # fmt: skip

RESPONSES_HABITS: list[dict[str, Any]] = [
    {"store": False, "include": ["reasoning.encrypted_content"], "reasoning": {"effort": "xhigh", "summary": "auto"}},
    {"prompt_cache_key": "k", "client_metadata": {"a": "b"}, "text": {"verbosity": "low"}, "service_tier": "auto"},
    {"tools": [*RESPONSES, {"type": "web_search", "external_web_access": False}], "tool_choice": "auto"},
    {"tools": [*RESPONSES, {"type": "file_search", "vector_store_ids": ["v"]}, {"type": "image_generation"}]},
    {"tools": [{"type": "namespace", "name": "space", "description": "d", "tools": RESPONSES}]},
    {"tools": [*RESPONSES, {"type": "local_shell"}], "parallel_tool_calls": True, "max_tool_calls": 4},
    {"tools": RESPONSES, "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "step"}]}},
    {"instructions": "Be brief.", "metadata": {}, "truncation": "auto", "user": "u", "safety_identifier": "s"},
    {"stream": True, "stream_options": {"include_obfuscation": True}, "top_logprobs": 0},
    {"input": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "plain"}]},
    {"input": [{"type": "reasoning", "id": "rs_x", "summary": [], "encrypted_content": "of another server"}, *user("plain")]},
    {"input": [{"type": "from_the_future", "id": "x"}, *user("plain")]},
]  # fmt: skip

MESSAGES_HABITS: list[dict[str, Any]] = [
    {"metadata": {"user_id": '{"device_id":"d","session_id":"s"}'}, "service_tier": "auto", "container": "c"},
    {"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}, "betas": ["a"]},
    {"thinking": {"type": "adaptive", "display": "omitted"}, "output_config": {"effort": "high"}},
    {"thinking": {"type": "enabled", "budget_tokens": 2000}, "max_tokens": 4096, "temperature": 1},
    {"system": [{"type": "text", "text": "x-billing: 1"}, {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]},
    {"tools": [*MESSAGES, {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}]},
    {"tools": [*MESSAGES, {"type": "bash_20250124", "name": "bash"}], "tool_choice": {"type": "auto"}},
    {"tools": [{**MESSAGES[0], "cache_control": {"type": "ephemeral"}, "input_examples": [{"city": "Oslo"}]}]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "plain", "cache_control": {"type": "ephemeral"}}]}]},
    {"messages": [*user("plain"), {"role": "system", "content": "The date has changed."}]},
    {"messages": [*user("plain"), {"role": "assistant", "content": [{"type": "thinking", "thinking": "Of another server.", "signature": "EqQB"}, {"type": "text", "text": "Hm."}]}, *user("plain")]},
    {"messages": [*user("plain"), {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Hm."}]}, *user("plain")]},
    {"stream": True, "speed": "standard", "inference_geo": "eu"},
]  # fmt: skip


@pytest.mark.parametrize("habit", CHAT_HABITS, ids=lambda habit: "+".join(habit)[:40])
async def test_chat(server: Running, habit: dict[str, Any]):
    await answers(server, CHAT_PATH, {"model": "demo", "messages": user("plain"), **habit})


@pytest.mark.parametrize("habit", RESPONSES_HABITS, ids=lambda habit: "+".join(habit)[:40])
async def test_responses(server: Running, habit: dict[str, Any]):
    await answers(server, RESPONSES_PATH, {"model": "demo", "input": "plain", **habit})


@pytest.mark.parametrize("habit", MESSAGES_HABITS, ids=lambda habit: "+".join(habit)[:40])
async def test_messages(server: Running, habit: dict[str, Any]):
    body = {"model": "demo", "messages": user("plain"), "max_tokens": 32000, **habit}
    headers = {"anthropic-version": "2023-06-01", "anthropic-beta": "claude-code-20250219,effort-2025-11-24"}
    await answers(server, MESSAGES_PATH, body, headers=headers)
    counted = await call(server, "POST", "/v1/messages/count_tokens?beta=true", json=body, headers=headers)
    assert counted.json["input_tokens"] > 0


async def answers(server: Running, path: str, body: dict[str, Any], **more: Any) -> None:
    """It is answered as if nothing had been there."""
    answer = await call(server, "POST", path, json=body, **more)
    assert answer.status == 200, answer.body
    assert GREETING[:5] in answer.body.decode()


# --- what cannot be had is refused by name

IMAGE = f"data:image/png;base64,{PIXEL}"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (CHAT_PATH, {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": IMAGE}}]}]}, "image"),
    (CHAT_PATH, {"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}]}]}, "audio"),
    (CHAT_PATH, {"messages": user("x"), "modalities": ["text", "audio"], "audio": {"voice": "a", "format": "wav"}}, "modalities"),
    (RESPONSES_PATH, {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": IMAGE}]}]}, "image"),
    (RESPONSES_PATH, {"input": "x", "tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}}, "web_search"),
    (RESPONSES_PATH, {"input": "x", "previous_response_id": "resp_none"}, "resp_none"),
    (MESSAGES_PATH, {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]}]}, "image"),
    (MESSAGES_PATH, {"messages": user("x"), "mcp_servers": [{"type": "url", "url": "http://127.0.0.1", "name": "m"}]}, "mcp_servers"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "named"), REFUSED, ids=[f"{path[4:12]}-{named}" for path, _, named in REFUSED]
)
@pytest.mark.parametrize("stream", [False, True])
async def test_what_cannot_be_had(server: Running, path: str, body: dict[str, Any], named: str, stream: bool):
    answer = await call(server, "POST", path, json={"model": "demo", "max_tokens": 100, **body, "stream": stream})
    assert 400 <= answer.status < 500, answer.body
    assert named in answer.json["error"]["message"] + str(answer.json["error"].get("param"))


async def test_an_image_in_a_tool_result(server: Running):
    """An agent that took a screenshot is told so, and its conversation is not lost."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    use = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "sun"}, picture]}
    said = [*user("weather"), {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    answer = await call(server, "POST", MESSAGES_PATH, json={"model": "demo", "max_tokens": 100, "messages": said})
    assert 400 <= answer.status < 500
    assert "image" in answer.json["error"]["message"]


# --- probes

PROBES = [
    ("HEAD", "/", 200),
    ("GET", "/", 200),
    ("GET", "/health", 200),
    ("GET", "/v1/models", 200),
    ("GET", "/models", 200),
    ("GET", "/v1/models/demo", 200),
    ("GET", "/api/tags", 200),
    ("GET", "/api/version", 200),
    ("HEAD", "/v1/models", 200),
    ("GET", "/v1/props", 404),
    ("GET", "/v1/responses", 405),
    ("GET", "/v1/messages", 405),
    ("POST", "/v1/messages/batches", 404),
    ("POST", "/api/event_logging/batch", 404),
    ("GET", "/favicon.ico", 404),
]


@pytest.mark.parametrize(("method", "path", "status"), PROBES)
async def test_probes(server: Running, method: str, path: str, status: int):
    answer = await call(server, method, path)
    assert answer.status == status, answer.body
    if method != "HEAD":
        assert answer.json
