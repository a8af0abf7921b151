r"""Framing: a turn that is several messages, each with a header, read off its renderings.

    <|start|>assistant<|channel|>analysis<|message|>Th0ught kept<|end|><|start|>assistant<|channel|>final<|message|>...

What a prompt ends with stands again between a thought and an answer, or between an answer and a call: then these are
messages.  What is alike in their headers is the frame; what differs says what a message is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import DialectError
from .codecs import Codec
from .codecs.header import Header
from .dialect import Dialect
from .layouts import Layout, Unit, layouts, units
from .probes import ANSWER, NAMES, THOUGHT
from .template import marks

__all__ = ["Framing", "framing", "tags"]

_TAG = re.compile(r"<[^<>\n]*>|\[[^\[\]\s]*\]")
_ADDRESS = re.compile(r"\bto=((?:[\w.\-/]|\{name\})+)")
_PHASES = ("commentary", "final")


@dataclass(frozen=True, slots=True)
class Framing:
    """The messages of a turn: what begins the first and the others, and head and end of each kind.

    `thought`, `answer`: what stands before the text, and the marks behind it.  `ends`: the marks that end the turn.
    `next`: what begins another's message.
    """

    begins: str
    again: str
    thought: tuple[str, str] | None
    answer: tuple[str, str]
    ends: tuple[str, ...]
    next: str = ""

    @property
    def start(self) -> str:
        """The mark that begins a message."""
        return next(iter(tags(self.again)), "") or self.again.split()[0]

    def guesses(self, base: Dialect, texts: Mapping[str, str]) -> Iterator[Dialect]:
        """The dialects that may write like that."""
        if texts.get("a string"):
            for unit, find in units(texts):
                call, closed = self._call(texts, unit, find(texts, "another call", 1))
                yield from self.framed(base, call, closed, unit.codec)
        for layout in layouts(texts):
            yield from self._unframed(base, layout)

    def plain(self, base: Dialect) -> Dialect:
        """A dialect without a frame: the marks of each kind of message tell it."""
        opened, closed = self.answer
        return replace(
            base,
            begins=self.begins,
            again=self.again,
            ends=self.ends or tuple(filter(None, (self.next,))),
            drops=(self.again.strip(), *marks(opened), *marks(closed)),
            special=marks(opened)[:1],  # else only an answer behind a thought would be marked
            content=(f"{opened}{{text}}{closed}",) if marks(opened) else (),
            reasoning=f"{self.thought[0]}{{text}}{self.thought[1]}" if self.thought else "",
            label="",
        )

    # --- messages without a frame: every kind has a mark of its own

    def _unframed(self, base: Dialect, layout: Layout) -> Iterator[Dialect]:
        fields: dict[str, Any] = {"call": layout.call, "args": layout.codec, "section": layout.section}
        try:
            made = replace(self.plain(base), **fields)
        except DialectError:
            return
        yield replace(made, signs=marks((layout.section or layout.call).partition("{")[0]))

    # --- messages with a frame

    def framed(self, base: Dialect, call: str, call_closed: str, codec: Codec) -> Iterator[Dialect]:
        """The dialect whose messages have these heads, if that is what they are."""
        frame = _Heads(self, call, call_closed).frame()
        if frame is None:
            return
        opened, closed = self.answer
        try:
            yield replace(
                self.plain(base),
                content=(f"{opened}{{text}}{closed}",),
                ends=self.ends,
                drops=(),
                special=(),
                call=call,
                args=codec,
                frame=frame,
                signs=tuple(filter(None, (frame.channel or frame.start, frame.message, *frame.opens[:1]))),
            )
        except DialectError:
            return

    def _call(self, texts: Mapping[str, str], unit: Unit, other: Unit | None) -> tuple[str, str]:
        """A call's message as a template, and the mark that ends it."""
        text = texts["a string"]
        before = text[: unit.start].replace(NAMES[0], "{name}")
        own, closed = self._tail(text[unit.end :], self._between(texts, unit, other))
        return f"{before}{unit.inner}{own}{closed}", closed

    def _between(self, texts: Mapping[str, str], unit: Unit, other: Unit | None) -> str:
        """What stands between two calls, up to what begins the second's message."""
        one, two = texts["a string"], texts.get("two calls", "")
        head, found, rest = two.partition(one[: unit.end])
        if not found or head or other is None:
            return ""
        return rest.partition(self.again)[0] if self.again.strip() and self.again in rest else ""

    def _tail(self, tail: str, between: str) -> tuple[str, str]:
        """What is a call's own behind its payload, and the mark that ends its message."""
        closed = (self.thought or self.answer)[1]
        for mark in filter(None, (closed, self.start, *self.ends)):
            if between.endswith(mark) and between:
                return between.removesuffix(mark), mark
            if not between and mark in tail:
                return tail[: tail.index(mark)], closed
        last = tags(between or tail)[-1:]
        whole = (between or tail).rstrip()
        if last and whole.endswith(last[0]):
            return whole.removesuffix(last[0]), last[0]
        return whole, "" if between else closed


