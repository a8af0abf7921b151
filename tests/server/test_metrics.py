"""What /metrics tells: read by Prometheus's own parser."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from .conftest import USER, WEATHER, ask, call

CALL = '<think>Hm.</think><tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo",}}\n</tool_call>'


async def told(server):
    await server.idle()
    answer = await call(server, "GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.body.decode())
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value for family in families for sample in family.samples
    }


async def test_a_turn_is_counted_with_its_calls_notices_and_tokens(serving):
    server = serving({"output": CALL, "cut": [5]})
    await ask(server, {"messages": USER, "tools": [WEATHER], "stream": True})
    found = await told(server)
    assert found["dragoman_turns_total", "chat", "hermes-json", "tool_calls"] == 1
    assert found["dragoman_calls_total", "complete", "hermes-json"] == 1
    assert found["dragoman_notices_total", "hermes-json", "repaired"] == 1
    assert found["dragoman_tokens_total", "demo", "output"] > 10
    assert found["dragoman_tokens_total", "demo", "input"] > 0
    assert found["gen_ai_server_time_to_first_token_seconds_count", "chat", "demo"] == 1
    assert found["gen_ai_server_time_per_output_token_seconds_count", "chat", "demo"] == 1
    assert found["dragoman_piece_interval_seconds_count", "demo"] > 3
    assert found["dragoman_running", "demo"] == 0
    assert found[("dragoman_ready",)] == 1


async def test_a_failure_says_which(serving):
    server = serving({"output": "half", "error": "it died"})
    await ask(server, {"messages": USER, "stream": True})
    found = await told(server)
    assert found["dragoman_turns_total", "chat", "error", "hermes-json"] == 1
    (name,) = [key for key in found if key[0] == "gen_ai_server_request_duration_seconds_count"]
    assert "Broken" in name


async def test_a_deadline_is_counted_by_its_phase(serving):
    server = serving({"output": "never", "stall": True}, stall=0.05, first_token=0.05)
    await ask(server)
    found = await told(server)
    assert sum(value for key, value in found.items() if key[0] == "dragoman_deadlines_total") == 1


async def test_a_key_guards_it(serving):
    server = serving({"output": "fine"}, api_key="secret")
    assert (await call(server, "GET", "/metrics")).status == 401
    assert (await call(server, "GET", "/metrics", headers={"authorization": "Bearer secret"})).status == 200


async def test_the_dashboard_asks_for_metrics_that_there_are(serving):
    server = serving({"output": CALL, "cut": [5]})
    await ask(server, {"messages": USER, "tools": [WEATHER], "stream": True})
    there = {key[0] for key in await told(server)}
    there |= {"dragoman_cancelled_total", "dragoman_deadlines_total"}
    dashboard = (Path(__file__).parents[2] / "docs/grafana.json").read_text("utf-8")
    asked = set(re.findall(r"(?:dragoman|gen_ai_server)_\w+", dashboard))
    assert asked - there == set()
