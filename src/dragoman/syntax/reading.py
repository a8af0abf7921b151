"""Reading one call that stands in running text: its form, its name, its payload, its closing marks, and what it was.

It may turn out to be text: then it is given back as it stands.  Its closing marks are remembered, so that they are text
too when they come.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from .calling import Calling
from .calls import CallSink, Policy, Tools
from .codecs import BAD, CUT, WHOLE
from .codecs.nameless import is_id, nameless
from .dialect import Dialect
from .plan import NAME, FormPlan
from .reader import LONGEST, Reader, Steps, stop
from .sink import Sink
from .template import Hole, parse

__all__ = ["Reading"]

NAMELESS = "nameless"

_JUNK = re.compile(r"\s{0,64}[}\])]{0,64}")
_LINE_END = re.compile(r"[ \t]{0,64}(?P<ok>[\r\n;,\]])?")


class Reading(Calling):
    """Reads calls.

    `returned`: the closing marks of openers that were text.  `section`: a section of calls is open.
    `tags`: the closing tags of a call that has just ended.
    `thinking`: what is no call is a thought.
    """

    def __init__(self, dialect: Dialect, tools: Tools, policy: Policy, r: Reader, sink: Sink) -> None:
        super().__init__(dialect, tools, policy, r, sink)
        self.returned: list[str] = []
        self.tags: tuple[str, ...] = ()
        self.section = self.thinking = False

    def forms(self, mark: str) -> tuple[FormPlan, ...]:
        """The forms that begin with a mark."""
        found = self.plan.forms.get(mark) or self.plan.bare.get(mark, ())
        mends = self.policy.repair
        return tuple(form for form in found if not form.recovered or (self.tools.known and (mends or form.gated)))

    def call(
        self, forms: tuple[FormPlan, ...], at: int, *, spelled: bool = False, proof: str = "", skip: int = 0
    ) -> Steps[str]:
        """A call in content, from its opening mark at `at` to its closing marks."""
        r, call = self.r, self.new()
        if r.kept is None:
            r.keep(at)
        r.pos += skip
        if proof:
            self.wait(at)
        form, state = yield from self.read(forms, call, spelled=spelled)
        if self.waiting is not None:
            self.patience()
        if state == CUT:
            return self.cut_off(forms, call, at)
        if form is None or (state == BAD and (not call.open or self.waiting is not None)):
            return self.give_back(forms, form, call, at)
        if state == BAD:
            yield from self.verbatim(form, call)
        else:
            call.end()
            closed = call.empty or (yield from self.closers(form))
            if proof and self.waiting is not None and not (yield from self.proved(proof, closed=closed)):
                return self.give_back(forms, form, call, at)
            if proof == "echo" and self.waiting is not None and self.last == (call.name, call.index - self.count):
                return self.echo(at)
        return self.deliver(call, at)

    def echo(self, at: int) -> str:
        """The calls that were told stand there once more, without their opening mark: that is no second wish."""
        raw = self.r.raw()
        self.revoke()
        self.sink.notice("dropped", at, raw)
        self.r.kept = None
        return "content"

    def proved(self, proof: str, *, closed: bool) -> Steps[bool]:
        """Whether what follows a recovered call shows that it was one."""
        if proof == "close":
            return closed
        return (yield from self.line_ends(*self.plan.last))

    def line_ends(self, *marks: str, skip: int = 0) -> Steps[bool]:
        """Whether the line, the turn or the call ends `skip` characters on; `marks` end it too."""
        ends = (*self.dialect.ends, *marks)
        if ends and (yield from self.r.ahead(stop(*ends), skip))[0]:
            return True
        found = yield from self.r.look(_LINE_END, skip)
        return found is None or found["ok"] is not None or (self.r.closed and found.end() == len(self.r.buf))

    def nothing(self, form: FormPlan, at: int) -> Steps[bool]:
        """Whether a call's marks stand around nothing, alone on their lines; else they are spoken about."""
        closer = form.closers[-1] if form.closers else ""
        mark, size = (yield from self.r.ahead(stop(closer))) if closer[:1] in ("<", "[") else ("", 0)
        if not mark or not (yield from self.line_ends(skip=size)):
            return False
        self.r.pos += size
        self.sink.notice("no-call", at)
        self.r.kept = None
        return True

    def read(
        self, forms: tuple[FormPlan, ...], call: CallSink, *, spelled: bool = False, draft: bool = False
    ) -> Steps[tuple[FormPlan | None, str]]:
        """The form, the name and the payload of a call; how it went.  Forms that begin alike are tried in order."""
        forms = yield from self.choose(forms)
        state, form, start = BAD, None, self.r.at
        far = start
        for form in forms:
            self.r.reread(start)
            call.scope = form.draft if draft else form.scope
            call.recovered = form.recovered or spelled or (form.loose and not self.section)
            call.lenience, call.began = self.lenience(form, spelled=spelled), self.r.kept_at
            state = yield from self.one(form, call)
            if state != BAD or call.open:
                return form, state
            far = max(far, self.r.at)
        self.r.reread(far)  # what any form has read is what is given back
        return form, state if form is not None else self.out_of_text()

    def lenience(self, form: FormPlan, *, spelled: bool) -> str:
        """The notice that a form deserves."""
        if spelled:
            return "spelled-mark"
        if form.loose and not self.section:
            return "recovered"
        if form.form.template == self.dialect.call or form.gated:
            return ""
        return "recovered" if form.recovered else "variant"

    def one(self, form: FormPlan, call: CallSink) -> Steps[str]:
        """A call in one form, behind its opening marks."""
        if form.steps[0][0] != "call":
            state = yield from self.head(form, call)
            if state == NAMELESS:
                return (yield from nameless(self.r, call, call.id))
            if state != WHOLE or call.empty:
                return state
        state = yield from form.codec.decode(self.r, call)
        if state == BAD and call.cut and self.r.begun(call.scope.stop(*call.scope.openers)):
            return CUT
        return state

    def choose(self, forms: tuple[FormPlan, ...]) -> Steps[tuple[FormPlan, ...]]:
        """The forms that may be meant, by what stands behind the opening mark."""
        heads = tuple(form.head[0] for form in forms if form.head)
        if heads:
            mark = yield from self.r.next(stop(*heads))
            found = tuple(form for form in forms if mark and form.head[:1] == (mark,))
            for more in found[0].head[1:] if found else ():
                yield from self.r.next(stop(more))
            if found:
                return found
        found = ()
        for form in forms:
            if not form.head and (yield from self.fits(form)):
                found = (*found, form)
        return found

    def fits(self, form: FormPlan) -> Steps[bool]:
        """Whether the first hole of a form can be filled; an id may be empty, a name may not."""
        hole, after = form.steps[0]
        seen = yield from self.r.look(form.codec.opening if hole == "call" else NAME)
        if seen is None or hole == "call":
            return seen is not None and (seen.lastgroup == "ok" or self.ran_out(seen.end()))
        if seen["name"] or self.ran_out(seen.end()):
            return True
        return hole != "name" and bool((yield from self.r.ahead(stop(*after)))[0])

    def ran_out(self, end: int) -> bool:
        """Whether the text was cut before it could tell: at its end, or in the name of a declared tool."""
        r = self.r
        if not r.closed or end < len(r.buf):
            return False
        rest = r.buf[r.pos :].lstrip("[\"' \t\r\n")
        return r.cut or any(name.startswith(rest) for name in self.tools.by_name)

    def out_of_text(self) -> str:
        """Whether a call could not be read because the text ended."""
        rest = self.r.buf[self.r.pos :].strip("\"'` \t\r\n")
        marks = (*self.plan.heads, *self.plan.forms, *self.plan.sections, *self.plan.closers)
        if self.r.cut and self.r.begun(stop(*marks)):
            return CUT
        return CUT if self.r.closed and (not rest or any(head.startswith(rest) for head in self.plan.heads)) else BAD

    def head(self, form: FormPlan, call: CallSink) -> Steps[str]:
        """What stands before the arguments: the name, perhaps an id or a type; only the name must be there."""
        r, words, there = self.r, {}, True
        call.empty = False
        for hole, after in form.steps[:-1]:
            word = (yield from self.word()) if there else ""
            if hole == "name" and call.recovered and not any(name.startswith(word) for name in self.tools.by_name):
                return BAD
            if there and r.closed and not r.buf[r.pos :].strip("\"'` \t\r\n"):
                return CUT
            if hole == "name" and not word:
                return BAD
            words[hole] = word
            there = not after
            for mark in after:
                tag = yield from r.next(stop(mark, *["/>"] * (mark == ">")))
                there, call.empty = bool(tag), tag == "/>"
                ended = hole != "name" and not r.buf[r.pos :].strip()
                if not there and r.closed and (r.begun(stop(mark)) or ended):
                    return CUT
            if hole == "name" and form.head:
                yield from self.repeated(form.head[-1], word, after)
        if call.empty:
            return self.alone(form, call, words)
        if not there and getattr(form.codec, "free_text", False):
            return CUT if r.cut and not r.buf[r.pos :].strip() else BAD
        found = yield from r.look(form.codec.opening)
        ended = r.closed and not r.buf[r.pos :].strip()
        begun = not ended and r.cut and found is not None and not found["ok"] and found.end() == len(r.buf)
        nothing = call.declared(words["name"]) and not form.recovered and (yield from r.ahead(form.scope.closing))[0]
        unlike = not (ended or begun or nothing) and (found is None or found["ok"] is None)
        if unlike and not self.certain(form, words["name"], there=there):
            return BAD
        if self.tools.known and is_id(words["name"]) and not call.declared(words["name"]):
            call.id = words["name"]
            return NAMELESS
        if not call.begin(words["name"], self.id(form, words)):
            return BAD
        return CUT if begun else WHOLE

    def certain(self, form: FormPlan, name: str, *, there: bool) -> bool:
        """Whether a head alone is a call, whatever follows: all its marks are there, tokens, around a declared name."""
        marked = there and bool(form.steps[-2][1]) and self.dialect.is_special(form.opener)
        return marked and not form.recovered and self.tools.known and name in self.tools.by_name

    def repeated(self, opens: str, word: str, after: tuple[str, ...]) -> Steps[None]:
        """The tag of the name may stand there twice."""
        while True:
            mark, size = yield from self.r.ahead(stop(opens))
            found = (yield from self.r.look(NAME, size)) if mark else None
            if found is None or found["name"] != word:
                return
            self.sink.notice("stray-mark", self.r.mark_at, mark)
            self.r.pos = found.end()
            self.r.pos += self.r.buf.startswith(('"', "'", "`"), self.r.pos)
            for each in after:
                yield from self.r.next(stop(each))

    def alone(self, form: FormPlan, call: CallSink, words: dict[str, str]) -> str:
        """A tag that closes itself: a call without arguments."""
        if not call.begin(words["name"], self.id(form, words)):
            return BAD
        call.put("{}", self.r.at, self.r.at)
        return WHOLE

    def word(self) -> Steps[str]:
        """A name; "" if none stands here."""
        r = self.r
        found = yield from r.look(NAME)
        word = found["name"] if found else ""
        if found and 0 < len(word) <= LONGEST:
            r.pos = found.end()
            r.pos += r.buf.startswith(('"', "'", "`"), r.pos)
            return unescape(word) if "&" in word else word
        return ""

    def id(self, form: FormPlan, words: dict[str, str]) -> str:
        """The id that the model gave the call, as this form writes it."""
        template = self.dialect.id
        if not template:
            return words.get("id", "")
        if template not in form.form.template:
            template = template[template.index("{") :]
        parts = [words.get(piece.name, "") if isinstance(piece, Hole) else piece for piece in parse(template)]
        return "".join(parts) if all(parts) else ""

    def closers(self, form: FormPlan) -> Steps[bool]:
        """The marks that close a call; each may be missing."""
        r, junk = self.r, not form.closers
        self.returned.clear()
        while form.closers:
            mark = yield from r.next(form.scope.closing)
            if mark and mark not in form.closers:
                self.sink.notice("unclosed", r.at)
            if mark.rstrip(">").removesuffix("s") == form.closers[-1].rstrip(">").removesuffix("s"):
                self.tags = tuple(mark for mark in form.closers if mark.startswith("</"))
                return True
            if not mark and r.begun(form.scope.closing) and not r.buf[r.pos :].isspace():
                self.sink.notice("cut", r.at, r.rest())
                return False
            if not mark and (junk or not (yield from self.junk())):
                self.sink.notice("unclosed", r.at)
                return False
            junk = True
        return True

    def repeats(self) -> Steps[None]:
        """Closing tags that stand there once more."""
        while self.tags and (mark := (yield from self.r.next(stop(*self.tags)))):
            self.sink.notice("stray-mark", self.r.mark_at, mark)
        self.tags = ()

    def junk(self) -> Steps[str]:
        """Brackets too many behind a payload are dropped."""
        found = yield from self.r.look(_JUNK)
        text = found.group().strip() if found else ""
        if found and text:
            self.r.pos += len(found.group())
            self.sink.notice("dropped", self.r.at - len(text), text)
        return text

    def verbatim(self, form: FormPlan, call: CallSink) -> Steps[None]:
        """A declared call with a body that cannot be read goes out as it stands."""
        whole = form.steps[0][0] == "call"
        if (yield from self.as_it_stands(call, "}" if whole else "", endless=not form.closers)):
            yield from self.closers(form)

    def cut_off(self, forms: tuple[FormPlan, ...], call: CallSink, at: int) -> str:
        """The text ended in a call."""
        if call.open:
            self.cut_call(call)
            return self.deliver(call, at)
        if self.waiting is not None and self.sink.calling():
            self.sink.notice("cut", self.r.at, self.r.rest())
            return self.deliver(call, at)
        if not forms[0].opener and call.index == self.count:
            self.r.rest()
            return self.give_back(forms, None, call, at)
        if self.waiting is None or self.waiting > at:
            self.take_over(call)
        self.revoke()
        self.r.rest()
        self.sink.notice("cut", max(at, self.r.kept_at), self.r.raw())
        self.r.kept = None
        return ""

    def give_back(self, forms: tuple[FormPlan, ...], form: FormPlan | None, call: CallSink, at: int) -> str:
        """It was no call: its text is content, but for marks that are no text in this dialect, and repeated ones."""
        raw, kept_at = self.r.raw(), self.r.kept_at
        if self.waiting is None or self.waiting > at:
            self.take_over(call)
        self.revoke()
        self.r.kept = None
        if kept_at > at:  # calls before it in the same payload were told
            self.sink.notice("gave-back", kept_at, raw)
            if raw.strip():
                self.sink.content(raw, kept_at)
            return "content"
        opener = forms[0].opener
        special = self.dialect.is_special(opener) and not self.quoted()
        if special:
            _, _, rest = raw.partition(opener)  # the marks of a section may stand before it
            self.sink.notice("stray-mark", at, raw.removesuffix(rest) if rest else raw)
            at, raw = at + len(raw) - len(rest), rest
        elif opener in self.plan.forms or opener in self.plan.bare:
            self.returned += (form or forms[0]).closers
        if opener and not forms[0].gated:  # a word or a fence that opens no call is nothing to tell of
            self.sink.notice("gave-back", at, raw)
        for piece, start in self.without_marks(raw, at) if special else ((raw, at),):
            if piece.strip():
                (self.sink.reasoning if self.thinking else self.sink.content)(piece, start)
        return "inside" if self.thinking else "content"

    def quoted(self) -> bool:
        """Whether what stands here is spoken about: it stands in code, and nobody knows which marks are tokens."""
        return self.r.specials is None and self.sink.in_code()

    def without_marks(self, raw: str, at: int) -> Iterator[tuple[str, int]]:
        """A text without the marks that are special tokens, in pieces with their offsets."""
        start = 0
        for found in stop(*self.dialect.special).final.finditer(raw):
            yield raw[start : found.start()], at + start
            start = found.end()
        yield raw[start:], at + start
