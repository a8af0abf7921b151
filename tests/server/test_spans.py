"""Spans, as OpenTelemetry's SDK sees them."""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dragoman.engines.script import Script
from dragoman.server.spans import Spans, spans

from .conftest import USER, WEATHER, ask, running

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo",}}\n</tool_call>'


async def traced(turn, **request):
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    engine = Script({"model": "demo", "dialect": "hermes-json", "turn": [turn]})
    with running(engine, observers=[Spans(provider.get_tracer("test"))]) as server:
        await ask(server, {"messages": USER, **request})
        await server.idle()
    (span,) = kept.get_finished_spans()
    return span


async def test_a_span_tells_the_turn():
    span = await traced({"output": CALL}, tools=[WEATHER], temperature=0.5, max_tokens=100)
    assert span.name == "chat demo"
    assert span.attributes["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert span.attributes["gen_ai.request.temperature"] == 0.5
    assert span.attributes["gen_ai.request.max_tokens"] == 100
    assert span.attributes["gen_ai.usage.output_tokens"] > 3
    assert [event.name for event in span.events] == ["repaired"]


async def test_a_failure_is_recorded():
    span = await traced({"output": "half", "error": "it died"}, stream=True)
    assert span.attributes["error.type"] == "Broken"
    assert "it died" in span.events[0].attributes["exception.message"]


def test_without_a_provider_nothing_is_made(monkeypatch):
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert spans() == []
