"""A headless browser on the served page: Debian's Chromium, or the one that CHROMIUM names."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator

import pytest

from ..server.conftest import serving

__all__ = ["serving"]

_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str:
    named = os.environ.get("CHROMIUM", "")
    found = named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
    if not found and os.environ.get("CI"):
        pytest.fail("the browser tests need Chromium: apt install chromium")
    if not found:
        pytest.skip("the browser tests need Chromium (apt install chromium), or CHROMIUM=/path/to/it")
    return found


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """A browser that ends with the test, and fails it if a page wrote an error into its console."""
    path = chromium()
    playwright = pytest.importorskip("playwright.async_api")
    async with playwright.async_playwright() as started:
        engine = await started.chromium.launch(executable_path=path, args=list(_QUIET))
        opened = Browser(engine)
        try:
            yield opened
        finally:
            await engine.close()
        assert not opened.errors, opened.errors


class Browser:
    """Opens pages, and keeps what goes wrong in them."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.errors: list[str] = []

    async def open(self, url: str, **options):
        context = await self.engine.new_context(viewport={"width": 1280, "height": 800}, **options)
        page = await context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        await page.goto(url)
        return page
