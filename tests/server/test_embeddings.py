"""Embeddings over HTTP: the official clients, limits, keys, the queue, cancel, and what is said where nobody embeds."""

from __future__ import annotations

import asyncio
import math
import struct
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import aiohttp
import ollama
import openai
import pytest
from measures import Measures
from upstreams import Answer as Told
from upstreams import threaded, told

from dragoman.checks import check_error, check_ollama_error
from dragoman.engines.script import Script
from dragoman.engines.upstream import Settings, Upstream
from dragoman.errors import Broken, RequestError
from dragoman.server.keys import digest
from dragoman.server.observe import Observer

from .conftest import Answer, Running, call, running

PATH = "/v1/embeddings"
PATHS = [PATH, "/embeddings", "/api/embed", "/api/embeddings"]
WRITER = {"model": "writer", "dialect": "hermes-json", "turn": [{"output": "Hello"}]}


Serve = Callable[..., Running]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda *engines, **more: stack.enter_context(running(*(engines or (Measures(),)), **more))


async def post(server: Running, path: str = PATH, key: str = "", **body: Any) -> Answer:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    answer = await call(server, "POST", path, json=body, headers=headers)
    if answer.status != 200:
        assert not [*(check_ollama_error if path.startswith("/api") else check_error)(answer.json)]
    return answer


@pytest.fixture
def openai_of() -> Iterator[Callable[[Running], openai.OpenAI]]:
    with ExitStack() as stack:
        yield lambda server: stack.enter_context(
            openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
        )


# --- the official clients


def test_l03_the_official_client_as_it_is(serve, openai_of):
    """It asks for packed numbers, and unpacks them."""
    server = serve()
    found = openai_of(server).embeddings.create(model="vectors", input=["ab", "abc"])
    assert [item.index for item in found.data] == [0, 1]
    assert found.data[0].embedding == pytest.approx([2 / math.sqrt(5), 1 / math.sqrt(5), 0])
    assert (found.model, found.usage.prompt_tokens, found.usage.total_tokens) == ("vectors", 6, 6)


@pytest.mark.parametrize(
    ("given", "count"),
    [("ab", 1), (["ab", "c"], 2), ([1, 2, 3], 1), ([[1], [2, 3]], 2)],
    ids=["text", "texts", "ids", "lists"],
)
@pytest.mark.parametrize("form", ["float", "base64"])
def test_l03_the_official_client_in_every_form(serve, openai_of, given, count, form):
    found = openai_of(serve()).embeddings.create(model="vectors", input=given, encoding_format=form, user="u")
    assert len(found.data) == count
    rows = [
        item.embedding if form == "float" else struct.unpack("<3f", b64decode(item.embedding)) for item in found.data
    ]
    assert all(math.isclose(math.hypot(*row), 1, abs_tol=1e-6) for row in rows)


def test_o11_the_official_client_of_ollama(serve):
    server = serve()
    with ollama.Client(host=server.url) as client:
        found = client.embed("vectors", ["ab", "c"], truncate=False, keep_alive="5m")
        assert len(found.embeddings) == 2
        assert (found.prompt_eval_count, found.load_duration) == (6, 0)
        assert found.total_duration >= 0
        assert client.embed("vectors", "ab").embeddings == [found.embeddings[0]]
        assert client.embeddings("vectors", "ab").embedding == found.embeddings[0]
        assert client.embed("vectors", "").embeddings == []
        assert client.show("vectors").capabilities == ["embedding"]
    assert [wanted.truncate for _, wanted in server.engine.asked] == [False, True, True]


# --- names


async def test_one_that_embeds_answers_to_every_name_and_does_not_take_the_writers(serve):
    server = serve(Script(WRITER), Measures())
    assert (await post(server, model="text-embedding-3-small", input="a")).json["model"] == "vectors"
    assert (await post(server, input="a")).json["model"] == "vectors"
    chat = {"model": "gpt-4", "messages": [{"role": "user", "content": "Hi"}]}
    answer = await call(server, "POST", "/v1/chat/completions", json=chat)
    assert (answer.status, answer.json["model"]) == (200, "writer")


async def test_a_writer_that_is_named_does_not_embed(serve):
    server = serve(Script(WRITER), Measures())
    answer = await post(server, model="writer", input="a")
    assert (answer.status, answer.json["error"]["code"]) == (400, "model_not_capable")
    assert "'vectors' does" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi"}]}),
        ("/v1/completions", {"prompt": "Hi"}),
        ("/v1/responses", {"input": "Hi"}),
        ("/v1/responses/input_tokens", {"input": "Hi"}),
        ("/v1/messages", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}),
        ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": "Hi"}]}),
        ("/api/chat", {"messages": [{"role": "user", "content": "Hi"}]}),
        ("/api/generate", {"prompt": "Hi"}),
        ("/apply-template", {"messages": [{"role": "user", "content": "Hi"}]}),
    ],
)
async def test_what_embeds_does_not_write(serve, path, body):
    server = serve(Script(WRITER), Measures())
    answer = await call(server, "POST", path, json={"model": "vectors", **body})
    assert answer.status == 400
    assert "writes no text" in answer.body.decode()


