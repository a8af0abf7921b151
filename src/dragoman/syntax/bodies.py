"""Bodies: the calls that stand in framed messages, one or several in each, and raw code.

A header may name the tool; then the body is its arguments, perhaps in marks of their own.  Else the name is inside.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import NamedTuple

from .calling import Calling
from .calls import CallSink, Policy, Tools
from .codecs import BAD, CUT, WHOLE
from .codecs.header import Header, Route
from .codecs.json_call import JsonCall
from .codecs.params import Params
from .codecs.raw import raw
from .dialect import Dialect
from .plan import NAME, FormPlan, Scope, plan
from .reader import Reader, Steps, stop
from .sink import Sink

__all__ = ["FENCE", "Bodies"]

FENCE = re.compile(r"`{1,3}(?:[A-Za-z_\-]{0,16}(?:[ \t]{0,8}\r?(?:\n\s{0,64}(?P<ok>[{\[])?)?)?)?")
"""The beginning of a fenced block of JSON, and every beginning of that."""


class Shape(NamedTuple):
    """How a dialect writes the calls of a message.

    `heads`: the marks before a call inside its message, and `inner`, those behind it.  `inside`: its name is among
    the JSON.  `openings`: what begins a body although the mark before it is missing.
    """

    form: FormPlan
    heads: tuple[str, ...]
    inner: tuple[str, ...]
    inside: bool
    openings: tuple[str, ...]
    scope: Scope


@lru_cache(256)
def _shape(dialect: Dialect) -> Shape:
    frame, form = dialect.frame, plan(dialect).body
    assert frame is not None
    assert form is not None
    heads = (form.opener, *form.head) if form.opener else ()
    own = tuple(dict.fromkeys(mark for mark in form.closers if mark not in (*frame.marks, *dialect.ends)))
    begins = heads[:1] or ((form.codec.opens,) if isinstance(form.codec, Params) else ())
    inside = form.steps[0][0] == "call"
    scope = Scope((*own, *frame.closes, *dialect.ends), (*frame.begins, *heads[-1:]), ())
    scope.endless = not own
    return Shape(form, heads, own, inside, ("{", *begins, *("[" * inside)), scope)


class Bodies(Calling):
    """Reads the calls of messages; what stands around them is for `Frames` to read."""

    def __init__(self, dialect: Dialect, tools: Tools, policy: Policy, r: Reader, sink: Sink) -> None:
        super().__init__(dialect, tools, policy, r, sink)
        assert dialect.frame is not None
        self.frame: Header = dialect.frame
        self.form, self.heads, self.inner, self.inside, self.openings, self.scope = _shape(dialect)

    def call(self, route: Route) -> Steps[bool]:
        """The calls of a message; False if it turned out to be none, and what was read is content."""
        more, bare = True, route.type in ("json", "bare")
        while more:
            at = self.r.at
            self.r.keep(at)
            call = self.new()
            call.scope, call.began, call.hint = self.scope, at, route.name
            state = yield from self.payload(route, call)
            if state == BAD and self.r.cut and self.r.begun(call.scope.stop(*call.scope.openers)):
                state = CUT
            if self.inside and route.name not in ("", call.name):
                self.sink.notice("dropped", at, route.name)
            self.patience()
            if state == CUT and bare and not call.open:
                self.r.rest()
                state = BAD
            if state == BAD and (not call.open or self.waiting is not None):
                return self.no_call(call, at, told=not bare)
            if state == CUT:
                self.cut_off(call)
            elif state == BAD:
                yield from self.as_it_stands(
                    call, "}" if self.inside or route.type == "json" else "", endless=not self.frame.closes
                )
            else:
                call.end()
            self.deliver(call, at)
            more = state != CUT and route.type != "json" and (yield from self.further())
        return True

    def further(self) -> Steps[bool]:
        """The marks that close a call; whether another one follows in the same message."""
        missing = list(self.inner)
        while missing and (mark := (yield from self.r.next(stop(*missing)))):
            del missing[: missing.index(mark) + 1]
        more = bool(self.heads) and bool((yield from self.r.ahead(stop(*self.heads)))[0])
        if missing and not more:
            self.sink.notice("unclosed", self.r.at)
        return more

    # the payload

    def payload(self, route: Route, call: CallSink) -> Steps[str]:
        """The name, if it stands in the body, and the arguments."""
        name, codec = route.name, self.form.codec
        if route.type == "json":
            return (yield from self.unmarked(call))
        if route.type == "code" and (yield from self.r.peek()) != "{":
            marks = self.scope.stop(*self.scope.openers)
            return (yield from raw(self.r, call, marks, self.ends)) if call.begin(name) else BAD
        if route.type == "bare":
            call.recovered, call.lenience = True, "recovered"
        if self.inside:
            return (yield from codec.decode(self.r, call))
        if self.heads:
            name = yield from self.named(name, call)
        if not call.begin(name):
            return BAD
        if isinstance(codec, Params):
            found = yield from self.r.look(codec.opening)
            if (found is None or found["ok"] is None) and not (yield from self.r.ended()):
                return BAD
        elif (yield from self.r.ahead(stop(*self.scope.openers)))[0]:
            call.put("{}", self.r.at, self.r.at)
            return WHOLE
        return (yield from codec.decode(self.r, call))

    def unmarked(self, call: CallSink) -> Steps[str]:
        """A call in JSON, bare or in a fence, where no message was begun: a recovery form."""
        call.recovered, call.lenience = True, "recovered"
        fence = (yield from self.r.look(FENCE)) if (yield from self.r.peek()) == "`" else None
        self.r.pos += fence.end() - 1 - self.r.pos if fence else 0
        state = yield from JsonCall().decode(self.r, call)
        if fence and state == WHOLE:
            call.end()
            yield from self.r.next(stop("```"))
        return state

    def named(self, name: str, call: CallSink) -> Steps[str]:
        """The marks before the arguments, and the name among them; that of the header counts if it is no tool's."""
        r, there = self.r, False
        for mark in self.heads:
            there = bool((yield from r.next(stop(mark))))
        if not there:
            return name
        found = yield from r.look(NAME)
        word = unescape(found["name"]) if found else ""
        r.pos += len(found.group()) if found else 0
        r.pos += r.buf.startswith(('"', "'"), r.pos)
        for mark in self.form.steps[0][1]:
            yield from r.next(stop(mark))
        inner = self.frame.tool(word, call.declared)
        return inner if call.declared(inner) or not name else name

    def ends(self, mark: str, size: int, line: bool) -> Steps[bool]:
        """Whether a mark at the cursor ends raw text; `line`: it stands at the beginning of a line."""
        raise NotImplementedError

    # what it was

    def no_call(self, call: CallSink, at: int, *, told: bool = True) -> bool:
        """It was no call: its body is content, but for calls before it that were told."""
        raw, kept_at = self.r.raw(), self.r.kept_at
        if self.waiting is None or self.waiting > at:
            self.take_over(call)
        self.revoke()
        self.r.kept = None
        if told:
            self.sink.notice("gave-back", kept_at, raw)
        self.sink.block()
        if raw.strip():
            self.sink.content(raw, kept_at)
        return False

    def cut_off(self, call: CallSink) -> None:
        """The text ended in a call."""
        if call.open:
            return self.cut_call(call)
        raw = self.r.raw() + self.r.rest()
        return self.sink.notice("cut", self.r.kept_at, raw)