class _Heads:
    """The headers of a turn's messages, compared."""

    def __init__(self, framing: Framing, call: str, closed: str) -> None:
        self.framing, self.call, self.closed = framing, call, closed
        self.again = framing.again.lstrip()
        answer = self.again + framing.answer[0]
        thought = self.again + framing.thought[0] if framing.thought else ""
        self.start = framing.start
        itself = call.startswith(self.start)
        self.kinds = {"content": answer, **({"reasoning": thought} if thought else {})}
        self.calls = call if itself or not call else self.again + call

    def frame(self) -> Header | None:
        """What the headers have in common, and what tells them apart."""
        message, lines = self._ending()
        if not message and not lines:
            return self._opened()
        cut = message or "\n"
        if self.calls and cut not in self.calls[len(self.start) :]:
            return None
        heads = {kind: _parts(head.rpartition(cut)[0], self.start) for kind, head in self.kinds.items()}
        if self.calls:
            heads["call"] = _parts(self._head(cut), self.start)
        return self._compared(heads, message, lines=lines or self._lined(message))

    def _head(self, cut: str) -> str:
        """A call's header: up to the first mark behind what begins it."""
        start = len(self.start) + len(self.calls[len(self.start) :]) - len(self.calls[len(self.start) :].lstrip())
        return self.calls[: self.calls.index(cut, start)]

    def _ending(self) -> tuple[str, bool]:
        """The mark that ends every header; or whether a line does."""
        heads = [head.strip() for head in self.kinds.values()]
        lasts = {last for head in heads for last in tags(head)[-1:] if head.endswith(last)}
        ended = [head for head in heads if head.endswith(tuple(lasts) or "\0")]
        if len(lasts) == 1 and len(ended) == len(self.kinds):
            last = lasts.pop()
            return (last, False) if last != self.start and last in (self.calls or last) else ("", False)
        return "", all(head.endswith("\n") for head in self.kinds.values())

    def _lined(self, message: str) -> bool:
        """Whether the words before the mark that ends a header are a line."""
        return self.kinds["content"].rstrip().removesuffix(message).endswith("\n")

    def _opened(self) -> Header | None:
        """Headers that end with a mark of their own."""
        channels: dict[str, tuple[str, str]] = {}
        called = {"call": self.calls.partition("{")[0]} if self.calls else {}
        for kind, head in (self.kinds | called).items():
            own = tags(head.removeprefix(self.start))[:1]
            if not own or own[0] in channels:
                return None
            channels[own[0]] = (kind, "")
        ordered = {mark: kind for mark, kind in channels.items() if kind[0] != "content"}
        return self._header("", "", ordered | channels, addressed=False)

    def _compared(self, heads: Mapping[str, list[tuple[str, str]]], message: str, *, lines: bool) -> Header | None:
        content, other = heads["content"], heads.get("reasoning") or heads["call"]
        at = next((i for i, (a, b) in enumerate(zip(content, other, strict=False)) if a[1] != b[1]), 0)
        if any(len(head) <= at or head[at][0] != content[at][0] for head in (content, other)):
            return None
        role = self._role()
        channels: dict[str, tuple[str, str]] = {}
        for kind, head in reversed(list(heads.items())):
            self._name(channels, kind, head[at][1] if at < len(head) else "", role)
        last = {word: kind for word, kind in channels.items() if kind == ("content", "")}
        ordered = {word: kind for word, kind in channels.items() if word not in last} | last
        address = _ADDRESS.search(self.calls)
        named = not address and any("{name}" in words for _, words in heads.get("call", ())[at : at + 1])
        used = {content[at][0], message, self.start, ""}
        return self._header(
            content[at][0] if at or named else "",
            message,
            ordered,
            addressed=bool(address) or any(_ADDRESS.search(head) for head in self.kinds.values()),
            prefix=address[1].partition("{name}")[0] if address else "",
            noise=tuple(dict.fromkeys(mark for head in heads.values() for mark, _ in head if mark not in used)),
            named=named,
            lines=lines,
            plain=not _TAG.match(self.start),
        )

    def _name(self, channels: dict[str, tuple[str, str]], kind: str, words: str, role: str) -> None:
        """Notes what a header's words name."""
        words = words.strip().removeprefix(role).strip()
        address = _ADDRESS.search(words)
        word = address[1] if address else words
        if "{name}" in word:
            return
        if kind == "call" and _ADDRESS.search(self.calls):
            word = word.partition(" ")[0]
            channels.setdefault(word, ("content", word if word in _PHASES else ""))
        else:
            channels[word] = (kind, "")

    def _role(self) -> str:
        words = _parts(self.again, self.start)[0][1].strip()
        return "" if _ADDRESS.search(words) else words

    def _header(self, channel: str, message: str, channels: Mapping[str, tuple[str, str]], **more: Any) -> Header:
        ends = (self.framing.answer[1], self.framing.thought[1] if self.framing.thought else "", self.closed)
        closes = tuple(dict.fromkeys(mark for end in ends for mark in marks(end) if mark != self.start))
        noise = more.pop("noise", ())
        return Header(self.start, self._role(), channel, message, noise, closes, channels, **more)


