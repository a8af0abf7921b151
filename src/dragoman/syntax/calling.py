"""Calling: what both machines share: the calls of a turn, those that are sure and those that wait."""

from __future__ import annotations

from .calls import PATIENCE, CallSink, Policy, Tools
from .dialect import Dialect
from .plan import plan
from .reader import Reader, Steps
from .sink import Sink

__all__ = ["Calling"]


class Calling:
    """The state of a turn's calls.

    `waiting`: the offset from which on events wait, None if none do.  `drafting`: they wait in open reasoning.
    `completed`: a complete call was emitted.  `ended`: the model ended its turn.
    `last`: the name of the last call, and how many stood with it in one payload.
    """

    def __init__(self, dialect: Dialect, tools: Tools, policy: Policy, r: Reader, sink: Sink) -> None:
        self.dialect, self.tools, self.policy, self.r, self.sink = dialect, tools, policy, r, sink
        self.plan = plan(dialect)
        self.calls = bool(tools.by_name) or not tools.known
        self.count = 0
        self.completed = self.ended = self.drafting = False
        self.waiting: int | None = None
        self.last = "", 0

    def new(self) -> CallSink:
        """A sink for the next call."""
        return CallSink(self.sink, self.tools, self.policy, self.count, self.doubt, self.live, self.is_cut)

    def is_cut(self) -> bool:
        """Whether the text ended by a limit or a failure."""
        return self.r.cut

    def doubt(self, name: str) -> bool:
        """A name that was not offered: whether it may begin a call."""
        if not self.tools.known:
            return True
        if self.drafting or self.policy.unknown == "text":
            return False
        if self.waiting is None:
            self.wait(self.r.kept_at)
        self.sink.notice("unknown-tool", self.r.at, name)
        return True

    def live(self) -> None:
        """A call begins: its raw text is needed no longer unless it waits."""
        if self.waiting is None:
            self.r.kept = None

    def wait(self, at: int) -> None:
        """Events wait from here on."""
        if self.r.kept is None:
            self.r.keep(self.r.at)
        self.sink.wait()
        self.waiting = at

    def promote(self) -> None:
        """What waited was right."""
        if self.waiting is not None:
            self.sink.release()
            self.waiting = None

    def revoke(self) -> None:
        """What waited never was."""
        if self.waiting is not None:
            self.sink.revoke()
            self.waiting = None

    def patience(self) -> None:
        """What has waited too long counts."""
        if self.waiting is not None and self.r.at - self.waiting > PATIENCE and self.sink.calling():
            self.promote()
            self.r.kept = None

    def deliver(self, call: CallSink, at: int) -> str:
        """It was a call."""
        if self.waiting is not None and self.policy.unknown == "refuse" and not call.declared(call.name):
            raw = self.r.raw()
            if self.waiting > at:  # others before it in the same payload were told
                self.take_over(call)
            self.revoke()
            self.sink.notice("unknown-tool", at, raw)
        else:
            self.promote()
            self.take_over(call)
        self.r.kept = None
        return "content"

    def take_over(self, call: CallSink) -> None:
        """The calls that a sink has told count."""
        if call.index > self.count:
            self.last = call.name, call.index - self.count
        self.count = call.index
        self.completed = self.completed or call.completed

    def cut_call(self, call: CallSink) -> None:
        """The text ended in a call: what could not be shown is dropped."""
        call.end(complete=False, whole=False)
        at = self.r.at
        self.sink.notice("cut", at, call.rest + (self.r.rest() if self.r.closed else ""))

    def abandon(self) -> bool:
        """A reasoning's close mark came as a special token: what waited was a draft; whether anything did."""
        return False

    def as_it_stands(self, call: CallSink, residue: str = "", *, endless: bool = False) -> Steps[bool]:
        """A body that cannot be read goes out verbatim, up to a mark that ends it; whether there was one.

        `residue`: what the form writes around the body, and is not to go out.  `endless`: no mark needs to end it.
        """
        r, start = self.r, self.r.at
        pieces = [call.take_rest()]
        mark = yield from r.until(call.scope.stop(*call.scope.openers), lambda text, _at: pieces.append(text))
        if mark:
            r.back()
        body = "".join(pieces).rstrip()
        if residue and (mark or body.count(residue) > body.count("{")):
            body = body.removesuffix(residue).rstrip()
        call.put(body, start, r.at)
        call.flawed = call.flawed or "bad-json"
        call.missing = "" if body else call.missing
        self.sink.notice("bad-json", start, body)
        call.end(complete=mark in call.scope.closers or (endless and (bool(mark) or not r.cut)))
        return bool(mark)
