"""Scenarios of mistakes: wrong fields, broken JSON, unknown models and paths, and fields that nobody knows."""

from __future__ import annotations

from .answers import HELLO
from .probe import Reply
from .scenario import scenario
from .visit import Visit

__all__: list[str] = []

_STRANGE = {"client_metadata": {"session": "1"}, "prompt_cache_key": "a", "x_unknown": [{"a": None}]}


@scenario("a wrong field")
async def bad_request(visit: Visit) -> None:
    """It must be said at once, and in the protocol's shape."""
    _refuses(visit, await visit.post({**visit.body(visit.request(HELLO)), **visit.client.wrong}), "a wrong field")


@scenario("a wrong field in a stream")
async def bad_stream(visit: Visit) -> None:
    """With a status, not within the stream."""
    wrong = {**visit.body(visit.request(HELLO), stream=True), **visit.client.wrong}
    _refuses(visit, await visit.post(wrong), "a wrong field")


@scenario("broken JSON")
async def bad_json(visit: Visit) -> None:
    """A body that ends too early."""
    _refuses(visit, await visit.post(b'{"model": "a", "messages": [{'), "broken JSON")


@scenario("fields that nobody knows")
async def unknown_fields(visit: Visit) -> None:
    """Agents send many."""
    reply = await visit.post({**visit.body(visit.request(HELLO)), **_STRANGE})
    visit.seen = str(reply)
    if reply.status != 200:
        visit.find("S9", f"unknown fields were answered with {reply}")


@scenario("a model that is not there")
async def unknown_model(visit: Visit) -> None:
    """A server with one model may answer all the same."""
    reply = await visit.post({**visit.body(visit.request(HELLO)), "model": "no-such-model-here"})
    visit.seen = str(reply)
    if reply.status != 200:
        _refuses(visit, reply, "an unknown model")


@scenario("a path that is not there")
async def unknown_path(visit: Visit) -> None:
    """Told as JSON, so that clients can show it."""
    reply = await visit.probe.get(f"{visit.client.path}/nowhere/at/all", headers=visit.client.headers)
    _absent(visit, reply, (404, 405))


@scenario("the wrong method")
async def wrong_method(visit: Visit) -> None:
    """GET instead of POST."""
    _absent(visit, await visit.probe.get(visit.client.path, headers=visit.client.headers), (404, 405))


def _absent(visit: Visit, reply: Reply, statuses: tuple[int, ...]) -> None:
    visit.seen = str(reply)
    if reply.status not in statuses:
        visit.find("L4", f"expected the status {' or '.join(map(str, statuses))}; it was {reply}")
    elif not isinstance(reply.json, dict) or "error" not in reply.json:
        visit.find("L4", f"no error object: {reply}")


def _refuses(visit: Visit, reply: Reply, what: str) -> None:
    visit.seen = str(reply)
    if not 400 <= reply.status < 500:
        visit.find("S1", f"{what} was answered with {reply}")
    else:
        visit.refused(reply)
