"""The page as people see it, in a real browser: live turns, a turn explained, the slider, hostile text, long lists."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest

from dragoman import api, web
from dragoman.engines.base import Piece, Prompt
from dragoman.state.log import Record
from dragoman.syntax.decode import Parser

from ..server.conftest import USER, WEATHER, ask

CALL = '<think>Let me see.</think>I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo",}}\n</tool_call>'
EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script></pre><b>bold</b>'
REQUEST = {"messages": USER, "tools": [WEATHER], "stream": True}


async def test_a_running_turn_grows_and_then_stands_in_the_history(serving, browser):
    server = serving({"output": CALL, "pause": 0.05})
    page = await browser.open(server.url)
    await page.wait_for_selector("text=Nothing runs")
    asked = asyncio.create_task(ask(server, REQUEST))
    await page.wait_for_selector("article .reasoning")
    await page.wait_for_selector("article .call")
    await asked
    await page.wait_for_selector("a.turn >> text=tool_calls")
    assert await page.locator("article").count() == 0
    assert await page.locator("a.turn .warn").text_content() == "repaired"


async def test_cancel_ends_the_turn(serving, browser):
    server = serving({"output": "word " * 400, "pause": 0.05})
    page = await browser.open(server.url)
    asked = asyncio.create_task(post(server, REQUEST))
    await page.wait_for_selector("article .content")
    await page.click("article button")
    await asked
    await server.idle()
    await page.wait_for_selector("a.turn")
    record = next(iter(server.service.log))
    assert "word " * 400 not in record.raw
    assert (record.outcome, record.error) == ("cancelled", "")


async def post(server, body):
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.url}/v1/chat/completions", json=body) as answer,
    ):
        return await answer.read()


async def test_a_turn_is_shown_as_it_is_decoded(serving, browser):
    server = serving({"output": CALL, "cut": [7]})
    sent = await ask(server, REQUEST)
    page = await browser.open(server.url)
    await page.click("a.turn")
    await page.wait_for_selector(".pane .raw")
    assert await page.locator(".pane .raw").text_content() == CALL
    decoded = api.decode("hermes-json", CALL, [WEATHER])
    for kind, wanted in (("reasoning", decoded.reasoning), ("content", decoded.content)):
        spans = await page.locator(f".raw .{kind}").all_text_contents()
        assert "".join(spans) == wanted
    events = await page.locator("section[aria-label=Events] .event").all_text_contents()
    assert "call get_weather" in events
    assert events[-1] == "finish tool_calls"
    assert (await page.locator("section[aria-label=Frames] pre").all_text_contents())[0] in sent.body.decode()
    await page.select_option("section[aria-label=Frames] select", "messages")
    await page.wait_for_selector("section[aria-label=Frames] >> text=message_stop")


async def test_hovering_lights_up_what_belongs_together(serving, browser):
    server = serving({"output": CALL, "cut": [7]})
    await ask(server, REQUEST)
    page = await browser.open(server.url)
    await page.click("a.turn")
    await page.hover(".raw .step >> nth=2")
    number = await page.locator(".raw .step >> nth=2").get_attribute("data-step")
    lit = await page.locator(".event.on").evaluate_all("found => found.map(one => one.dataset.step)")
    assert lit
    assert set(lit) == {number}


async def test_the_slider_shows_what_a_shorter_text_means(serving, browser):
    server = serving({"output": "hi"})
    page = await browser.open(f"{server.url}/#try")
    await page.fill("textarea >> nth=0", CALL)
    for length in (9, 30, 60, 90, len(CALL)):
        await page.wait_for_selector(f"text={len(CALL)} characters")
        await page.locator("input[type=range]").fill(str(length))
        shown = await page.locator("section[aria-label=Text] .raw").text_content()
        assert shown == CALL[:length]
        events = await page.locator("section[aria-label='Events'] .event").all_text_contents()
        assert "".join(json.loads(line[8:]) for line in events if line.startswith("content ")) == said(CALL[:length])


def said(text: str) -> str:
    parser = Parser(api.get("hermes-json"), [WEATHER])
    return "".join(event.text for event in parser.feed(text) if type(event).__name__ == "Content")


async def test_hostile_text_stays_text(serving, browser):
    server = serving({"output": EVIL})
    await ask(server, {**REQUEST, "messages": [{"role": "user", "content": EVIL}]})
    page = await browser.open(server.url)
    await page.click("a.turn")
    await page.wait_for_selector(".pane .raw")
    assert await page.locator(".pane .raw").text_content() == EVIL
    await page.goto(f"{server.url}/#try")
    await page.fill("textarea >> nth=0", EVIL)
    await page.select_option("select", "hermes-json")
    await page.wait_for_selector(f"text={len(EVIL)} of {len(EVIL)}")
    assert await page.title() == "dragoman"
    assert await page.locator("img, b, main script").count() == 0


async def test_five_thousand_turns_scroll(serving, browser):
    server = serving({"output": "hi"}, turn_log_count=5000)
    for number in range(5000):
        server.service.log.begin(record(number))
    page = await browser.open(server.url)
    await page.wait_for_selector("text=5000 turns")
    for top in (0, 100_000, 259_000):
        await page.locator(".list").evaluate("(list, top) => { list.scrollTop = top; }", top)
        while not await page.evaluate(f"[...document.querySelectorAll('.turn')].some(row => row.offsetTop >= {top})"):
            await asyncio.sleep(0.02)
        assert await page.locator(".turn").count() < 60
    await page.fill("#search", "number 4321")
    await page.wait_for_selector("text=1 of 5000 turns")
    assert "number 4321" in await page.locator(".turn").text_content()


def record(number: int) -> Record:
    body = {"messages": [{"role": "user", "content": f"number {number}"}]}
    made = Record(f"t{number}", 1e9 + number, "/x", "chat", "m", "hermes-json", body, Prompt(()))
    made.came(0.1, [Piece("hi")])
    made.outcome, made.first, made.seconds = "stop", 0.1, 0.2
    return made


async def test_the_chat_box_shows_calls_and_takes_results(serving, browser):
    server = serving({"output": "It is sunny.", "when": {"results": "sun"}}, {"output": CALL})
    page = await browser.open(f"{server.url}/#try")
    await page.click("summary")
    await page.click("text=Example tool")
    await page.fill("textarea >> nth=2", "weather?")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".said .call >> text=Oslo")
    await page.fill("input[placeholder^='what the tool']", "sun")
    await page.click("text=Give the results")
    await page.wait_for_selector(".said .content >> text=It is sunny.")


@pytest.mark.parametrize("view", ["live", "try", "models"])
async def test_narrow_screens_need_no_sideways_scrolling(serving, browser, view):
    server = serving({"output": CALL})
    await ask(server, REQUEST)
    page = await browser.open(f"{server.url}/#{view}")
    await page.set_viewport_size({"width": 360, "height": 640})
    await page.wait_for_selector("main h2")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_text_stands_out_from_its_ground(serving, browser, scheme):
    server = serving({"output": "hi"})
    page = await browser.open(f"{server.url}/#try", color_scheme=scheme)
    ratios = await page.evaluate(CONTRAST)
    assert min(ratios.values()) >= 4.5, ratios


CONTRAST = """() => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => {
    const hex = style.getPropertyValue(name).trim().replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3");
    const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
    const [r, g, b] = parts.map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = {};
  for (const ground of ["--card", "--back", "--on"]) {
    for (const ink of ["--text", "--content", "--reasoning", "--call", "--bad"]) {
      const [one, other] = [light(ink), light(ground)].sort((a, b) => b - a);
      found[`${ink} on ${ground}`] = (one + 0.05) / (other + 0.05);
    }
  }
  return found;
}"""


async def test_every_field_and_button_has_a_name(serving, browser):
    server = serving({"output": CALL})
    await ask(server, REQUEST)
    page = await browser.open(server.url)
    for view in ("#live", "#try", "#models"):
        await page.goto(f"{server.url}/{view}")
        await page.wait_for_selector("main h2")
        nameless = await page.evaluate(NAMELESS)
        assert not nameless, (view, nameless)


NAMELESS = """() => [...document.querySelectorAll("button, input, select, textarea, canvas")]
  .filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim()))
  .map((one) => one.outerHTML)"""


async def test_keys_go_where_they_say(serving, browser):
    server = serving({"output": CALL})
    await ask(server, REQUEST)
    page = await browser.open(server.url)
    await page.wait_for_selector("a.turn")
    await page.keyboard.press("/")
    assert await page.evaluate("document.activeElement.id") == "search"
    await page.locator(".list").focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(".panes")
    await page.keyboard.press("Escape")
    await page.wait_for_selector("a.turn")
    await page.keyboard.press("3")
    await page.wait_for_selector("text=Models and engines")


async def test_with_a_key_the_page_asks_for_it(serving, browser):
    server = serving({"output": "hi"}, api_key="secret")
    page = await browser.engine.new_page()
    page.on("dialog", lambda dialog: asyncio.ensure_future(dialog.accept("secret")))
    await page.goto(server.url)
    await page.wait_for_selector("text=demo (hermes-json)")


def test_the_page_weighs_less_than_150_kilobytes():
    names = [path.name for path in web.files("dragoman.web").iterdir() if path.name.endswith(tuple(web.KINDS))]
    assert {"index.html", "app.js", "style.css"} <= set(names)
    assert sum(len(web.read(name)) for name in names) < 150_000


async def test_nothing_comes_from_elsewhere(serving, browser):
    server = serving({"output": "hi"})
    foreign: list[str] = []
    page = await browser.engine.new_page()
    page.on("request", lambda request: foreign.append(request.url) if not request.url.startswith(server.url) else None)
    answer = await page.goto(server.url)
    await page.wait_for_selector("text=Nothing runs")
    assert not foreign
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("place", ["#turn/%", "#try/%E0%A4%A", "#constructor", "#__proto__/x"])
async def test_whatever_stands_behind_the_address_is_no_error(serving, browser, place):
    server = serving({"output": "fine"})
    page = await browser.open(f"{server.url}/{place}")
    await page.wait_for_selector("main >> text=/History|What does it mean|there is no turn/")
    if place.startswith("#turn/"):
        browser.errors.clear()  # the 404 itself


async def test_who_gives_no_key_is_asked_once(serving, browser):
    server = serving({"output": "fine"}, api_key="secret")
    page = await browser.open("about:blank")
    asked = []

    async def dismiss(dialog):
        asked.append(dialog.message)
        await dialog.dismiss()

    page.on("dialog", dismiss)
    await page.goto(server.url)
    await page.wait_for_selector("text=no live view")
    await page.wait_for_timeout(2500)  # it has tried anew by then
    assert asked == ["This server wants an API key"]
    browser.errors.clear()  # each 401 is told of


async def test_a_server_that_ends_leaves_nothing_running_on_the_page(serving, browser):
    server = serving({"output": "word " * 400, "pause": 0.05})
    page = await browser.open(server.url)
    asked = asyncio.create_task(post(server, REQUEST))
    await page.wait_for_selector("article .content")
    await page.route("**/dragoman/live", lambda route: route.abort())
    server.service.draining = True
    await page.wait_for_selector("text=Nothing runs")
    await page.wait_for_selector("text=no live view")
    assert await page.locator("article").count() == 0
    asked.cancel()
    browser.errors.clear()  # the live view that could not be had
