from types import SimpleNamespace

from dragoman.events import Finish, Usage
from dragoman.server.gauge import Gauge


def exchange(*, completion=10, first=0.5, seconds=1.5, outcome="stop"):
    return SimpleNamespace(
        served=SimpleNamespace(label="m"),
        usage={0: Usage(100, completion, 0, 25)},
        finishes={0: Finish("stop")},
        first=first,
        seconds=seconds,
        outcome=outcome,
    )


def test_turns_are_counted_in_slots_of_ten_seconds():
    now = [1000.0]
    gauge = Gauge(lambda: now[0])
    for moment in (1000, 1009, 1010):
        now[0] = moment
        gauge.finished(exchange(outcome="error" if moment == 1010 else "stop"))
    assert gauge.history() == [[1000, 2, 2.0, 0, 0.5], [1010, 1, 1.0, 1, 0.5]]


def test_speed_leaves_out_the_wait_for_the_first_token():
    gauge = Gauge(lambda: 0.0)
    gauge.finished(exchange())
    assert gauge.model("m")["tokens_per_second"] == 10
    assert gauge.model("m")["cached_share"] == 0.25
    assert gauge.model("other")["turns"] == 0


def test_an_hour_is_the_most():
    now = [0.0]
    gauge = Gauge(lambda: now[0])
    for moment in range(0, 5000, 10):
        now[0] = moment
        gauge.finished(exchange(first=None))
    assert len(gauge.history()) == 360
    assert gauge.history()[-1][4] is None


def test_what_is_older_than_an_hour_is_not_of_the_last_hour():
    now = [0.0]
    gauge = Gauge(lambda: now[0])
    for moment in (0, 1800, 3700):
        now[0] = moment
        gauge.finished(exchange())
    assert [slot[0] for slot in gauge.history()] == [1800, 3700]