async def test_strict_models_have_their_own_name_only(serve):
    server = serve(Script(WRITER), Measures(), strict_model=True)
    answer = await post(server, model="other", input="a")
    assert (answer.status, answer.json["error"]["code"]) == (404, "model_not_found")
    assert (await post(server, model="vectors", input="a")).status == 200


async def test_two_that_embed_are_told_apart(serve):
    server = serve(Measures("one"), Measures("two"))
    assert (await post(server, model="two", input="a")).json["model"] == "two"
    answer = await post(server, model="three", input="a")
    assert answer.status == 404
    assert "'one', 'two'" in answer.json["error"]["message"]


@pytest.mark.parametrize("path", PATHS)
async def test_where_nobody_embeds_it_is_said(serve, path):
    answer = await post(serve(Script(WRITER)), path, model="writer", input="a", prompt="a")
    assert answer.status == 501
    assert "--embedding-model" in answer.body.decode()


async def test_l02_the_card_says_what_a_model_does(serve):
    server = serve(Script(WRITER), Measures())
    cards = {card["id"]: card["capabilities"] for card in (await call(server, "GET", "/v1/models")).json["data"]}
    does = {"tools": False, "reasoning": False, "structured_output": False, "streaming": False, "vision": False}
    assert cards["vectors"] == {**does, "embedding": True}
    assert (cards["writer"]["embedding"], cards["writer"]["streaming"], cards["writer"]["vision"]) == (
        False,
        True,
        False,
    )


async def test_l02_models_that_write_are_listed_first(serve):
    """Many clients take the first one."""
    server = serve(Measures("a"), Script(WRITER), Measures("b"))
    names = [card["id"] for card in (await call(server, "GET", "/v1/models")).json["data"]]
    assert names == ["writer", "a", "b"]
    assert [model["name"] for model in (await call(server, "GET", "/api/tags")).json["models"]] == names


# --- limits, keys, queue, cancel


async def test_how_many_texts(serve):
    server = serve(embedding_inputs=2)
    assert (await post(server, input=["a", "b"])).status == 200
    for path in (PATH, "/api/embed"):
        answer = await post(server, path, input=["a", "b", "c"])
        assert answer.status == 400
        assert "--embedding-inputs allows 2" in answer.body.decode()


async def test_how_large(serve):
    server = serve(body_limit=1024)
    assert (await post(server, input="a" * 2000)).status == 413


async def test_s9_what_is_left_aside_is_told(serve):
    server = serve()
    assert (await post(server, input="a", input_type="query")).headers["x-dragoman-ignored"] == "input_type"
    answer = await post(server, "/api/embed", input="a", options={"num_ctx": 9})
    assert answer.headers["x-dragoman-ignored"] == "options.num_ctx"


KEYS = """
[[key]]
name = "alice"
hash = "{0}"
models = ["vec*"]
streams = 1
[[key]]
name = "bob"
hash = "{1}"
models = ["writer"]
"""


@pytest.fixture
def keys(tmp_path):
    file = tmp_path / "keys.toml"
    file.write_text(KEYS.format(digest(b"alice"), digest(b"bob")))
    return str(file)


@pytest.mark.parametrize("path", PATHS)
async def test_s10_a_key_is_wanted_and_its_models_count(serve, keys, path):
    server = serve(Script(WRITER), Measures(), keys=keys)
    body = {"input": "a", "prompt": "a"}
    assert (await post(server, path, **body)).status == 401
    assert (await post(server, path, "alice", **body)).status == 200
    assert (await post(server, path, "bob", **body)).status == 403


async def test_a_keys_limit_counts_them(serve, keys):
    engine = Measures(stall=True)
    server = serve(engine, keys=keys)
    first = asyncio.create_task(post(server, PATH, "alice", input="a"))
    await server.busy()
    assert (await post(server, PATH, "alice", input="a")).status == 429
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await server.idle()


async def test_a_full_queue_refuses(serve):
    engine = Measures(stall=True, places=1)
    server = serve(engine, queue=0)
    first = asyncio.create_task(post(server, input="a"))
    await server.busy()
    answer = await post(server, input="b")
    assert (answer.status, answer.json["error"]["code"]) == (503, "queue_full")
    assert int(answer.headers["retry-after"]) >= 1
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await server.idle()


async def test_s6_a_client_that_leaves_stops_the_engine(serve):
    server = serve(Measures(stall=True))
    async with aiohttp.ClientSession() as session:
        asking = asyncio.create_task(session.post(server.url + PATH, json={"input": "a"}))
        await server.busy()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    await server.idle()


