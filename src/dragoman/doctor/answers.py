"""Scenarios of text: short, long, streamed, cut, stopped, in other scripts, with and without thoughts."""

from __future__ import annotations

import json
import re
from typing import Any

from .scenario import scenario
from .visit import Skip, Visit

__all__: list[str] = []

HELLO = "Say hello in one short sentence."
COUNT = "Count from one to one hundred in words, separated by commas."
UNICODE = "Repeat exactly: Grüße, Ελλάδα, 日本語, 🦜🇳🇴, e\u0301, שלום."
COLOURS = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}


@scenario("a short answer")
async def plain(visit: Visit) -> None:
    """The least that a server can do."""
    heard = await visit.ask(visit.request(HELLO))
    _ends(visit, heard.finish)
    if heard.completion is None:
        visit.find(_USAGE[visit.client.name], "no usage in a whole answer")


@scenario("a short answer, streamed")
async def streamed(visit: Visit) -> None:
    """As nearly all clients ask."""
    heard = await visit.ask(visit.request(HELLO), stream=True)
    _ends(visit, heard.finish)


@scenario("a longer answer, streamed")
async def long(visit: Visit) -> None:
    """Enough to cut things at many places."""
    await visit.ask(visit.request(COUNT, limit=3 * visit.limit), stream=True)


@scenario("many scripts and emoji, streamed")
async def unicode(visit: Visit) -> None:
    """Characters of several bytes and several tokens."""
    await visit.ask(visit.request(UNICODE), stream=True)


@scenario("streamed and whole say the same")
async def same(visit: Visit) -> None:
    """At temperature 0; a server that differs from itself cannot be judged."""
    request = visit.request(HELLO)
    whole, again = await visit.ask(request), await visit.ask(request)
    if whole.content != again.content or whole.finish != again.finish:
        raise Skip("the same request gives different answers at temperature 0")
    live = await visit.ask(request, stream=True)
    for what in ("content", "reasoning", "finish"):
        one, other = getattr(live, what), getattr(whole, what)
        if one != other:
            visit.find("S8", f"the {what} is {one!r:.80} in the stream, {other!r:.80} in the answer")


@scenario("tokens are counted in a stream")
async def usage(visit: Visit) -> None:
    """Where the protocol asks for it to be wanted, it is."""
    more: dict[str, Any] = {}
    if visit.client.name in ("chat", "completions"):
        more = {"stream_options": {"include_usage": True}}
    heard = await visit.ask(visit.request(HELLO), stream=True, **more)
    if heard.prompt is None or heard.completion is None:
        visit.find(_USAGE[visit.client.name], "no usage in the stream")
    elif not heard.prompt or not heard.completion:
        visit.find(_USAGE[visit.client.name], f"{heard.prompt} tokens of prompt, {heard.completion} of answer")


@scenario("cut by the limit")
async def limit(visit: Visit) -> None:
    """Both ways of asking."""
    counted: int | None = None
    for stream in (False, True):
        heard = await visit.ask(visit.request(COUNT, limit=5), stream=stream)
        counted = heard.completion if heard.completion is not None else counted
        short = counted is not None and counted < 5  # it said less by itself
        if heard.finish != "length" and not (short and heard.finish == "stop"):
            visit.find("C27", f"an answer of at most 5 tokens ended by {heard.finish or 'nothing'}: {heard}")
        if heard.completion is not None and heard.completion > 6:
            visit.find("C27", f"{heard.completion} tokens, where at most 5 were wanted")


@scenario("ended by a stop string", needs=("stop",))
async def stop(visit: Visit) -> None:
    """A word of the answer to the same question is the stop string."""
    whole = await visit.ask(visit.request(HELLO))
    words = [found for found in re.finditer(r"\w{2,}", whole.content) if found.start()]
    if not words:
        raise Skip("the answer has too few words to stop at")
    word = words[len(words) // 2].group()
    before = whole.content.partition(word)[0]
    for stream in (False, True):
        heard = await visit.ask(visit.request(HELLO, stop=(word,)), stream=stream)
        if word in heard.content:
            visit.find("C19", f"the stop string {word!r} is in the text: {heard}")
        elif heard.content == before and heard.finish != "stop":
            visit.find("C19", f"the text ends before {word!r}, but by {heard.finish or 'nothing'}")


@scenario("thinking wanted", needs=("reasoning",), optional=True)
async def reasoning(visit: Visit) -> None:
    """A model without thoughts must not fail."""
    await visit.ask(visit.request(HELLO, thinking="low", limit=2 * visit.limit), stream=True)


@scenario("no thinking wanted", needs=("reasoning",), optional=True)
async def no_reasoning(visit: Visit) -> None:
    """Then there is none."""
    heard = await visit.ask(visit.request(HELLO, thinking=False), stream=True)
    if heard.reasoning.strip():
        visit.find("C28", f"{len(heard.reasoning)} characters of reasoning, though none was wanted")


@scenario("an answer that fits a schema", needs=("schema",), optional=True)
async def schema(visit: Visit) -> None:
    """Two words to choose from."""
    heard = await visit.ask(visit.request("Name a colour as JSON.", schema=COLOURS, limit=2 * visit.limit))
    if heard.finish == "length":
        raise Skip("the limit cut the answer")
    try:
        value = json.loads(heard.content)
    except ValueError:
        value = None
    if not isinstance(value, dict) or value.get("colour") not in ("red", "blue"):
        visit.find("C20", f"the answer does not fit its schema: {heard}")


@scenario("system messages anywhere, content in parts", needs=("history",))
async def history(visit: Visit) -> None:
    """As agents write their conversations."""
    visit.rule = "C24"
    await visit.send({**visit.body(visit.request(HELLO)), **_HISTORIES[visit.client.name]})


def _parts(kind: str, text: str) -> list[dict[str, str]]:
    return [{"type": kind, "text": text}]


_HISTORIES: dict[str, dict[str, Any]] = {
    "chat": {
        "messages": [
            {"role": "system", "content": _parts("text", "Be brief.")},
            {"role": "user", "content": _parts("text", "Hello.")},
            {"role": "assistant", "content": _parts("text", "Hello!")},
            {"role": "developer", "content": "Answer in English."},
            {"role": "user", "content": "Who are you?"},
            {"role": "user", "content": HELLO},
        ]
    },
    "responses": {
        "instructions": "Be brief.",
        "input": [
            {"role": "developer", "content": _parts("input_text", "Answer in English.")},
            {"type": "message", "role": "user", "content": _parts("input_text", "Hello.")},
            {"type": "message", "role": "assistant", "content": _parts("output_text", "Hello!")},
            {"role": "user", "content": HELLO},
        ],
    },
    "messages": {
        "system": _parts("text", "Be brief."),
        "messages": [
            {"role": "user", "content": _parts("text", "Hello.")},
            {"role": "assistant", "content": _parts("text", "Hello!")},
            {"role": "system", "content": "Answer in English."},
            {"role": "user", "content": HELLO},
        ],
    },
    "ollama": {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": "Hello!", "thinking": "A greeting."},
            {"role": "user", "content": HELLO},
        ]
    },
}
_USAGE = {"chat": "C13", "completions": "L1", "responses": "R15", "messages": "M9", "ollama": "O3"}


def _ends(visit: Visit, finish: str) -> None:
    if finish not in ("stop", "length"):
        visit.find("C27", f"the answer says that it ended by {finish or 'nothing'}")
