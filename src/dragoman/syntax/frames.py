"""The machine of dialects in which every message has a header: it says whether reasoning, content or a call follows.

    header ---message mark---> body ---end mark, or a new header---> header

Text before any mark is content if it cannot be a header.  Text between messages is dropped with a `Notice`, unless it
is all the answer there is.  A header that never gets its message mark begins its body where its own words end.
"""

from __future__ import annotations

import json
from dataclasses import replace

from .calling import Calling
from .calls import CallSink, Policy, Tools
from .codecs import BAD, CUT
from .codecs.header import Header, Part, Route
from .codecs.json import JsonObject
from .dialect import Dialect
from .kinds import quote
from .plan import Scope
from .reader import LONGEST, Reader, Steps, stop
from .sink import Sink

__all__ = ["Frames"]

_DROP = Route("drop")


class Frames(Calling):
    """Reads one turn; `run` is its generator."""

    def __init__(self, dialect: Dialect, tools: Tools, policy: Policy, r: Reader, sink: Sink) -> None:
        assert dialect.frame is not None
        super().__init__(dialect, tools, policy, r, sink)
        frame, ends = dialect.frame, dialect.ends
        self.frame: Header = frame
        marks = (frame.start, frame.channel, frame.message, *frame.noise, *frame.closes, *ends)
        plain = frozenset(marks)
        self.body_stop = stop(*marks, plain=plain)
        self.bare_stop = stop(*marks, *(frame.role + name for name in frame.channels), plain=plain)
        self.head_stop = stop(*marks, "{", plain=plain)
        self.scope = Scope((*frame.closes, *ends), (frame.start, frame.channel), ())
        self.parts: list[Part] = []
        self.first = True
        self.after_call = False

    def run(self, _state: str = "header") -> Steps[None]:
        """The whole turn."""
        self.parts = [Part("", self.r.at)]
        while not self.ended:
            mark = yield from self.header()
            yield from self.message(mark)
            if self.r.closed and self.r.pos == len(self.r.buf):
                return

    # header

    def header(self) -> Steps[str]:
        """Read a header: the mark behind it, `text` or `bare` if it is none, `long` if it never ends."""
        while True:
            mark = yield from self.words()
            if mark == self.frame.start:
                self.noise(self.parts)
                self.parts = [Part(mark, self.r.at)]
            elif mark == self.frame.channel or mark in self.frame.noise:
                self.parts.append(Part(mark, self.r.at))
            elif mark == "{" and not self.frame.recipient(self.parts):
                self.parts[-1].text += mark
            else:
                return mark

    def words(self) -> Steps[str]:
        """Text of a header up to the next mark, or up to where it turns out to be none."""
        work = self.r.until(self.head_stop, self.word)
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
            if early:
                return early
            yield

    def word(self, text: str, _at: int) -> None:
        self.parts[-1].text += text

    def early(self) -> str:
        """Whether what was read so far is no header."""
        part = self.parts[0]
        if self.first and len(self.parts) == 1:
            if self.frame.stripped(part.text):
                return "bare"
            if not self.frame.likely(part.text):
                return "text"
        return "long" if self.length() > LONGEST else ""

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

    # message

    def message(self, mark: str) -> Steps[None]:
        """What the header, which `mark` ended, opens."""
        parts, self.parts = self.parts, [Part("", self.r.at)]
        route = _DROP if self.frame.foreign(parts) else self.frame.route(parts, self.tools.by_name.__contains__)
        first, self.first = self.first, False
        if mark == "text":
            yield from self.loose(parts[0])
        elif mark == "bare":
            yield from self.bare(self.frame.stripped(parts[0].text), parts[0])
        elif mark in (self.frame.message, "{"):
            if mark == "{":
                self.r.back()
                self.sink.notice("unclosed", self.r.at)
            if strange := self.frame.strange(parts):
                self.sink.notice("dropped", parts[0].at, strange)
            yield from self.body(route)
        else:
            yield from self.headless(parts, route, mark, first=first)

    def headless(self, parts: list[Part], route: Route, mark: str, *, first: bool) -> Steps[None]:
        """The header never got its message mark."""
        if mark not in ("", "long"):
            self.r.back()
        marked = any(part.mark == self.frame.channel for part in parts)
        if route.kind in ("call", "builtin") and mark:
            if mark == "long":
                self.noise(parts)
            yield from self.body(route)
        elif marked and route.rest.strip() and (mark or (route.known and not route.rest[0].isspace())):
            self.sink.notice("unclosed", parts[-1].at)
            yield from self.body(route, route.rest, route.at)
        elif route.kind not in ("call", "builtin") and not marked:
            yield from self.between(parts, mark, first=first)
        else:
            self.noise(parts, "dropped" if mark else "cut")
            yield from self.body(route if mark else _DROP)

    def between(self, parts: list[Part], mark: str, *, first: bool) -> Steps[None]:
        """Text without any header: the answer if there is none yet, else noise."""
        *before, part = [part for part in parts if part.text.strip()] or parts[:1]
        self.noise(before)
        text = part.text
        spoken = text.strip() and text.strip() != self.frame.role
        if spoken and (first or not (self.sink.begun or self.count or self.after_call)):
            yield from self.loose(part)
        else:
            if text.strip() != self.frame.role:
                self.noise([part])
            yield from self.body(_DROP)

    def loose(self, part: Part) -> Steps[None]:
        """Text without any header is content."""
        text = part.text.removeprefix(self.frame.role) if part.mark == self.frame.start else part.text
        yield from self.body(Route("content"), text, part.at + len(part.text) - len(text))

    def bare(self, name: str, part: Part) -> Steps[None]:
        """A message whose marks were stripped: its channel's name, then its text."""
        self.r.pos -= len(part.text) - part.text.index(name) - len(name)
        self.sink.notice("recovered", part.at)
        kind, phase = self.frame.channels[name]
        yield from self.body(Route(kind, phase), bare=True)

    # body

    def body(self, route: Route, text: str = "", at: int = 0, *, bare: bool = False) -> Steps[None]:
        """A message's body, of which `text` was read before, and its end mark."""
        if route.kind == "builtin" and not self.tools.known:
            route = replace(route, kind="call")
        if route.kind == "call" and self.calls:
            return (yield from self.call(route))
        if route.kind == "call":
            route = Route("content")
        if route.kind in ("drop", "builtin"):
            return (yield from self.rest("dropped" if route.kind == "drop" else "unknown-tool"))
        self.sink.block()
        self.sink.phase = route.phase
        put = self.sink.reasoning if route.kind == "reasoning" else self.sink.content
        if text:
            put(text, at)
        while mark := (yield from self.r.until(self.bare_stop if bare else self.body_stop, put)):
            if self.closes(mark):
                return None
            if mark.startswith(self.frame.role):
                return (yield from self.next_bare(mark))
            self.sink.notice("stray-mark", self.r.mark_at, mark)
        if route.kind == "reasoning":
            self.sink.notice("unclosed", self.r.at)
        return None

    def closes(self, mark: str) -> bool:
        """Whether a mark ends a body; a new header does, and is left to be read."""
        if mark in (self.frame.start, self.frame.channel):
            self.sink.notice("unclosed", self.r.mark_at)
            self.r.back()
        elif mark in self.frame.closes or mark in self.dialect.ends:
            self.ended = mark in self.dialect.ends
            self.after_call = False
        else:
            return False
        self.sink.block()
        self.parts = [Part("", self.r.at)]
        return True

    def next_bare(self, mark: str) -> Steps[None]:
        """The next message without marks."""
        name = mark.removeprefix(self.frame.role)
        self.sink.block()
        to, _ = yield from self.r.ahead(stop("to="))
        if to:
            self.parts = [Part(self.frame.channel, self.r.at, name + " ")]
            return None
        kind, phase = self.frame.channels[name]
        return (yield from self.body(Route(kind, phase), bare=True))

    def rest(self, code: str) -> Steps[None]:
        """What is left of a message is dropped, up to its end mark."""
        junk: list[str] = []
        start = self.r.at
        while mark := (yield from self.r.until(self.body_stop, lambda text, _at: junk.append(text))):
            if self.closes(mark):
                break
        if raw := "".join(junk).strip():
            self.sink.notice(code, start, raw)

    # calls

    def call(self, route: Route) -> Steps[None]:
        """A message to a tool."""
        r, at, name = self.r, self.r.at, route.name
        r.keep(at)
        call = self.new()
        call.scope = self.scope
        if not call.begin(name):
            r.kept = None
            return (yield from self.body(Route("content")))
        if route.type == "code" and (yield from r.peek()) != "{":
            yield from self.code(call)
        elif not (yield from self.json(call, at)):
            return (yield from self.body(Route("content"), self.give_back(), at))
        self.deliver(call, at)
        self.after_call = True
        yield from self.rest("dropped")
        self.after_call = True
        return None

    def json(self, call: CallSink, at: int) -> Steps[bool]:
        """A body of JSON; False if it turns out to be no call."""
        state = yield from JsonObject().decode(self.r, call)
        self.patience()
        if state == CUT:
            self.cut_call(call)
        elif state != BAD:
            call.end()
        elif self.waiting is not None:
            return False
        else:
            yield from self.as_it_stands(call)
        return True

    def give_back(self) -> str:
        """The body of a call that was none."""
        raw = self.r.raw()
        self.revoke()
        self.sink.notice("gave-back", self.r.kept_at, raw)
        self.r.kept = None
        return raw

    def code(self, call: CallSink) -> Steps[None]:
        """A body of raw text: the one string that the tool takes."""
        names = [name for name in call.schema.properties() if call.schema.property(name).text_only]
        key = names[0] if len(names) == 1 else "code"
        call.put("{" + json.dumps(key) + ': "', self.r.at, self.r.at)
        mark = yield from self.r.until(self.body_stop, lambda text, at: call.put(quote(text), at, at + len(text)))
        if mark:
            self.r.back()
            call.put('"}', self.r.at, self.r.at)
        call.missing = "" if mark else '"}'
        call.end(complete=bool(mark), whole=bool(mark))
