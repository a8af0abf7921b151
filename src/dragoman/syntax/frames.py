"""The machine of dialects in which every message has a header: it says whether reasoning, content or a call follows.

    header ---message mark---> body ---end mark, or a new header---> header

Text before any mark is content if it cannot be a header.  Text between messages is dropped with a `Notice`, unless it
is all the answer there is.  A header that never gets its message mark begins its body where its own words end.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .bodies import FENCE
from .calls import Policy, Tools
from .codecs.header import Part, Route
from .dialect import Dialect
from .heads import DROP, JSON, Heads
from .reader import Put, Reader, Steps, Stop, stop
from .sink import Sink

__all__ = ["Frames"]

_LINE = re.compile(r"(?P<name>[\w.\-]{0,256})[ \t]{0,8}\r?(?P<ok>[\n{])?")
_CALLED = re.compile(r"(?P<name>[\w.\-/]{0,257})(?P<ok>[^\w.\-/])?")
_LIST = re.compile(r"\[\s{0,64}(?P<ok>\{)?")
_BODY = re.compile(r"\s{0,64}(?P<ok>\{)?")


class Frames(Heads):
    """Reads one turn; `run` is its generator.

    `whole`: a mark of the frame has come, so none was stripped.  `lost`: they were.
    `pending`: where the next message goes, of which nothing but the body is left to be read.
    """

    def __init__(self, dialect: Dialect, tools: Tools, policy: Policy, r: Reader, sink: Sink) -> None:
        super().__init__(dialect, tools, policy, r, sink)
        self.whole = self.lost = False
        self.pending: Route | None = None

    def run(self, _state: str = "header") -> Steps[None]:
        """The whole turn."""
        self.parts = [Part("", self.r.at)]
        while not self.ended:
            if self.pending is not None:
                route, self.pending = self.pending, None
                yield from self.body(route)
            else:
                yield from self.message((yield from self.header()))
            if self.r.closed and self.r.pos == len(self.r.buf):
                return

    # message

    def message(self, mark: str) -> Steps[None]:
        """What the header, which `mark` ended, opens."""
        parts, self.parts = self.parts, [Part("", self.r.at)]
        route = self.route(parts, mark)
        first, self.first = self.first, False
        if mark == "text":
            yield from self.plain_text(parts[-1])
        elif mark == "bare":
            yield from self.bare_message(self.stripped(parts[-1].text), parts[-1])
        elif mark in self.frame.opens:
            self.seen()
            yield from self.body(route)
        elif mark == "\n":
            yield from self.line(parts, route)
        elif mark and (mark == self.frame.message or mark in self.openings):
            yield from self.headed(parts, route, mark)
        else:
            yield from self.headless(parts, route, mark, first=first)

    def seen(self) -> None:
        """A mark of the frame came, and not from the prompt."""
        self.whole = self.whole or self.r.mark_at >= 0

    def headed(self, parts: list[Part], route: Route, mark: str) -> Steps[None]:
        """A header with its message mark, or a call that begins without it."""
        if mark in self.openings:
            self.r.back()
            self.sink.notice("unclosed", self.r.at)
        else:
            self.seen()
        if strange := self.frame.strange(parts):
            self.sink.notice("dropped", parts[0].at, strange)
        yield from self.body(route)

    def line(self, parts: list[Part], route: Route) -> Steps[None]:
        """A header that ends with its line; one that names nothing known is text."""
        marked = bool(self.frame.message) and bool((yield from self.r.next(stop(self.frame.message))))
        if marked:
            self.seen()
        elif self.frame.message and self.r.cut and self.r.begun(stop(self.frame.message)):
            self.noise(parts, "cut")
            return (yield from self.body(DROP))
        elif (yield from self.mere_text(parts, route)):
            part = parts[-1]
            return (yield from self.loose(Part(part.mark, part.at, part.text + "\n")))
        elif self.frame.message:
            self.sink.notice("unclosed", self.r.at)
        if strange := self.frame.strange(parts):
            self.sink.notice("dropped", parts[0].at, strange)
        return (yield from self.body(route))

    def mere_text(self, parts: list[Part], route: Route) -> Steps[bool]:
        """Whether the line of a header names nothing known."""
        if route.kind == "call" and route.name and route.name not in self.tools.by_name:
            body = yield from self.r.look(_BODY)
            return body is None or body["ok"] is None
        return route.kind == "content" and not route.known and bool(self.frame.bare(parts[-1].text).strip())

    def headless(self, parts: list[Part], route: Route, mark: str, *, first: bool) -> Steps[None]:
        """The header never got its message mark."""
        if mark not in ("", "long"):
            self.r.back()
        marked = self.marked(parts)
        if self.frame.named and route.kind == "call" and mark and self.tools.known and not self.declares(route):
            return (yield from self.loose(parts[-1]))
        if route.kind in ("call", "builtin") and mark and (route.name or mark == "long"):
            if mark == "long":
                self.noise(parts)
            yield from self.body(route)
        elif marked and route.rest.strip() and (mark or (route.known and not route.rest[0].isspace())):
            self.sink.notice("unclosed", parts[-1].at)
            yield from self.body(route, route.rest, route.at)
        elif route.kind not in ("call", "builtin") and not marked and not self.cut_short(parts, mark):
            yield from self.between(parts, mark, first=first)
        else:
            self.noise(parts, "dropped" if mark else "cut")
            yield from self.body(route if mark and route.kind not in ("call", "builtin") else DROP)

    def declares(self, route: Route) -> bool:
        """Whether a message is for a tool on offer."""
        return route.name in self.tools.by_name

    def cut_short(self, parts: list[Part], mark: str) -> bool:
        """Whether the text ended in what may have become a header."""
        text = self.frame.bare(parts[-1].text)
        if mark or not self.r.cut or not parts[-1].text.strip():
            return False
        if self.frame.addressed and text and "to=".startswith(text):
            return True
        return bool(self.frame.lines or self.frame.opens) and self.frame.likely(text, self.tool)

    def marked(self, parts: list[Part]) -> bool:
        """Whether a header names a channel as it should."""
        if self.frame.channel and not self.frame.plain:
            return any(part.mark == self.frame.channel for part in parts)
        return bool(self.frame.recipient(parts))

    def between(self, parts: list[Part], mark: str, *, first: bool) -> Steps[None]:
        """Text without any header: the answer if there is none yet, else noise."""
        *before, part = [part for part in parts if part.text.strip()] or parts[:1]
        self.noise(before)
        text = part.text
        cut = self.r.cut and not mark and (part.mark == self.frame.start or not first) and bool(self.frame.start)
        role = self.frame.role.startswith(text.strip()) if cut else text.strip() == self.frame.role
        spoken = text.strip() and not role and self.frame.spoken(text)
        if spoken and (first or self.silent()):
            yield from self.loose(part)
        else:
            if text.strip() != self.frame.role:
                self.noise([part], "cut" if cut else "dropped")
            yield from self.body(DROP)

    def plain_text(self, part: Part) -> Steps[None]:
        """Text that stands in the buffer still: content, or a call in JSON, where nothing was said yet."""
        text = self.frame.bare(part.text)
        marked = bool(self.heads) and text.startswith(self.heads[0])
        if not self.recover or not (marked or text.startswith(JSON)) or not self.silent():
            return (yield from self.loose(part))
        self.r.pos -= len(text)
        if marked or (yield from self.begins_json()):
            yield from self.call(Route("call", type="bare" if marked else "json"))
        else:
            self.sink.block()
        self.sink.phase = ""
        return (yield from self.block(Route("content")))

    def begins_json(self) -> Steps[bool]:
        """Whether JSON begins here that may be a call."""
        char = self.r.buf[self.r.pos]
        if char == "{":
            return True
        found = yield from self.r.look(_LIST if char == "[" else FENCE)
        return found is not None and found["ok"] is not None

    def loose(self, part: Part) -> Steps[None]:
        """Text without any header is content."""
        text = part.text.removeprefix(self.frame.role) if part.mark == self.frame.start else part.text
        yield from self.body(Route("content"), text, part.at + len(part.text) - len(text))

    def bare_message(self, words: str, part: Part) -> Steps[None]:
        """A message whose marks were stripped: the words of its header, then its text."""
        self.r.pos -= len(part.text) - part.text.index(words) - len(words)
        self.sink.notice("recovered", part.at)
        self.lost = True
        yield from self.body(self.words.first[words])

    # body

    def body(self, route: Route, text: str = "", at: int = 0) -> Steps[None]:
        """A message's body, of which `text` was read before, and its end mark."""
        if route.kind == "builtin" and not self.tools.known:
            route = replace(route, kind="call")
        if route.kind in ("drop", "builtin"):
            return (yield from self.rest("dropped" if route.kind == "drop" else "unknown-tool"))
        if route.kind != "call" or not self.calls:
            self.sink.block()
        elif (yield from self.call(route)):
            self.after_call = True
            yield from self.rest("dropped")
            self.after_call = True
            return None
        self.sink.phase = route.phase
        if text:
            (self.sink.reasoning if route.kind == "reasoning" else self.sink.content)(text, at)
        return (yield from self.block(route))

    def block(self, route: Route) -> Steps[None]:
        """Reasoning or content, and its end mark."""
        put = self.sink.reasoning if route.kind == "reasoning" else self.sink.content
        while mark := (yield from self.r.until(self.stops(), put)):
            if self.frame.plain and mark == self.frame.start:
                if (yield from self.opens_here(self.sink.line_start())):
                    return self.closed(mark)
                self.skip(len(mark), put)
            elif mark in self.words.unstarted:
                self.sink.notice("unclosed", self.r.mark_at)
                self.pending = self.words.unstarted[mark]
                return self.closed(mark)
            elif mark in self.words.bare:
                if (yield from self.next_bare(mark)):
                    return None
                self.skip(len(mark), put)
            elif self.closes(mark):
                return None
            else:
                self.sink.notice("stray-mark", self.r.mark_at, mark)
        if route.kind == "reasoning":
            self.sink.notice("unclosed", self.r.at)
        return None

    def stops(self) -> Stop:
        """What ends a body."""
        words = self.words
        return words.lost if self.lost or (words.lined and not self.whole) else words.body

    def opens_here(self, line: bool) -> Steps[bool]:
        """Unread a mark of ordinary text; whether it begins a message: at a line start, before a name alone on its line."""
        self.r.back()
        size = len(self.frame.start)
        found = (yield from self.r.look(_LINE, size)) if line else None
        name = found["name"] if found and found["ok"] else ""
        if found and self.r.cut and found.end() == len(self.r.buf) and self.may_name(found["name"]):
            at = self.r.at
            self.sink.notice("cut", at, self.r.rest())
            return True
        if found and found["ok"] == "{" and name not in self.tools.by_name:
            return False
        if name in self.frame.channels or (name in self.tools.by_name and self.calls):
            return True
        if not name or found is None or self.tools.known:
            return False
        body = yield from self.r.look(_BODY, found.end() - self.r.pos)
        return body is not None and body["ok"] is not None

    def may_name(self, text: str) -> bool:
        """Whether text may become a name that begins a message."""
        return any(name.startswith(text) for name in (*self.frame.channels, *self.tools.by_name))

    def ends(self, mark: str, _size: int, line: bool) -> Steps[bool]:
        """Whether a mark at the cursor ends raw text."""
        if self.frame.plain and mark == self.frame.start:
            return (yield from self.opens_here(line))
        return True

    def closes(self, mark: str) -> bool:
        """Whether a mark ends a body; a new header does, and is left to be read."""
        self.seen()
        if mark in self.frame.begins:
            if self.frame.closes:
                self.sink.notice("unclosed", self.r.mark_at)
            self.r.back()
        elif mark in self.frame.closes or mark in self.dialect.ends:
            self.ended = mark in self.dialect.ends
            self.after_call = False
        else:
            return False
        self.closed(mark)
        return True

    def closed(self, _mark: str) -> None:
        """A body ended; a header may begin."""
        self.sink.block()
        self.parts = [Part("", self.r.at)]

    def next_bare(self, mark: str) -> Steps[bool]:
        """The next message without marks; where its header goes on, that is read.  Else the mark is unread: it is text."""
        route, at, words = self.words.bare[mark], self.r.mark_at, self.r.last
        if mark == self.words.named:
            self.r.back()
            found = yield from self.r.look(_CALLED, len(words))
            name = self.frame.tool(found["name"], self.tools.by_name.__contains__) if found else ""
            if not name or not self.calls or (self.tools.known and name not in self.tools.by_name):
                return False
            self.r.pos += len(words)
            self.header_of(mark, found["name"] if found and mark[-1] == "\n" else "")
        elif mark[-1] != "\n" and (yield from self.r.ahead(stop("to=")))[0]:
            self.header_of(mark + " ", "")
        else:
            self.pending = route
        if not self.lost:
            self.sink.notice("recovered", at)
        self.lost = True
        self.sink.block()
        return True

    def header_of(self, words: str, name: str) -> None:
        """A header that begins with words goes on; a name that stands on the next line is all of it."""
        if name:
            self.r.pos += len(name)
            self.pending = self.route([Part(self.frame.channel, self.r.at, name)], "")
        else:
            self.parts = [Part(self.frame.channel, self.r.at, self.frame.bare(words))]

    def skip(self, size: int, put: Put) -> None:
        """What was unread is text."""
        at, pos = self.r.at, self.r.pos
        self.r.pos += size
        put(self.r.buf[pos : pos + size], at)

    def rest(self, code: str) -> Steps[None]:
        """What is left of a message is dropped, up to its end mark."""
        junk: list[str] = []
        start = self.r.at
        while mark := (yield from self.r.until(self.stops(), lambda text, _at: junk.append(text))):
            if self.closes(mark) if mark not in self.words.bare else (yield from self.next_bare(mark)):
                break
            if mark in self.words.bare:
                self.skip(len(mark), lambda text, _at: junk.append(text))
        if raw := "".join(junk).strip():
            self.sink.notice(code, start, raw)
