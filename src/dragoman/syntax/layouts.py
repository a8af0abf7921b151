"""How a call is laid out, read off its renderings: the codec, the template around it, and the section of several.

Everything is found by comparing: the words of a probe are known, so what stands between them is the layout.  What
stands between two of a kind is cut in two by what stands before the first and behind the last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .codecs import Codec
from .codecs.braces import Braces
from .codecs.elements import Elements
from .codecs.json import JsonObject
from .codecs.json_call import ARGS, JsonCall
from .codecs.kv_lines import KvLines
from .codecs.params import Params
from .codecs.python import Python
from .probes import IDS, NAMES
from .template import marks

__all__ = ["Layout", "Unit", "joint", "layouts", "units"]

KEYS, VALUES = ("k1y", "k2y"), ("V4lue one", "W0rd two")
_NUMBER = re.compile(rf"({'|'.join(NAMES)}):\d+")
_INDENTED = 1
_NUMBERED = re.compile(r"\A\{name\}:\d(?!\d)")


@dataclass(frozen=True, slots=True)
class Layout:
    """A call's template and codec, the section around several, its id where that holds the name, and what ends calls."""

    call: str
    codec: Codec
    section: str = ""
    id: str = ""
    ends: tuple[str, ...] = ()

    def without_tail(self) -> Layout:
        """A section that nothing opens is none: what would close it ends the turn; one that nothing closes is none."""
        before, _, after = self.section.partition("{calls}")
        if marks(before) and marks(after):
            return self
        return replace(self, section="", ends=marks(after)[:1])


@dataclass(frozen=True, slots=True)
class Unit:
    """A call in a text, from its name (or id, or payload) to the end of its payload."""

    start: int
    end: int
    inner: str
    codec: Codec


Texts = Mapping[str, str]
Find = Callable[[Texts, str, int], Unit | None]


def layouts(texts: Texts) -> Iterator[Layout]:
    """The layouts that explain the renderings of one call and of two, the likeliest first."""
    texts = {what: _NUMBER.sub(r"\1:0", text) for what, text in texts.items()}
    for unit, find in units(texts):
        yield from _around(texts, unit, find)


def units(texts: Texts) -> Iterator[tuple[Unit, Find]]:
    """The readings of one call, each with what found it."""
    for find in (_json, _elements, _tagged, _braces, _python, _lines):
        unit = find(texts, "a string", 0)
        if unit is not None:
            yield unit, find


def _around(texts: Texts, unit: Unit, find: Find) -> Iterator[Layout]:
    one, two = texts["a string"], texts.get("two calls", "")
    before, after = one[: unit.start], one[unit.end :]
    own = "functions.{name}:{index}" if unit.inner.startswith("{name}:{index}") else ""
    other = find(texts, "another call", 1)
    if two and other is not None:
        first, second = one[unit.start : unit.end], texts["another call"][other.start : other.end]
        at, there = two.find(first), two.rfind(second)
        if 0 <= at < at + len(first) <= there:
            between, behind = two[at + len(first) : there], two[there + len(second) :]
            end, _, begin = joint(between, behind, two[:at])
            end = end.rstrip()  # a newline between calls belongs to neither
            if two[:at].endswith(begin) and behind.startswith(end) and (end or begin):
                opened, closed = two[: at - len(begin)].lstrip(), behind[len(end) :].rstrip()
                section = f"{opened}{{calls}}{closed}" if marks(opened + closed) else ""
                begin = begin if section else begin.lstrip()
                yield Layout(f"{begin}{unit.inner}{end}", unit.codec, section, own).without_tail()
    yield Layout(f"{before.lstrip()}{unit.inner}{after.rstrip()}", unit.codec, "", own)


