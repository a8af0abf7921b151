"""The machine of dialects whose marks stand in running text: content, reasoning and calls.

content ---open---> reasoning ---close---> content
   |                    |
   +--call, recovery    +--candidate: a call, if the turn ends or waits too long; else a draft, which is reasoning
"""

from __future__ import annotations

from .beginning import Beginning
from .calls import CallSink, Policy, Tools
from .codecs import BAD, CUT
from .dialect import Dialect
from .plan import FormPlan
from .reader import Onward, Reader, Steps, stop
from .sink import Sink

__all__ = ["Machine"]


class Machine(Beginning):
    """Reads one turn; `run` is its generator."""

    def __init__(self, dialect: Dialect, tools: Tools, policy: Policy, r: Reader, sink: Sink) -> None:
        super().__init__(dialect, tools, policy, r, sink)
        self.reasoning_stop = self.plan.stop(reasoning=True, calls=self.calls, recover=self.recover)
        self.before = 0, False, False

    def run(self, state: str = "content") -> Steps[None]:
        """The whole turn."""
        while state:
            if state == "content":
                state = yield from self.content()
            else:
                state = yield from self.reasoning(inside=state == "inside")

    # content

    def content(self) -> Steps[str]:
        """Content up to the next block; the state that follows, "" at the end."""
        called = self.count
        while True:
            if not self.sink.begun and self.count == called and (begun := (yield from self.beginning())):
                return begun
            yield from self.repeats()
            if not (mark := (yield from self.r.until(self.content_stop, self.sink.content))):
                return ""
            state: Onward = self.mark(mark)
            while not isinstance(state, str):  # what reads on is not waited for by what only began it
                state = yield from state
            if state != "content":
                return state

    def mark(self, mark: str) -> Onward:
        """A mark in content: the state that follows, or how to read on until it is known."""
        meaning = self.plan.meaning(mark)
        if mark in self.plan.words and not self.at_line_start():
            return self.text()
        if meaning in ("call", "section"):
            return self.explicit(mark)
        if meaning in ("bare", "json", "list"):
            return self.structure(mark)
        if meaning == "end":
            return self.end()
        if self.in_prose(mark):
            return self.text()
        if meaning == "noise":
            return self.noise(mark) or "content"
        if meaning == "open":
            return "reasoning" if mark not in self.plan.phrases or not self.sink.begun else self.text()
        if meaning == "drop":
            self.sink.block()
        elif self.section and mark in self.plan.section_ends:
            self.section = False
        else:
            self.sink.notice("stray-mark", self.r.mark_at, mark)
        return "content"

    def noise(self, mark: str) -> str:
        """A mark amid a text is left out; what it says in the place of its star is told."""
        if "*" in mark and self.dialect.is_special(mark):
            self.sink.notice("stray-mark", self.r.mark_at, self.r.last)
        return ""

    def in_prose(self, mark: str) -> bool:
        """Whether a mark is spoken about: it stands in code, or closes an opener that was text."""
        if mark in self.returned and not self.dialect.is_special(mark):
            self.returned.remove(mark)
            return True
        return mark not in (self.r.specials or ()) and self.sink.in_code()

    def text(self) -> str:
        """The mark is mere text."""
        self.sink.content(self.r.last, self.r.mark_at)
        return "content"

    def prose(self, forms: tuple[FormPlan, ...]) -> str:
        """A call's opening mark is mere text, and so will be its closing ones."""
        r = self.r
        self.returned += forms[0].closers if forms else ()
        if r.kept is None:
            return self.text()
        self.sink.content(r.raw(), r.kept_at)  # the mark before it, which was the same, is text too
        r.kept = None
        return "content"

    def end(self) -> str:
        """The model ended its turn."""
        self.ended = True
        return ""

    def explicit(self, mark: str) -> Steps[Onward]:
        """The opening mark of a call, or of a section and then that of a call; where it stands twice, the last counts."""
        r, carried = self.r, False
        while True:
            at, forms, opens = r.mark_at, self.forms(mark), mark in self.plan.sections
            spelled = r.spelled(mark, at)
            loose = spelled or (not opens and bool(forms) and forms[0].loose and not self.section)
            if not (forms or opens) or (loose and not self.may_recover()) or not self.anchored(forms):
                return self.prose(forms)
            if not carried:
                r.keep(at)
            if not opens and forms and self.at_line_start() and (yield from self.nothing(forms[0], at)):
                return "content"
            again = yield from self.following(mark)
            if again in self.plan.section_ends:
                r.kept = None
                return "content"
            if not again and opens and self.cut_section(mark):
                return "content"
            if not again and not forms:
                return self.bare_section(mark)
            if not again:
                return self.call(forms, r.kept_at, spelled=spelled)
            if not opens:
                self.sink.notice("stray-mark", at, mark)
            self.section, carried = self.section or opens, True
            mark = again

    def cut_section(self, mark: str) -> bool:
        """Whether a limit cut behind the mark of a section, or in the mark that follows it: that is no text."""
        r, (opening, closing) = self.r, self.plan.sections[mark]
        marks = stop(*opening, *self.plan.forms, closing)
        if not r.cut or (r.buf[r.pos :].strip() and not r.begun(marks)):
            return False
        r.rest()
        self.sink.notice("cut", r.kept_at, r.raw())
        r.kept = None
        return True

    def bare_section(self, mark: str) -> str:
        """The mark of a section, perhaps repeated, without any call behind it."""
        if self.dialect.is_special(mark) and not self.quoted():
            self.sink.notice("stray-mark", self.r.kept_at, self.r.raw())
        else:
            self.sink.content(self.r.raw(), self.r.kept_at)
        self.r.kept = None
        return "content"

    def following(self, mark: str) -> Steps[str]:
        """The mark of a call right behind an opening mark, or that of the end of an empty section."""
        if mark not in self.plan.sections:
            return (yield from self.r.next(stop(*self.plan.forms)))
        opening, closing = self.plan.sections[mark]
        if mark != next(iter(self.plan.sections)):
            self.sink.notice("variant", self.r.mark_at)
        for more in opening:
            yield from self.r.next(stop(more))
        return (yield from self.r.next(stop(*self.plan.forms, closing)))

    def anchored(self, forms: tuple[FormPlan, ...]) -> bool:
        """Whether a mark that is a word or a fence stands at a line start, outside code."""
        return not (forms and forms[0].anchored) or self.at_line_start()

    def at_line_start(self) -> bool:
        """Whether what comes next stands at a line start, outside code."""
        return self.sink.line_start() and not self.sink.in_code()

    def may_recover(self) -> bool:
        """Whether a recovery form may stand here: at a line start, outside code."""
        return self.recover and self.at_line_start()

    def structure(self, mark: str) -> Steps[str]:
        """A recovery form in the middle: a call's own structure, or its JSON, at a line start outside code."""
        if not self.may_recover():
            return self.prose(self.plan.bare.get(mark, ()))
        if mark in self.plan.bare:
            return (yield from self.call(self.plan.bare[mark], self.r.mark_at))
        at = self.r.mark_at
        if mark == "[":
            return (yield from self.listed(at))
        form = self.plan.json
        if form is None:
            return self.text()
        self.r.back()
        sure = self.policy.recover == "anywhere" or not form.closers
        return (yield from self.call((form,), at, proof="" if sure else "close"))

    def listed(self, at: int) -> Steps[str]:
        """A list of Python calls after other text: it stands alone on its line; right behind a call it may be an echo."""
        self.r.back()
        if self.plan.python is not None and (yield from self.named(1)):
            behind = self.count and not self.sink.kind
            return (yield from self.call((self.plan.python,), at, proof="echo" if behind else "line"))
        self.r.pos += 1
        self.sink.content("[", at)
        return "content"

    # reasoning

    def reasoning(self, *, inside: bool) -> Steps[str]:
        """Reasoning up to its close; the state that follows, "" at the end.  `inside`: its opener was read before."""
        if not inside:
            self.sink.block()
        yield from self.enter()
        while mark := (yield from self.r.until(self.reasoning_stop, self.sink.reasoning)):
            state = yield from self.reasoning_mark(mark)
            if state is not None:
                return state
        if self.plan.closes:
            self.sink.notice("unclosed", self.r.at)
        return ""

    def enter(self) -> Steps[None]:
        """What belongs to the opener: its repetition, and its label."""
        r, label = self.r, self.dialect.label
        while True:
            if mark := (yield from r.next(stop(*self.plan.opens))):
                self.sink.notice("stray-mark", r.mark_at, mark)
            elif not (yield from self.label()):
                break
        if r.cut and label.startswith(rest := r.buf[r.pos :]):
            r.dropped = rest
            r.rest()

    def reasoning_mark(self, mark: str) -> Steps[str | None]:
        """A mark in reasoning; None if reasoning goes on."""
        meaning = self.plan.meaning(mark)
        if mark in self.plan.words and not self.sink.line_start():
            self.sink.reasoning(self.r.last, self.r.mark_at)
            return None
        if mark in self.plan.closes:
            self.sink.block()
            return "content"
        if meaning == "end":
            self.sink.notice("unclosed", self.r.mark_at)
            return self.end()
        if meaning == "noise":
            return self.noise(mark) or None
        if not self.plan.closes and (meaning == "open" or self.forms(mark)):
            return (yield from self.open_ended(mark, meaning))
        spelled = self.r.spelled(mark, self.r.mark_at)
        if (meaning in ("call", "section") and not spelled) or (meaning in ("call", "bare") and self.sink.line_start()):
            return (yield from self.candidate(mark))
        if self.frames(mark):
            if self.plan.closes:
                self.sink.notice("unclosed", self.r.mark_at)
            self.sink.block()
            return "content"
        if meaning == "open" and (self.sink.kind != "reasoning" or self.dialect.is_special(mark)):
            self.sink.notice("stray-mark", self.r.mark_at, mark)
            yield from self.enter()
        else:
            self.sink.reasoning(self.r.last, self.r.mark_at)
        return None

    def open_ended(self, mark: str, meaning: str) -> Steps[str | None]:
        """A mark in reasoning that nothing closes: another thought, or a call, which is a thought too if it is none."""
        if meaning == "open":
            self.sink.block()
            return None
        self.thinking = True
        state: Onward = yield from self.explicit(mark)
        while not isinstance(state, str):
            state = yield from state
        self.thinking = False
        return state

    def frames(self, mark: str) -> bool:
        """Whether a mark goes around the answer, so that reasoning is over."""
        return mark in self.plan.drops and (mark in self.plan.words or self.dialect.is_special(mark))

    def candidate(self, mark: str) -> Steps[str | None]:
        """A call in open reasoning: what follows it tells whether it was one."""
        at = self.r.mark_at
        self.before = self.count, self.completed, self.section
        self.r.keep(at)
        self.wait(at)
        self.drafting = True
        state = yield from self.candidates(mark)
        self.drafting = False
        if state == "draft" and self.waiting is not None:
            self.draft(self.r.raw(), at)
            self.r.kept = None
            return None
        self.promote()
        self.sink.notice("unclosed", at)
        self.r.kept = None
        return "content"

    def candidates(self, mark: str) -> Steps[str]:
        """Calls one after the other: `call` or `draft`."""
        r = self.r
        while True:
            if mark in self.plan.sections:
                self.section = True
                mark = (yield from self.following(mark)) or mark
            call = self.new()
            form, state = yield from self.read(self.forms(mark), call, spelled=r.spelled(mark, r.mark_at), draft=True)
            self.patience()
            if state == CUT:
                return self.draft_cut(call)
            if form is None or (state == BAD and (self.waiting is not None or not call.open)):
                return "draft"
            if state == BAD:
                yield from self.verbatim(form, call)
            else:
                call.end()
                if not call.empty:
                    yield from self.closers(form)
            if self.section and (yield from r.next(stop(*self.plan.section_ends))):
                self.section = False
            self.take_over(call)
            self.patience()
            if self.waiting is None:
                return "call"
            mark, size = yield from r.ahead(self.reasoning_stop)
            if mark in self.plan.forms or mark in self.plan.bare or mark in self.plan.sections:
                r.pos += size
            elif mark in self.dialect.ends or self.frames(mark) or (not mark and (yield from r.ended())):
                return "call"
            else:
                cut = r.cut and r.begun(stop(*self.reasoning_stop.marks, *self.plan.closers))
                return "call" if cut else "draft"

    def draft_cut(self, call: CallSink) -> str:
        """The text ended in a candidate."""
        if call.open:
            self.cut_call(call)
            self.count = call.index
        else:
            self.r.rest()
            self.sink.notice("cut", self.r.kept_at, self.r.raw())
        return "call"

    def abandon(self) -> bool:
        """The reasoning's close mark came as a special token: what waited was a draft, to its end."""
        if self.waiting is None or not self.drafting:
            return False
        raw = "".join(self.r.kept or ())
        self.drafting = False
        self.r.drop()
        self.draft(raw, self.r.kept_at)
        return True

    def draft(self, raw: str, at: int) -> None:
        """What waited was no call: it is reasoning, and never read again."""
        called = self.sink.calling()
        self.revoke()
        self.count, self.completed, self.section = self.before
        self.sink.reasoning(raw, at)
        if called:
            self.sink.notice("draft", at)
