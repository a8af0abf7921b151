"""Paints an explanation: the raw text coloured by meaning, marks dimmed, notices below the text they are about."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from ..cases.case import Case
from ..events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Notice, Reasoning
from ..explanation import Explanation, Step, Tile
from ..notices import NOTICES
from .files import dump

__all__ = ["Painter", "paint_event", "paint_step"]

STYLES = {"content": "green", "reasoning": "italic blue", "arguments": "cyan", "markup": "dim", "unread": "strike dim"}
_LABEL = 11


class Painter:
    """Prints one explanation.

    Args:
        console: where to; it knows the width, and whether there are colours.
        case: what was decoded.
        found: what came of it.
    """

    def __init__(self, console: Console, case: Case, found: Explanation) -> None:
        self._console, self._case, self._found = console, case, found
        self._edges = {step.at for step in found.steps if step.text}
        self._special = {step.at for step in found.steps if step.special}

    def whole(self, *, pieces: bool) -> None:
        """The whole turn."""
        self._console.print(Text(_headline(self._case, self._found), style="bold"))
        notices = sorted(self._found.notices, key=lambda notice: notice.at)
        for tile in self._found.tiles:
            self._print(tile.role, self._tile(tile, pieces=pieces), STYLES.get(tile.role, "red"))
            while notices and notices[0].at < tile.end:
                self._notice(notices.pop(0))
        for notice in notices:
            self._notice(notice)
        self._print("finish", Text(_finish(self._found)), "bold")

    def steps(self) -> Iterator[None]:
        """One piece after another: when it came, what it was, what is held back, and what came of it."""
        for step in self._found.steps:
            self._console.print(paint_step(step))
            for event in step.events:
                self._print("", Text(f"-> {_event(event)}"), _style(event))
            yield

    def _tile(self, tile: Tile, *, pieces: bool) -> Text:
        raw, text = self._found.raw, Text()
        cuts = [at for at in sorted(self._edges) if tile.start < at < tile.end] if pieces else []
        for start, end in zip([tile.start, *cuts], [*cuts, tile.end], strict=True):
            special = pieces and start in self._special
            text.append(_visible(raw[start:end]), style="reverse" if special else "")
            if pieces and end in self._edges:
                text.append("|", style="dim red")
        return text

    def _notice(self, notice: Notice) -> None:
        happened, became = NOTICES.get(notice.code, ("", ""))
        raw = f" {dump(notice.raw)}" if notice.raw else ""
        line = f"{notice.code} at {notice.at}{raw}: {happened}; {became}"
        self._print("! notice", Text(line), "yellow")

    def _print(self, label: str, text: Text, style: str) -> None:
        """A label and its text, which is wrapped beside it."""
        text.style = style
        room = max(20, self._console.width - _LABEL)
        for number, line in enumerate(text.wrap(self._console, room, tab_size=4)):
            head = f"{label if number == 0 else '':<{_LABEL}}"
            self._console.print(Text.assemble((head, "dim"), line), soft_wrap=True)


def _visible(text: str) -> str:
    """Text as it is, a sign for each end of a line, and what does not show escaped."""
    shown = "".join(letter if letter.isprintable() or letter == "\n" else dump(letter)[1:-1] for letter in text)
    return shown.replace("\n", "⏎\n").removesuffix("\n")


def _headline(case: Case, found: Explanation) -> str:
    notices = len(found.notices)
    words = [found.dialect, f"{len(found.raw)} characters"]
    words += [f"{len(case.pieces)} pieces"] if len(case.pieces) > 1 else []
    words += [f"{notices} notice{'s' * (notices != 1)}"]
    return "  ".join([*words, *case.facts[:1]])


def _finish(found: Explanation) -> str:
    turn = found.turn
    calls = (
        f"{call.name}{'' if call.complete else ' (cut)'}{'' if call.valid else ' (not valid)'}" for call in turn.calls
    )
    called = ", ".join(calls)
    return f"{turn.finish}: {called}" if called else turn.finish


def paint_event(event: Event) -> Text:
    """One event, on a line."""
    return Text(f"{'':<{_LABEL}}-> {_event(event)}", style=_style(event))


def paint_step(step: Step) -> Text:
    """One piece, on a line."""
    text = Text()
    text.append(f"{step.moment.seconds:8.3f} s " if step.moment else "")
    text.append(f"{step.at:>6}  ", style="dim")
    text.append(dump(step.text) if step.text else "end", style="reverse" if step.special else "bold")
    ids = " ".join(map(str, step.moment.ids)) if step.moment else ""
    text.append(f"  {ids}" if ids else "", style="dim")
    text.append(f"  ({step.held} held back)" if step.held else "", style="magenta")
    return text


def _event(event: Event) -> str:
    match event:
        case Content() | Reasoning():
            return f"{type(event).__name__.lower()} {dump(event.text)}"
        case CallStart():
            return f"call {event.name}"
        case CallArgs():
            return f"arguments {dump(event.json)}"
        case CallEnd():
            return "call ends" + ("" if event.complete else f", cut; {dump(event.missing)} is missing")
        case Notice():
            return f"notice {event.code}: {NOTICES.get(event.code, ('', ''))[0]}"
        case Finish():
            return f"finish {event.reason}"
    return type(event).__name__.lower()


def _style(event: Event) -> str:
    match event:
        case Content():
            return STYLES["content"]
        case Reasoning():
            return STYLES["reasoning"]
        case CallStart() | CallArgs() | CallEnd():
            return STYLES["arguments"]
        case Notice():
            return "yellow"
    return "bold"
