"""Scenarios of what a server tells beside its answers: models, health, counts, and responses that it keeps."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from ..checks.seen import mapping, mappings
from .answers import HELLO
from .scenario import scenario
from .visit import Visit

__all__: list[str] = []


@scenario("the server is well", only=("chat",))
async def health(visit: Visit) -> None:
    """What load balancers ask."""
    for path in ("/health", "/"):
        reply = await visit.probe.get(path)
        visit.seen = str(reply)
        if reply.status >= 400:
            visit.find("S12", f"GET {path} was answered with {reply}")


@scenario("the list of models", only=("chat",))
async def models(visit: Visit) -> None:
    """And each by its name, slashes and all."""
    reply = await visit.probe.get("/v1/models")
    cards = mappings(mapping(reply.json).get("data"))
    visit.seen = f"{len(cards)} models"
    if reply.status != 200 or not cards:
        visit.find("L2", f"GET /v1/models was answered with {reply}")
    for card in cards[:1]:
        absent = [key for key in ("id", "object", "created", "owned_by") if key not in card]
        if absent:
            visit.find("L2", f"a model without {', '.join(absent)}")
        one = await visit.probe.get(f"/v1/models/{quote(str(card.get('id')), safe='/')}")
        if mapping(one.json).get("id") != card.get("id"):
            visit.find("L2", f"the model by its name: {one}")


@scenario("the size of a prompt", only=("messages",))
async def count(visit: Visit) -> None:
    """What agents ask before they send."""
    body = {key: value for key, value in visit.body(visit.request(HELLO)).items() if key in ("model", "messages")}
    reply = await visit.post(body, path="/v1/messages/count_tokens")
    visit.seen = str(reply)
    if reply.status != 200 or not isinstance(mapping(reply.json).get("input_tokens"), int):
        visit.find("M15", f"count_tokens was answered with {reply}")


@scenario("a response that is followed by another", only=("responses",))
async def followed(visit: Visit) -> None:
    """Kept, referred to, fetched, deleted."""
    first = await visit.ask(visit.request(HELLO), store=True)
    body = {**visit.body(visit.request("Say it again.")), "previous_response_id": first.id}
    reply = await visit.post(body)
    visit.seen = str(reply)
    if reply.status != 200:
        visit.find("R25", f"previous_response_id was answered with {reply}")
        return
    fetched = await visit.probe.get(f"/v1/responses/{first.id}")
    if mapping(fetched.json).get("id") != first.id:
        visit.find("R26", f"GET of a stored response: {fetched}")
    deleted = await visit.probe.get(f"/v1/responses/{first.id}", method="DELETE")
    if mapping(deleted.json).get("deleted") is not True:
        visit.find("R26", f"DELETE of a stored response: {deleted}")


@scenario("a response that is not kept", only=("responses",))
async def not_kept(visit: Visit) -> None:
    """store: false means it."""
    first = await visit.ask(visit.request(HELLO), store=False)
    reply = await visit.post({**visit.body(visit.request("Again.")), "previous_response_id": first.id})
    visit.seen = str(reply)
    if reply.status == 200:
        visit.find("R25", "a response that was not to be stored was found")
    else:
        visit.refused(reply)


@scenario("loading a model", only=("ollama",))
async def load(visit: Visit) -> None:
    """A request without messages."""
    reply = await visit.post({"model": visit.model, "messages": [], "stream": False})
    visit.seen = str(reply)
    told: Any = mapping(reply.json)
    if reply.status != 200 or told.get("done_reason") != "load":
        visit.find("O10", f"a request without messages was answered with {reply}")


@scenario("models, their abilities and the version", only=("ollama",))
async def abilities(visit: Visit) -> None:
    """What clients look at before they begin."""
    for path, key in (("/api/tags", "models"), ("/api/version", "version")):
        reply = await visit.probe.get(path)
        if reply.status != 200 or key not in mapping(reply.json):
            visit.find("O11", f"GET {path} was answered with {reply}")
    shown = await visit.post({"model": visit.model}, path="/api/show")
    visit.seen = str(mapping(shown.json).get("capabilities"))
    if shown.status != 200 or not isinstance(mapping(shown.json).get("capabilities"), list):
        visit.find("O11", f"/api/show tells no capabilities: {shown.status}")
