"""Learn: a chat template's renderings become a dialect.

A chat template shows a model how its own turns were written when it was trained, so it says best what it will write.
It is asked like a stranger whose language is to be learned: short conversations whose words are known go in, and what
comes out is compared.

    what begins a turn     what a prompt ends with and an old answer begins with
    what ends it           what answers and calls end with alike
    reasoning              what stands around a thought; or what the prompt has opened already
    calls                  `layouts`: name, keys and values are known, so the rest is marks
    which of them          every guess must read all probes back; the one that reads, and then writes, most of them wins

Nothing here knows Jinja or a single dialect; the number of renderings is bounded (`probes`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import DialectError, UsageError
from ..messages import Call, Turn
from .decode import decode
from .dialect import Dialect
from .encode import encode
from .framing import Framing
from .layouts import layouts
from .metadata import compiled
from .outline import Outline
from .probes import ARGUMENTS, Probe, Probes, Render, calling, tools_of, turns
from .template import marks

__all__ = ["Lesson", "around", "ended", "learn", "reads", "show", "study", "writes", "written"]


@dataclass(frozen=True)
class Lesson:
    """What was learnt: the dialect, and what was found by which probe.

    `unread`: the probes that it does not read back.  `unsaid`: those that it cannot write at all.  `unwritten`: those
    that it does not write as the template does, to the letter.  `texts`: what the template shows of each.
    """

    dialect: Dialect
    found: Mapping[str, str]
    unread: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
    probes: int = 0
    unsaid: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def sure(self) -> float:
        """The part of the probes that read back as they were asked."""
        return 1 - len(self.unread) / self.probes if self.probes else 0.0


def learn(
    source: Render | Mapping[str, Any], *, name: str = "learnt", specials: Collection[str] = (), strict: bool = True
) -> Dialect:
    """The dialect that a chat template shows, or that a model's `response_template` describes.

    It reads and writes all that the template was seen to show, or none is answered.

    Args:
        source: `render(messages, tools, **flags)`, which answers the template's text and may raise where it refuses;
            or the `response_template` (or `response_schema`) of a tokenizer's configuration.
        name: what to call the dialect.
        specials: the marks that are tokens of their own, if known.
        strict: with False, the nearest dialect is answered although it does not read all that was shown.

    Raises:
        UsageError: it could not be told; the message says what.
    """
    if isinstance(source, Mapping):
        return compiled(source, name)
    lesson = study(source, name=name, specials=specials)
    missed = tuple(dict.fromkeys((*lesson.unread, *lesson.unsaid)))
    if missed and strict:
        raise UsageError(
            f"of {lesson.probes} conversations that the template shows, the nearest dialect does not read and write "
            f"{len(missed)}: {', '.join(missed)}; strict=False answers it all the same"
        )
    return lesson.dialect


def study(render: Render, *, name: str = "learnt", specials: Collection[str] = ()) -> Lesson:
    """What `learn` finds, and how sure it is."""
    return _Study(Probes(render), name, frozenset(specials)).lesson()


def show(render: Render) -> list[Probe]:
    """The probes that a chat template shows, each with its text."""
    probes = Probes(render)
    probes.settle()
    return list(_Study(probes, "shown", frozenset()).shown(Outline(probes)))


def around(render: Render) -> tuple[str, tuple[str, ...]]:
    """What begins a turn in a chat template, and the marks that end it."""
    probes = Probes(render)
    probes.settle()
    outline = Outline(probes)
    return outline.begins, outline.ends


class _Study:
    """One template being studied."""

    def __init__(self, probes: Probes, name: str, specials: frozenset[str]) -> None:
        self.probes, self.name, self.specials = probes, name, specials
        self.found: dict[str, str] = {}

    def lesson(self) -> Lesson:
        shows_calls = self.probes.settle()
        outline = Outline(self.probes)
        base = outline.dialect(self.name)
        shown = list(self.shown(outline))
        if not shows_calls:
            bases = [base, *([outline.framing.plain(base)] if outline.framing else [])]
            lesson = self.told(bases, [probe for probe in shown if not probe.turn.calls])
            return replace(lesson, found=outline.found, texts={probe.what: probe.text for probe in shown})
        texts = {probe.what: probe.text for probe in shown}
        guesses = [self.judged(guess, shown) for guess in self.guesses(base, texts, outline.framing)]
        best = max(guesses, key=_rank, default=None)
        if best is None or "a string" in best.unread:
            raise UsageError(_unclear(texts.get("a string", ""), best))
        if (spaced := _spaced(best.dialect, shown)) is not best.dialect:
            best = max(best, self.judged(spaced, shown), key=_rank)
        return replace(best, found={**outline.found, **self.described(best.dialect)}, texts=texts)

    def shown(self, outline: Outline) -> Iterator[Probe]:
        """The probes whose words all show, without what stands around the turn."""
        for what, turn in (*turns(), ("another call", _another())):
            text = self.probes.turn(turn)
            if text and all(word in text for word in _words(turn)) and not outline.hidden(text, turn):
                yield Probe(what, self.probes.said(turn), outline.inner(text, turn))

    def guesses(self, base: Dialect, texts: Mapping[str, str], framing: Framing | None) -> Iterator[Dialect]:
        if framing:
            for guess in framing.guesses(base, texts):
                yield replace(guess, special=tuple(dict.fromkeys((*guess.special, *self.special(guess)))))
        for layout in layouts(texts):
            fields: dict[str, Any] = {"call": layout.call, "args": layout.codec, "section": layout.section}
            try:
                made = replace(base, **fields, id=layout.id, ends=(*base.ends, *layout.ends))
                yield replace(made, special=self.special(made), signs=_signs(made))
            except DialectError:
                continue

    def special(self, dialect: Dialect) -> tuple[str, ...]:
        templates = "\n".join((dialect.call, dialect.section, dialect.reasoning, *dialect.content, *dialect.ends))
        return tuple(sorted((mark for mark in self.specials if mark in templates), key=templates.find))

    def judged(self, dialect: Dialect, shown: list[Probe]) -> Lesson:
        unread = tuple(probe.what for probe in shown if not reads(dialect, probe))
        texts = {probe.what: written(dialect, probe) for probe in shown}
        unsaid = tuple(what for what, text in texts.items() if text is None)
        unwritten = tuple(probe.what for probe in shown if not _same(dialect, texts[probe.what], probe))
        return Lesson(dialect, {}, unread, unwritten, len(shown), unsaid)

    def told(self, bases: list[Dialect], shown: list[Probe]) -> Lesson:
        """A template without calls still tells how a turn begins, ends and thinks."""
        if not bases[0].begins and not bases[0].ends:
            raise UsageError("neither how a turn begins nor how it ends could be told: the template shows no answer")
        return max((self.judged(base, shown) for base in bases), key=_rank)

    def described(self, dialect: Dialect) -> dict[str, str]:
        found = {"call": "a string, two strings, numbers"}
        return found | ({"section": "two calls, another call"} if dialect.section else {})


def _unclear(text: str, best: Lesson | None) -> str:
    """Why no call could be learnt."""
    why = (
        f"its nearest reading, {best.dialect.call!r}, does not read it back"
        if best
        else "its arguments are written in no way that is known (JSON, tags, elements, braces, Python, lines)"
    )
    return f"how a call is written could not be told from {text!r:.300}: {why}"


def _another() -> Turn:
    """The second of `two calls` by itself."""
    return Turn(calling({}, ARGUMENTS["two strings"]).calls[1:])


def _words(turn: Turn) -> Iterator[str]:
    """What must show of a turn: its texts, and the names and keys of its calls."""
    for part in turn.parts:
        yield part.name if isinstance(part, Call) else part.text
    for call in turn.calls:
        yield from json.loads(call.arguments)


def reads(dialect: Dialect, probe: Probe) -> bool:
    """Whether a dialect reads a probe's text back as it was asked."""
    turn = decode(dialect, probe.text, tools_of(probe.turn), prompt=dialect.begins)
    return _meaning(turn) == _meaning(probe.turn)


