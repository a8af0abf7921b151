"""The page in front of a real model: a turn grows, is cancelled, and is explained as `decode` reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import aiohttp
import pytest

from dragoman import api
from dragoman.engines.embedded import Embedded
from dragoman.engines.models import find

from ..server.conftest import Running, running

pytestmark = pytest.mark.engine


@pytest.fixture
def server() -> Iterator[Running]:
    with running(Embedded(find("smollm2"), slots=1, context=1024, threads=1), first_token=300.0, stall=300.0) as found:
        assert found.service.roster.ready, found.service.roster.failure
        yield found


async def post(server: Running, text: str, limit: int) -> bytes:
    body = {"messages": [{"role": "user", "content": text}], "stream": True, "max_tokens": limit, "temperature": 0}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/v1/chat/completions", json=body) as answer,
    ):
        return await answer.read()


async def test_a_real_turn_grows_is_cancelled_and_is_explained(server, browser):
    page = await browser.open(server.url)
    asked = asyncio.create_task(post(server, "Tell a long story about a river.", 800))
    await page.wait_for_selector("article .content", timeout=120_000)
    await page.click("article button")
    await asked
    while server.service.open:
        await asyncio.sleep(0.02)
    (record,) = server.service.log
    assert record.outcome == "cancelled"
    await post(server, "Say hello.", 12)
    await page.wait_for_selector("a.turn >> text=Say hello", timeout=60_000)
    await page.click("a.turn >> text=Say hello")
    await page.wait_for_selector(".pane .raw")
    newest = next(iter(server.service.log))
    assert await page.locator(".pane .raw").text_content() == newest.raw
    decoded = api.decode(newest.dialect, newest.raw, prompt=newest.prompt.text)
    shown = await page.locator(".raw .content").all_text_contents()
    assert "".join(shown).strip() == decoded.content.strip()
    assert await page.locator("section[aria-label=Events] .event").count() >= 2


async def test_the_chat_box_talks_to_a_real_model(server, browser):
    page = await browser.open(f"{server.url}/#try")
    await page.fill("textarea >> nth=2", "Say hello.")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".said .content", timeout=120_000)
    await page.wait_for_selector(".said >> text=pieces/s", timeout=120_000)
