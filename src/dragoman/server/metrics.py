"""Metrics in Prometheus's format at /metrics; names follow OpenTelemetry's conventions for generative AI where it has one.

The histograms of whole turns are filled when a turn ends.  What is counted per piece is a bisection and two additions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from ..errors import Cancelled, Timeout
from ..events import CallEnd, Event, Notice
from .exchange import Exchange
from .observe import Observer

if TYPE_CHECKING:
    from .service import Service

__all__ = ["Metrics"]

# Seconds; the first two as OpenTelemetry advises.
_DURATIONS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_FIRSTS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 30.0, 60.0)
_PACES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 10.0)
_MODEL = ("gen_ai_request_model", "gen_ai_operation_name")


class Metrics(Observer):
    """Counts what a server does; each server has a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        made: Any = {"registry": self.registry}
        self._duration = Histogram(
            "gen_ai_server_request_duration_seconds",
            "A whole answer.",
            (*_MODEL, "error_type"),
            buckets=_DURATIONS,
            **made,
        )
        self._first = Histogram(
            "gen_ai_server_time_to_first_token_seconds", "Until the first piece.", _MODEL, buckets=_FIRSTS, **made
        )
        self._pace = Histogram(
            "gen_ai_server_time_per_output_token_seconds",
            "Between tokens, after the first.",
            _MODEL,
            buckets=_PACES,
            **made,
        )
        self._tokens = Counter("dragoman_tokens", "Tokens.", ("gen_ai_request_model", "kind"), **made)
        self._turns = Counter("dragoman_turns", "Turns.", ("protocol", "dialect", "outcome"), **made)
        self._calls = Counter("dragoman_calls", "Tool calls.", ("dialect", "outcome"), **made)
        self._notices = Counter("dragoman_notices", "Repaired, dropped, cut or doubtful.", ("code", "dialect"), **made)
        self._cancels = Counter("dragoman_cancelled", "Turns that were cancelled, or whose client left.", **made)
        self._late = Counter("dragoman_deadlines", "Deadlines that passed.", ("phase",), **made)
        self._gaps = _Gaps()
        self.registry.register(self._gaps)

    def watch(self, service: Service) -> None:
        """Tell of this server's queues too."""
        self.registry.register(_Queues(service))

    def pieces(self, exchange: Exchange, index: int, batch: Sequence[Any]) -> None:
        """As in `Observer`."""
        self._gaps.saw(exchange, exchange.now)

    def events(self, exchange: Exchange, index: int, events: Sequence[Event], frames: bytes) -> None:
        """As in `Observer`."""
        for event in events:
            if type(event) is CallEnd:
                outcome = "cut" if not event.complete else "complete" if event.valid else "invalid"
                self._calls.labels(exchange.served.decoded, outcome).inc()
            elif type(event) is Notice:
                self._notices.labels(event.code, exchange.served.decoded).inc()

    def finished(self, exchange: Exchange) -> None:
        """As in `Observer`."""
        self._gaps.forget(exchange)
        names = (exchange.served.label, exchange.operation)
        self._turns.labels(exchange.protocol, exchange.served.decoded, exchange.outcome).inc()
        self._duration.labels(*names, _error(exchange)).observe(exchange.seconds or 0.0)
        if exchange.first is not None:
            self._first.labels(*names).observe(exchange.first)
            self._paced(exchange, names)
        self._count(exchange)
        if exchange.outcome == "cancelled":
            self._cancels.inc()
        if isinstance(exchange.failure, Timeout):
            self._late.labels(exchange.failure.phase).inc()

    def _paced(self, exchange: Exchange, names: tuple[str, str]) -> None:
        written = sum(usage.completion or 0 for usage in exchange.usage.values())
        if written > 1:
            self._pace.labels(*names).observe(((exchange.seconds or 0.0) - (exchange.first or 0.0)) / (written - 1))

    def _count(self, exchange: Exchange) -> None:
        model = exchange.served.label
        for index, usage in exchange.usage.items():
            kinds = {"output": usage.completion, "reasoning": usage.reasoning}
            if index == 0:
                kinds |= {"input": usage.prompt, "cached": usage.cached}
            for kind, count in kinds.items():
                if count:
                    self._tokens.labels(model, kind).inc(count)


def _error(exchange: Exchange) -> str:
    failure = exchange.failure
    if failure is None or isinstance(failure, Cancelled):
        return ""
    return str(getattr(failure, "code", "") or type(failure).__name__)


class _Gaps(Collector):
    """Seconds between two reads of a stream, by model."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_PACES) + 1))
        self._sums: dict[str, float] = defaultdict(float)
        self._last: dict[Exchange, float] = {}

    def saw(self, exchange: Exchange, now: float) -> None:
        """Something was read."""
        last = self._last.get(exchange)
        self._last[exchange] = now
        if last is not None:
            model = exchange.served.label
            self._counts[model][bisect_left(_PACES, now - last)] += 1
            self._sums[model] += now - last

    def forget(self, exchange: Exchange) -> None:
        """It is over."""
        self._last.pop(exchange, None)

    def collect(self) -> Iterable[Metric]:
        """As prometheus_client asks."""
        family = HistogramMetricFamily(
            "dragoman_piece_interval_seconds", "Between two reads of a stream.", labels=["gen_ai_request_model"]
        )
        for model, counts in self._counts.items():
            total, buckets = 0, []
            for edge, count in zip([*map(str, _PACES), "+Inf"], counts, strict=True):
                total += count
                buckets.append((edge, total))
            family.add_metric([model], buckets, self._sums[model])
        yield family


class _Queues(Collector):
    """What runs and waits, as it is when somebody asks."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """As prometheus_client asks."""
        model = ["gen_ai_request_model"]
        running = GaugeMetricFamily("dragoman_running", "Requests that run in an engine.", labels=model)
        waiting = GaugeMetricFamily("dragoman_waiting", "Requests that wait for a place in an engine.", labels=model)
        for served in self._service.roster:
            running.add_metric([served.name], served.gate.taken)
            waiting.add_metric([served.name], served.gate.waiting)
        yield running
        yield waiting
        yield GaugeMetricFamily("dragoman_ready", "Whether models are loaded.", value=int(self._service.roster.ready))
        yield GaugeMetricFamily("dragoman_open", "Requests that are being answered.", value=len(self._service.open))
        keeper = self._service.log.keeper if self._service.log else None
        lost = keeper.lost if keeper else 0
        yield CounterMetricFamily("dragoman_turns_not_kept", "Turns that the turn log could not keep.", value=lost)
