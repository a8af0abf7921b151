"""A model's own ids of calls, on the way out and on the way back, in every protocol that has ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Running, call

Serving = Callable[..., Running]

OWN, WIRE = "functions.get_weather:0", "dg_functions_2eget__weather_3a0"
CALL = (
    f"<|tool_calls_section_begin|><|tool_call_begin|>{OWN}<|tool_call_argument_begin|>"
    '{"city": "Oslo"}<|tool_call_end|><|tool_calls_section_end|>'
)
SCRIPT = {
    "dialect": "kimi-k2",
    "turn": [{"when": {"results": False}, "output": CALL}, {"output": "It is sunny.<|im_end|>"}],
}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
USER = {"role": "user", "content": "The weather?"}


def chat(answer: Any = None) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
    if answer is None:
        return {"messages": [USER], "tools": tools}
    message = answer["choices"][0]["message"]
    assert message["tool_calls"][0]["id"] == WIRE
    result = {"role": "tool", "tool_call_id": WIRE, "content": "Sunny."}
    return {"messages": [USER, message, result], "tools": tools}


def responses(answer: Any = None) -> dict[str, Any]:
    tools = [{"type": "function", "name": "get_weather", "parameters": SCHEMA}]
    if answer is None:
        return {"input": [USER], "tools": tools}
    assert answer["output"][0]["call_id"] == WIRE
    result = {"type": "function_call_output", "call_id": WIRE, "output": "Sunny."}
    return {"input": [USER, *answer["output"], result], "tools": tools}


def messages(answer: Any = None) -> dict[str, Any]:
    tools = [{"name": "get_weather", "input_schema": SCHEMA}]
    if answer is None:
        return {"messages": [USER], "tools": tools, "max_tokens": 99}
    assert answer["content"][0]["id"] == WIRE
    results = [{"type": "tool_result", "tool_use_id": WIRE, "content": "Sunny."}]
    said = [USER, {"role": "assistant", "content": answer["content"]}, {"role": "user", "content": results}]
    return {"messages": said, "tools": tools, "max_tokens": 99}


@pytest.mark.must("C10", "R9", "M4")
@pytest.mark.parametrize(
    ("path", "write"), [("/v1/chat/completions", chat), ("/v1/responses", responses), ("/v1/messages", messages)]
)
async def test_the_model_meets_the_id_that_it_wrote(serving: Serving, path: str, write: Callable[..., Any]) -> None:
    server = serving(script=SCRIPT)
    first = await call(server, "POST", path, json=write())
    second = await call(server, "POST", path, json=write(first.json))
    assert second.status == 200, second.body
    prompt, _, _ = server.engine.asked[-1]
    assert OWN in prompt.text
    assert WIRE not in prompt.text