def _parts(head: str, start: str) -> list[tuple[str, str]]:
    """A header's marks, each with the words behind it."""
    pieces = re.split(f"({_TAG.pattern})", head.removeprefix(start))
    return [(start, pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]


def tags(text: str) -> list[str]:
    """The tags of a text, without the words between them."""
    return _TAG.findall(text)


def framing(shown: Mapping[str, str], asked: str, still: str) -> Framing | None:
    """The messages of a turn, None where it is one text.

    Args:
        shown: what stands behind the question, by probe: `text`, `thought`, `called`, `told` (text and a call), `old`.
        asked: what a prompt ends with behind the question.
        still: the same where nothing is to come.
    """
    begins = asked.removeprefix(still) if asked.startswith(still) else ""
    if not begins.strip() or not marks(begins):
        return None
    said = {what: text.partition(begins)[2] for what, text in shown.items()}
    head = said["text"].partition(ANSWER)[0]
    cut = _thought(said, begins) or _told(said, head, begins, still)
    if cut is None or ANSWER not in said["text"]:
        return None
    thought, answer, again = cut
    thought = None if thought and thought[0] == answer[0] else thought  # told as an answer is
    ends = _ends(said, answer[1], again)
    return Framing(begins, again, thought, answer, ends, _next(shown["old"], again, answer[1]))


_Cut = tuple[tuple[str, str] | None, tuple[str, str], str]


def _thought(said: Mapping[str, str], begins: str) -> _Cut | None:
    """Between a thought and an answer."""
    before, found, rest = said["thought"].partition(THOUGHT)
    between, answered, _ = rest.partition(ANSWER)
    closed, again, head = between.rpartition(begins)
    if not (found and answered and again):
        return None
    gap = closed[len(closed.rstrip()) :]
    return (before, closed.rstrip()), (head, closed.rstrip()), gap + again


def _told(said: Mapping[str, str], head: str, begins: str, still: str) -> _Cut | None:
    """Between an answer and a call."""
    _, found, rest = said["told"].partition(ANSWER)
    if not found or NAMES[0] not in said["called"] or not rest.endswith(said["called"]):
        return None
    between = rest.removesuffix(said["called"])
    if between.endswith(begins):
        closed = between.removesuffix(begins).rstrip()
        return None, (head, closed), between[len(closed) :]
    if between.strip() and begins.endswith(between.strip()):
        return None, (head, ""), between
    if not between and still.strip() and said["called"].startswith(still):
        return None, (head, ""), still + begins
    return None


def _ends(said: Mapping[str, str], closed: str, again: str) -> tuple[str, ...]:
    """The marks behind an answer, and those that a call ends with too; those of messages are none."""
    _, _, tail = said["text"].partition(ANSWER)
    own = {*marks(closed), *tags(again)}
    last = tags(said["called"].rstrip())[-1:] if said["called"] else []
    behind = [mark for mark in last if closed and said["called"].rstrip().endswith(closed + mark)]
    return tuple(dict.fromkeys(mark for mark in (*tags(tail), *behind) if mark not in own))


def _next(old: str, again: str, closed: str) -> str:
    """What begins another's message: the mark of any message, and the role behind it."""
    start = next(iter(tags(again)), "")
    _, _, tail = old.partition(ANSWER)
    _, found, rest = tail.removeprefix(closed).partition(start) if start else ("", "", "")
    word = re.match(r"\w+", rest)
    return start + word[0] if found and word else ""
