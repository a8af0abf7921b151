"""Pictures of every view of the page, in both themes and on a phone, for somebody to look at: `make screenshots`.

They go to build/screenshots.  A scripted model is served on loopback, and a headless Chromium looks at it.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

FOLDER = Path("build/screenshots")
CALL = '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 2,}}'
SCRIPT = f"""
model = "demo"
dialect = "hermes-json"
[[turn]]
when = {{user = "weather"}}
pause = 0.05
output = '''<think>The user asks for the weather in Oslo.</think>I look it up.
<tool_call>
{CALL}
</tool_call>'''
[[turn]]
pause = 0.01
output = "<think>A greeting.</think>Hello! How can I help you today?"
"""
TOOL = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {}, "days": {}}}}
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def main() -> int:
    """Serve, look, end."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "script.toml").write_text(SCRIPT, "utf-8")
    words = ["serve", "--engine", "script", "--script", str(FOLDER / "script.toml"), "--port", "0", "--state", "off"]
    server = subprocess.Popen([sys.executable, "-m", "dragoman", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().split(" at ")[1].strip().removesuffix("/v1")
        asyncio.run(_look(url))
    finally:
        server.terminate()
        server.wait()
    print(f"look at {FOLDER}")
    return 0


async def _look(url: str) -> None:
    for text in ("hello", "the weather, please", "hello again"):
        await asyncio.to_thread(_ask, url, text)
    async with async_playwright() as started:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = await started.chromium.launch(executable_path=path, args=QUIET)
        for theme in ("light", "dark"):
            await _theme(browser, url, theme, {"width": 1280, "height": 800}, "desk")
            await _theme(browser, url, theme, {"width": 390, "height": 800}, "phone")
        await browser.close()


async def _theme(browser: Browser, url: str, theme: Any, size: Any, device: str) -> None:
    context = await browser.new_context(viewport=size, color_scheme=theme)
    page = await context.new_page()
    await page.goto(url)
    await page.wait_for_selector(".turn")
    running = asyncio.create_task(asyncio.to_thread(_ask, url, "the weather now, please"))
    await page.wait_for_selector("article .content")
    await _take(page, f"live-{device}-{theme}")
    await running
    await page.click(".turn >> text=weather, please")
    await page.wait_for_selector(".panes")
    await page.hover(".raw .arguments")
    await _take(page, f"turn-{device}-{theme}")
    await page.goto(f"{url}/#try")
    await page.wait_for_selector(".panes .step")
    await _take(page, f"try-{device}-{theme}")
    await page.goto(f"{url}/#models")
    await page.wait_for_selector("main canvas")
    await _take(page, f"models-{device}-{theme}")
    await context.close()


async def _take(page: Page, name: str) -> None:
    await page.screenshot(path=FOLDER / f"{name}.png", full_page=True)


def _ask(url: str, text: str) -> None:
    body = {
        "messages": [{"role": "user", "content": text}],
        "tools": [{"type": "function", "function": TOOL}],
        "stream": True,
    }
    asked = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(asked) as answer:
        answer.read()


if __name__ == "__main__":
    sys.exit(main())
