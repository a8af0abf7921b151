"""Traces: a span for every exchange, by OpenTelemetry's conventions for generative AI, if its SDK is set up in this process.

Without the package, or without a provider (the environment's OTEL_* variables or the program around us set one), nothing is made.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..events import Event, Notice
from .exchange import Exchange
from .observe import Observer

__all__ = ["Spans", "spans"]


def spans() -> list[Observer]:
    """The observer that makes spans, if they would go anywhere."""
    try:
        from opentelemetry import trace  # noqa: PLC0415 (only where it is there)
    except ImportError:
        return []
    if not _provided(trace):
        return []
    return [Spans(trace.get_tracer("dragoman"))]


def _provided(trace: Any) -> bool:
    """Whether there is a provider; one is made where the environment names an exporter."""
    provider = trace.get_tracer_provider()
    if type(provider).__module__.startswith("opentelemetry.sdk"):
        return True
    if not any(name.startswith("OTEL_EXPORTER_OTLP") for name in os.environ):
        return False
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        return False
    made = TracerProvider()
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(made)
    return True


class Spans(Observer):
    """A span from the request to the end of its answer; notices are its events.

    Args:
        tracer: makes spans (`opentelemetry.trace.Tracer`).
    """

    def __init__(self, tracer: Any) -> None:
        self._tracer = tracer
        self._open: dict[Exchange, Any] = {}

    def started(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        request, model = exchange.request, exchange.served.name
        operation = exchange.operation
        facts: dict[str, Any] = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "dragoman",
            "gen_ai.request.model": request.model or model,
            "gen_ai.response.model": model,
            "gen_ai.response.id": exchange.id,
            "dragoman.protocol": exchange.protocol,
            "dragoman.dialect": exchange.served.decoded,
        }
        known = {"temperature": "temperature", "top_p": "top_p", "seed": "seed"}
        facts |= {
            f"gen_ai.request.{name}": request.sampling[key] for key, name in known.items() if key in request.sampling
        }
        if request.limit is not None:
            facts["gen_ai.request.max_tokens"] = request.limit
        self._open[exchange] = self._tracer.start_span(f"{operation} {model}", attributes=facts)

    def events(self, exchange: Exchange, index: int, events: Sequence[Event], frames: bytes) -> None:
        """As in `Observer`."""
        span = self._open.get(exchange)
        for event in events:
            if type(event) is Notice and span is not None:
                span.add_event(event.code, {"dragoman.at": event.at})

    def finished(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        span = self._open.pop(exchange, None)
        if span is None:
            return
        usage = list(exchange.usage.values())
        span.set_attribute("gen_ai.response.finish_reasons", [one.reason for one in exchange.finishes.values()])
        span.set_attribute("gen_ai.usage.input_tokens", (usage[0].prompt or 0) if usage else 0)
        span.set_attribute("gen_ai.usage.output_tokens", sum(one.completion or 0 for one in usage))
        if exchange.first is not None:
            span.set_attribute("dragoman.time_to_first_token", exchange.first)
        if exchange.failure is not None and exchange.outcome == "error":
            span.record_exception(exchange.failure)
            span.set_attribute("error.type", type(exchange.failure).__name__)
        span.end()