async def test_a_request_is_cancelled_by_the_clients_own_id(serve):
    server = serve(Measures(stall=True))
    headers = {"x-request-id": "mine"}
    asking = asyncio.create_task(call(server, "POST", PATH, json={"input": "a"}, headers=headers))
    await server.busy()
    assert (await call(server, "POST", "/v1/cancel/mine")).status == 200
    assert (await asking).status == 499


async def test_a_deadline(serve):
    server = serve(Measures(stall=True), first_token=0.05)
    assert (await post(server, input="a")).status == 504
    await server.idle()


@pytest.mark.parametrize(
    ("error", "status"),
    [(Broken("broke"), 502), (RequestError("too long", param="input"), 400), (ZeroDivisionError("x"), 500)],
)
@pytest.mark.parametrize("path", PATHS)
async def test_a_failure_is_told_in_the_protocols_words(serve, path, error, status):
    server = serve(Measures(fails=error))
    assert (await post(server, path, input="a", prompt="a")).status == status


async def test_dimensions_that_cannot_be(serve):
    server = serve()
    answer = await post(server, input="a", dimensions=2)
    assert (answer.status, answer.json["error"]["param"]) == (400, "dimensions")
    assert (await post(server, "/api/embed", input="a", dimensions=4)).status == 400
    assert len((await post(server, input="a", dimensions=3)).json["data"][0]["embedding"]) == 3


@pytest.mark.parametrize(("method", "body", "status"), [("GET", None, 405), ("POST", b"{", 400), ("POST", b"[]", 400)])
@pytest.mark.parametrize("path", PATHS)
async def test_l04_what_is_no_request(serve, path, method, body, status):
    answer = await call(serve(), method, path, data=body, headers={"content-type": "application/json"})
    assert answer.status == status
    assert not [*(check_ollama_error if path.startswith("/api") else check_error)(answer.json)]


# --- who watches


async def test_it_is_counted_and_watched(serve):
    seen = []

    class Watches(Observer):
        def finished(self, exchange: Any) -> None:
            seen.append((exchange.outcome, exchange.operation, exchange.protocol, exchange.usage[0].prompt))

    server = serve(observers=[Watches()])
    for path in PATHS:
        await post(server, path, input="a", prompt="a")
    protocols = ["embeddings", "embeddings", "ollama_embed", "ollama_embeddings"]
    assert seen == [("stop", "embeddings", protocol, 3) for protocol in protocols]
    metrics = (await call(server, "GET", "/metrics")).body.decode()
    assert 'dragoman_tokens_total{gen_ai_request_model="vectors",kind="input"} 12.0' in metrics
    assert 'gen_ai_operation_name="embeddings"' in metrics


# --- upstreams


async def test_upstreams_are_chosen_by_the_model(serve):
    rows = {"data": [{"index": 0, "embedding": [0.0, 1.0]}], "usage": {"prompt_tokens": 2}}
    ways: dict[str, Any] = {"/v1/embeddings": told(rows)}
    shown = {"/api/show": told({"capabilities": ["embedding"]}), "/api/tags": told({"models": [{"name": "e"}]})}
    vectors = {"/api/embed": told({"embeddings": [[1.0, 0.0]], "prompt_eval_count": 4})}
    with (
        threaded(paths={"/v1/models": told({"data": [{"id": "chat"}]}), **ways}) as one,
        threaded(paths={"/v1/models": told({"data": [{"id": "e"}]}), **shown, **vectors}) as two,
    ):
        server = serve(Upstream(Settings(url=one.url, way="chat")), Upstream(Settings(url=two.url)))
        # The one that says so answers to a name that nobody has; the other one may do it too, and is asked by its name.
        assert (await post(server, model="other", input="a")).json["data"][0]["embedding"] == [1.0, 0.0]
        answer = (await post(server, "/api/embed", model="chat", input="a")).json
        assert (answer["embeddings"], answer["prompt_eval_count"]) == ([[0.0, 1.0]], 2)
        card = (await call(server, "GET", "/v1/models/chat")).json["capabilities"]
        assert card["embedding"]  # it did


async def test_an_upstream_that_is_slow_is_left_when_the_client_leaves(serve):
    paths = {"/v1/models": told({"data": [{"id": "m"}]}), "/v1/embeddings": Told(stays=True)}
    with threaded(paths=paths) as fake:
        server = serve(Upstream(Settings(url=fake.url, way="chat")))
        async with aiohttp.ClientSession() as session:
            asking = asyncio.create_task(session.post(server.url + PATH, json={"input": "a"}))
            while not fake.bodies("/v1/embeddings"):
                await asyncio.sleep(0.005)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        while fake.open or server.service.open:
            await asyncio.sleep(0.005)
