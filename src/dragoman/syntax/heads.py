"""Heads: the headers of framed messages, read up to the mark behind them or to where they turn out to be none.

Where the engine stripped the special tokens, headers are known by the words that are left of them (`bare`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from .bodies import Bodies
from .calls import Policy, Tools
from .codecs.header import Header, Part, Route
from .dialect import Dialect
from .reader import LONGEST, Reader, Steps, Stop, stop
from .sink import Sink

__all__ = ["Heads"]

DROP = Route("drop")

_SPECIAL = re.compile(r"<\|[^<>]*\|>")
JSON = ("{", "[", "`")
_NAME = re.compile(r"[\w.\-]{0,256}")


class Words(NamedTuple):
    """What a header is known by.

    `bare`: the words that begin a message where its marks were stripped, and where it goes.  `named`: those of them
    that a tool's name must follow.  `first`: the same at the beginning of a turn, where the prompt wrote a part of them.
    `lined`: they end with their line.  `unstarted`: headers of calls that lack only the mark that begins a message.
    `head`, `body`: what to stop at in a header and in a body; `lost`: in a body where marks were stripped.
    """

    bare: dict[str, Route]
    named: str
    first: dict[str, Route]
    lined: bool
    unstarted: dict[str, Route]
    head: Stop
    body: Stop
    lost: Stop


@lru_cache(256)
def _words(dialect: Dialect, openings: tuple[str, ...]) -> Words:
    frame = dialect.frame
    assert frame is not None
    bare = {} if frame.plain else _spoken(dialect, frame)
    named = _SPECIAL.sub("", _beginning(dialect, frame, dialect.call)).partition("{name}")
    marks = (*frame.marks, *dialect.ends)
    plain = frozenset(() if frame.plain else marks)
    alone = frame.message and not frame.channel
    calls = [name for name, (kind, _) in frame.channels.items() if kind == "call" and name not in frame.opens]
    unstarted = {name + frame.message: Route("call") for name in calls if alone}
    return Words(
        bare,
        named[0] if named[1] else "",
        {frame.bare(words): route for words, route in bare.items()},
        any(words.endswith("\n") for words in bare),
        unstarted,
        stop(*marks, *openings, *("\n" * frame.lines), plain=plain),
        stop(*marks, *unstarted, plain=plain),
        stop(*marks, *unstarted, *bare, plain=plain),
    )


def _spoken(dialect: Dialect, frame: Header) -> dict[str, Route]:
    """What is left of the beginning of each kind of message where the special tokens were stripped, and where it goes."""
    found: dict[str, Route] = {}
    for template in (dialect.reasoning, *dialect.content, dialect.call):
        whole = _beginning(dialect, frame, template)
        words = _SPECIAL.sub("", whole.partition("{name}")[0])
        if words.strip() and not words.startswith(tuple(word for word in found if word[-1] != "\n")):
            found[words] = Route("call") if "{name}" in whole else frame.read(whole, lambda _: True)
    return found


def _beginning(dialect: Dialect, frame: Header, template: str) -> str:
    """All of a message's header, and what begins it."""
    header = frame.parted(template)[0]
    return header if header.startswith(frame.start) else (dialect.again or dialect.begins) + header


class Heads(Bodies):
    """Reads headers into `parts`; `first`: no message has begun."""

    def __init__(self, dialect: Dialect, tools: Tools, policy: Policy, r: Reader, sink: Sink) -> None:
        super().__init__(dialect, tools, policy, r, sink)
        self.words = _words(dialect, self.openings)
        self.recover = bool(tools.by_name) and policy.recover != "strict"
        self.parts: list[Part] = []
        self.first = True
        self.after_call = False

    def header(self) -> Steps[str]:
        """Read a header: the mark behind it, `text` or `bare` if it is none, `long` if it never ends."""
        while True:
            mark = yield from self.words_of()
            if mark == self.frame.start:
                self.noise(self.parts)
                self.parts = [Part(mark, self.r.at)]
            elif mark and (mark == self.frame.channel or mark in self.frame.noise):
                self.parts.append(Part(mark, self.r.at))
            elif (mark == "\n" and not self.lines_up()) or (mark in self.openings and not self.calls_up()):
                self.parts[-1].text += self.r.last
            else:
                return mark

    def lines_up(self) -> bool:
        """Whether the header may end with its line: what it should name stands there."""
        part = self.parts[-1]
        return part.mark == (self.frame.channel or self.frame.start) and bool(part.text.strip())

    def calls_up(self) -> bool:
        """Whether the header, as far as it goes, is that of a call."""
        return self.route(self.parts, "").kind in ("call", "builtin")

    def route(self, parts: list[Part], mark: str) -> Route:
        """Where a message goes."""
        if self.frame.foreign(parts):
            return DROP
        return self.frame.route(parts, self.tools.by_name.__contains__, mark)

    def words_of(self) -> Steps[str]:
        """Text of a header up to the next mark, or up to where it turns out to be none."""
        work = self.r.until(self.words.head, self.word)
        while True:
            try:
                next(work)
            except StopIteration as done:
                if not (early := self.early()):
                    return str(done.value)
                if done.value:
                    self.r.back()
            else:
                early = self.early()
            if early == "long":
                self.unread()
            self.r.plainly = None  # every piece is looked at here
            if early:
                return early
            yield

    def word(self, text: str, _at: int) -> None:
        self.parts[-1].text += text

    def early(self) -> str:
        """Whether what was read so far is no header."""
        part = self.parts[-1]
        if self.first and (len(self.parts) == 1 or self.frame.named):
            if self.stripped(part.text):
                return "bare"
            if not self.frame.likely(part.text, self.tool):
                return "text"
        elif self.recover and self.silent() and not part.mark and part.text.lstrip()[:1] in JSON:
            return "text"
        if self.length() <= LONGEST:
            return ""
        return "text" if self.first and (self.frame.named or self.frame.opens) else "long"

    def silent(self) -> bool:
        """Whether nothing was answered or called yet."""
        return not (self.sink.begun or self.count or self.after_call)

    def tool(self, text: str) -> bool:
        """Whether text may become the name of a tool."""
        found = _NAME.fullmatch(text) is not None
        some = self.frame.plain and self.tools.known
        return found and (not some or any(name.startswith(text) for name in self.tools.by_name))

    def stripped(self, text: str) -> str:
        """The words that begin text which lost its marks (`analysisJust ..`), "" if there are none."""
        text = self.frame.bare(text)
        for words, route in self.words.first.items():
            follows = text[len(words) : len(words) + 1]
            if not words or not text.startswith(words) or route.kind == "call" or self.frame.lines:
                continue
            if follows and (route.kind == "reasoning" or not follows.islower()):
                return "" if follows.isspace() or follows in ".,:;!?'\")-" else words
        return ""

    def length(self) -> int:
        """How much of the header was read."""
        return sum(len(part.mark + part.text) for part in self.parts)

    def unread(self) -> None:
        """What was read of a header beyond its greatest length is read anew."""
        part = self.parts[-1]
        excess = min(self.length() - LONGEST - 1, len(part.text))
        if excess > 0:
            part.text = part.text[:-excess]
            self.r.pos -= excess

    def noise(self, parts: list[Part], code: str = "dropped") -> None:
        """What is no header after all, or stood before one, is dropped."""
        raw = "".join(part.mark + part.text for part in parts)
        if raw.strip() and raw.strip() != self.frame.start:
            self.sink.notice(code, parts[0].at, raw)