def joint(between: str, behind: str, before: str) -> tuple[str, str, str]:
    """What stands between two of a kind as (end of the first, white space, beginning of the next).

    `behind` follows the last of them and begins like that end; `before` stands before the first and ends like that
    beginning.  Of several ways to cut, the one with the least white space left over, at the beginning of a mark.
    """
    best: tuple[tuple[int, int, int], tuple[str, str, str]] | None = None
    for end in range(len(between), -1, -1):
        if not behind.startswith(between[:end]):
            continue
        for start in range(end, len(between) + 1):
            if between[end:start].strip():
                break
            if before.endswith(between[start:]):
                place = _place(between, start)
                rank = (start - end, place, -end if place == _INDENTED else end)
                cut = between[:end], between[end:start], between[start:]
                best = min(best, (rank, cut)) if best else (rank, cut)
    return best[1] if best else ("", between, "")


def _place(text: str, at: int) -> int:
    """How well something may begin there: at a mark, before the white space of one, or elsewhere."""
    if at == len(text) or text[at] in "<[{":
        return 0
    return _INDENTED if text[at:].lstrip()[:1] in ("<", "[", "{") else 2


# --- codecs


def _json(texts: Texts, what: str, number: int) -> Unit | None:
    """A JSON object: the arguments, or a whole call."""
    text, name = texts.get(what, ""), NAMES[number]
    decoder = json.JSONDecoder()
    for found in re.finditer(r"[\[{]", text):
        try:
            value, end = decoder.raw_decode(text, found.start())
        except ValueError:
            continue
        if isinstance(value, dict) and set(value) <= set(KEYS) and value:
            return _named(text, found.start(), end, number, JsonObject())
        if name in json.dumps(value) and KEYS[0] in json.dumps(value):
            codec = _envelope(value, name, IDS[number])
            return Unit(found.start(), end, "{call}", codec) if codec else None
    return None


def _envelope(value: Any, name: str, id: str) -> JsonCall | None:
    """The keys of a whole call."""
    listed = isinstance(value, list)
    call = value[0] if listed and value else value
    if not isinstance(call, dict):
        return None
    if name in call:
        return JsonCall(listed=listed, keyed=True)
    if isinstance(call.get("function"), dict):
        return JsonCall(listed=listed)
    named = next((key for key, one in call.items() if one == name), "")
    args = next((key for key, one in call.items() if KEYS[0] in json.dumps(one) and key != named), "")
    own = next((key for key, one in call.items() if one == id), "id")
    if not named or not args:
        return None
    more = ARGS if args == ARGS[0] else (args, *(key for key in ARGS if key != args))
    return JsonCall(named, more, own, listed=listed)


def _elements(texts: Texts, what: str, number: int) -> Unit | None:
    """An element for each key, which names it at both ends."""
    text = texts.get(what, "")
    found = [_element(key, value).search(text) for key, value in zip(KEYS, VALUES, strict=True)]
    first, last = found[0], found[number]
    if first is None or last is None:
        return None
    mark = first["close"].removesuffix("</")
    if not text[: first.start()].endswith(mark):
        return None
    codec = Elements(f"{mark}<{{key}}>{{value}}{mark}</{{key}}>")
    return _named(text, first.start() - len(mark), last.end(), number, codec)


def _element(key: str, value: str) -> re.Pattern[str]:
    return re.compile(rf"<{key}>{re.escape(value)}(?P<close>[^\s\w]*\S{{0,32}}?</){key}>")


def _tagged(texts: Texts, what: str, number: int) -> Unit | None:
    """Key and value as text between marks of their own."""
    one, two = texts.get("a string", ""), texts.get("two strings", "")
    first, second = _pair(one, 0), _pair(two, 1)
    begun = _pair(two, 0)
    if first is None or second is None or begun is None or begun[1] > second[0]:
        return None
    end, _, begin = joint(two[begun[1] : second[0]], two[second[1] :], two[: begun[0]])
    middle = _middle(texts, one, first)
    template = f"{begin}{{key}}{middle}{{value}}{end}"
    if not (marks(begin) and marks(middle.replace("{type}", "")) and marks(end)):
        return None
    text = texts.get(what, "")
    pair, last = _pair(text, 0), _pair(text, number)
    if pair is None or last is None:
        return None
    codec = Params(template, _word(texts, one, first)) if "{type}" in middle else Params(template, cdata=_cdata(texts))
    return _named(text, pair[0] - len(begin), last[1] + len(end), number, codec)