def written(dialect: Dialect, probe: Probe) -> str | None:
    """What a dialect writes for a probe's turn, None if it cannot."""
    try:
        return encode(dialect, probe.turn, prompt=dialect.begins)
    except UsageError:
        return None


def writes(dialect: Dialect, probe: Probe) -> bool:
    """Whether a dialect writes a probe's turn exactly as the template does."""
    return _same(dialect, written(dialect, probe), probe)


def _same(dialect: Dialect, text: str | None, probe: Probe) -> bool:
    return text is not None and ended(dialect, text) == ended(dialect, probe.text)


def ended(dialect: Dialect, text: str) -> str:
    """A text without the marks that end its turn, of which that of its last message may be one."""
    text = text.strip()
    frame = dialect.frame
    closes = (*frame.closes, frame.start) if frame else [mark for one in dialect.content for mark in marks(one)[-1:]]
    for mark in (*dialect.ends, *closes):
        text = text.removesuffix(mark).rstrip()
    return text


def _meaning(turn: Turn) -> tuple[Any, ...]:
    calls = [(call.name, json.loads(call.arguments) if call.valid else call.arguments) for call in turn.calls]
    return turn.reasoning.strip(), turn.content.strip(), calls


_GAPS = ("", "\n", "\n\n", " ")


def _spaced(dialect: Dialect, shown: list[Probe]) -> Dialect:
    """A dialect with the white space that is shown between two calls, and between text and a call."""
    probes = {probe.what: probe for probe in shown}
    for what, where in (("two calls", "joint"), ("text and a call", "apart")):
        probe = probes.get(what)
        if probe and not writes(dialect, probe):
            known: list[dict[str, Any]] = [{where: gap} for gap in _GAPS]
            ways = (replace(dialect, **fields) for fields in known)
            dialect = next((made for made in ways if writes(made, probe)), dialect)
    return dialect


def _signs(dialect: Dialect) -> tuple[str, ...]:
    """The marks that open a call."""
    return marks(dialect.section.partition("{")[0]) or marks(dialect.call.partition("{")[0])


def _rank(lesson: Lesson) -> tuple[int, int, int]:
    return -len(lesson.unread), -len(lesson.unsaid), -len(lesson.unwritten)
