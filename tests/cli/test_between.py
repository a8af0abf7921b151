"""`dragoman explain --url`: a real process in front of a server; clients go through, and every turn is explained."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys

import aiohttp
import pytest

from ..server.conftest import WEATHER, serving

__all__ = ["serving"]

CALL = '<think>Hm.</think>I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo",}}\n</tool_call>'


@pytest.mark.parametrize("step", [True, False])
async def test_every_turn_that_goes_through_is_explained(serving, step, tmp_path):
    server = serving({"output": CALL})
    words = ["explain", "--url", server.url, "--port", "0", *["--step"] * step]
    environment = {**os.environ, "COLUMNS": "100", "DRAGOMAN_DATA": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "dragoman", *words, stdout=asyncio.subprocess.PIPE, env=environment
    )
    try:
        line = (await process.stdout.readline()).decode()
        url = re.search(r"http://[\d.:]+", line)[0]
        body = {"messages": [{"role": "user", "content": "weather?"}], "tools": [WEATHER], "stream": True}
        async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/chat/completions", json=body) as answer:
            chunks = [json.loads(line[6:]) for line in (await answer.read()).decode().split("\n") if "{" in line]
    finally:
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()
    calls = [
        call for chunk in chunks for choice in chunk["choices"] for call in choice["delta"].get("tool_calls") or ()
    ]
    assert calls[0]["function"]["name"] == "get_weather"
    said = out.decode()
    assert "I look." in said
    assert ("-> call get_weather" in said) == step
    assert "tool_calls" in said