def _cdata(texts: Texts) -> bool:
    """Whether values with marks stand in a section of their own."""
    return "<![CDATA[" in texts.get("marks", "")


def _pair(text: str, number: int) -> tuple[int, int] | None:
    """From a key to the end of its value."""
    key = text.find(KEYS[number])
    value = text.find(VALUES[number], key + 1)
    return (key, value + len(VALUES[number])) if 0 <= key < value else None


def _middle(texts: Texts, one: str, pair: tuple[int, int]) -> str:
    """What stands between a key and its value, with `{type}` for a word that depends on the value."""
    text = one[pair[0] + len(KEYS[0]) : pair[1] - len(VALUES[0])]
    other = texts.get("numbers", "")
    key, value = other.find(KEYS[0]), other.find("17")
    shown = other[key + len(KEYS[0]) : value] if 0 <= key < value else text
    if shown == text:
        return text
    start, tail = _common(text, shown), _common(text[::-1], shown[::-1])
    word = text[start : len(text) - tail]
    return f"{text[:start]}{{type}}{text[len(text) - tail :]}" if word.isalpha() else text


def _word(texts: Texts, one: str, pair: tuple[int, int]) -> tuple[str, ...]:
    """The word for a string, where values tell their type."""
    text = one[pair[0] + len(KEYS[0]) : pair[1] - len(VALUES[0])]
    before, _, after = _middle(texts, one, pair).partition("{type}")
    return (text[len(before) : len(text) - len(after)],)


def _common(one: str, other: str) -> int:
    """How many characters two texts begin alike with; a word is not cut in two."""
    size = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    while size and one[size - 1].isalpha():
        size -= 1
    return size


def _braces(texts: Texts, what: str, number: int) -> Unit | None:
    """Bare keys, strings between marks."""
    text = texts.get(what, "")
    first = re.search(rf"\{{{KEYS[0]}:(?P<mark>[^\w\s]\S*?|){re.escape(VALUES[0])}(?P=mark)", text)
    if first is None or not first["mark"]:
        return None
    end = text.find("}", first.end())
    return _named(text, first.start(), end + 1, number, Braces(first["mark"])) if end > 0 else None


def _python(texts: Texts, what: str, number: int) -> Unit | None:
    """A call as Python writes it, perhaps in a list."""
    text = texts.get(what, "")
    found = re.search(rf"\[?\b{NAMES[number]}\({KEYS[0]}=([\"'])", text)
    if found is None:
        return None
    end = text.find(")", found.end())
    listed = text[found.start()] == "["
    return Unit(found.start(), end + 1 + listed, "{call}", Python(listed=listed)) if end > 0 else None


def _lines(texts: Texts, what: str, number: int) -> Unit | None:
    """A line for each key, with a sign before its value."""
    text, pair = texts.get(what, ""), _pair(texts.get(what, ""), 0)
    both = texts.get("two strings", "")
    first, second = _pair(both, 0), _pair(both, 1)
    if pair is None or first is None or second is None or first[1] > second[0]:
        return None
    joint, line = both[first[0] + len(KEYS[0]) : first[1] - len(VALUES[0])], both[first[1] : second[0]]
    if not joint.strip() or line.strip() or "\n" not in line:
        return None
    last = _pair(text, number)
    end = last[1] + len(line) if last and text.startswith(line, last[1]) else last[1] if last else 0
    return _named(text, pair[0], end, number, KvLines(joint, line)) if last else None


def _named(text: str, start: int, end: int, number: int, codec: Codec) -> Unit | None:
    """Arguments with the name before them; an id in between is told too."""
    name, given = NAMES[number], IDS[number]
    at, own = text.rfind(name, 0, start), text.rfind(given, 0, start)
    if at < 0:
        return None
    first = min(place for place in (at, own) if place >= 0)
    between = text[first:start].replace(name, "{name}").replace(given, "{id}")
    return Unit(first, end, f"{_NUMBERED.sub('{name}:{index}', between)}{{args}}", codec)
