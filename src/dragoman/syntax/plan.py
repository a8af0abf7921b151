"""A dialect compiled once: what to stop at in each state, and what each mark means there.

A mark means one of

    open    a reasoning block begins
    section a section of calls begins
    close   a block or a call ends; without an open one it is a stray mark
    call    a call begins; the forms that begin so are told apart by what comes next
    bare    a call's own structure without its opening mark: a recovery form
    list    `[` at a line start may be a list of Python calls without its opening mark: a recovery form
    json    `{"` at a line start may be a call's JSON without its opening mark: a recovery form
    drop    nothing, where a block may begin or end
    noise   nothing, amid a text

Marks that are words with a colon (`words`) count at a line start, outside code.  Reasoning without a mark that closes it
ends where a call or the answer begins.
    end     the turn ends
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from .codecs import Codec
from .codecs.json import JsonObject
from .codecs.json_call import JsonCall
from .codecs.python import Python
from .dialect import Dialect, Form
from .reader import Stop, stop
from .template import Hole, marks, parse, split

__all__ = ["FormPlan", "Plan", "Scope", "plan"]


class Scope:
    """What may stand behind a call's payload: what a codec must stop at, outside of quotes.

    A closing tag may lack its last bracket, or stand in the plural.  `endless`: the engine may keep the only closers to itself.
    """

    __slots__ = ("_stops", "closers", "closing", "endless", "ends", "inner", "openers")

    def __init__(
        self, closers: tuple[str, ...], openers: tuple[str, ...], ends: tuple[str, ...], inner: tuple[str, ...] = ()
    ) -> None:
        tags = tuple(mark[:-1] for mark in closers if re.fullmatch(r"</.*>", mark) and mark[:-2] + ">" not in closers)
        self.closers = tuple(dict.fromkeys(closers + tags + tuple(f"{tag}s>" for tag in tags)))
        self.openers, self.ends, self.inner, self.endless = openers, ends, inner, False
        self.closing = stop(*self.closers)
        self._stops: dict[tuple[str, ...], Stop] = {}

    def stop(self, *own: str) -> Stop:
        """The codec's own marks, the closers, the ends of the turn, and what ends a candidate."""
        if own not in self._stops:
            every = (*own, *self.closers, *self.ends, *self.inner)
            self._stops[own] = stop(*every, plain=frozenset(self.ends + self.inner))
        return self._stops[own]

    def within(self, inner: tuple[str, ...]) -> Scope:
        """The same inside a block that `inner` closes."""
        return Scope(self.closers, self.openers, self.ends, inner)


@dataclass(slots=True)
class FormPlan:
    """One form of a call: its opening mark, the marks before the first hole, and what follows each hole.

    `recovered`: it counts for declared tools only, `gated` although it is the dialect's own.
    `loose`: outside of its section it does too.
    """

    form: Form
    opener: str
    head: tuple[str, ...]
    steps: tuple[tuple[str, tuple[str, ...]], ...]
    recovered: bool
    loose: bool
    scope: Scope
    draft: Scope
    gated: bool = False

    @property
    def codec(self) -> Codec:
        return self.form.codec

    @property
    def closers(self) -> tuple[str, ...]:
        return self.steps[-1][1]

    @property
    def anchored(self) -> bool:
        """Whether it counts at a line start only: its mark is a word or a fence."""
        return self.gated and self.opener[:1] not in ("<", "[")


@dataclass(slots=True)
class Plan:
    """A dialect compiled."""

    dialect: Dialect
    phrases: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    sections: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)
    closers: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    forms: dict[str, tuple[FormPlan, ...]] = field(default_factory=dict)
    bare: dict[str, tuple[FormPlan, ...]] = field(default_factory=dict)
    json: FormPlan | None = None
    fenced: FormPlan | None = None
    python: FormPlan | None = None
    named: FormPlan | None = None
    body: FormPlan | None = None

    @property
    def lists(self) -> bool:
        """Whether a list of Python calls is this dialect's own way to write them."""
        return self.python is not None and any(isinstance(form.codec, Python) for form in self.dialect.forms[:1])

    @property
    def marked(self) -> bool:
        """Whether calls have marks, so that one without any is a slip."""
        return any(marks(_before(form)) for form in self.dialect.forms[:1])

    @property
    def section_ends(self) -> tuple[str, ...]:
        """The marks that close a section."""
        return tuple(dict.fromkeys(closing for _, closing in self.sections.values()))

    def meaning(self, mark: str) -> str:
        """What a mark means in content."""
        if mark in self.opens:
            return "open"
        if mark in self.dialect.ends:
            return "end"
        if mark in self.drops:
            return "drop"
        if mark in self.dialect.noise:
            return "noise"
        if mark in self.sections:
            return "section"
        if mark in self.forms:
            return "call"
        if mark in self.bare:
            return "bare"
        return {"{": "json", "[": "list"}.get(mark, "close")

    def state(self, prompt: str) -> tuple[str, str]:
        """Where a turn begins behind a rendered prompt: a state, and the assistant's part, to be read in it."""
        dialect = self.dialect
        begins = dialect.begins.strip()
        if dialect.frame is not None:
            _, mark, rest = prompt.rpartition(begins)
            return "header", begins[max(begins.find(dialect.frame.start), 0) :] + (rest if mark else "")
        if begins and begins in prompt:
            prompt = prompt.rpartition(begins)[2]
            if not any(mark in prompt for mark in dialect.ends):
                return "content", prompt
        return ("inside" if _last_of(self.opens, prompt) > _last_of(self.closes, prompt) else "content"), ""

    def stop(self, *, reasoning: bool, calls: bool, recover: bool) -> Stop:
        """What to stop at in reasoning or in content."""
        closes = self.closes if reasoning else tuple(mark for mark in self.closes if mark not in self.phrases)
        found: list[str] = [*self.opens, *closes, *self.dialect.ends, *self.drops, *self.dialect.noise]
        if calls:
            found += [*self.sections, *self.forms, *(() if reasoning else self.last)]
        if calls and recover:
            found += [*self.bare, *(("{",) if self.json and not reasoning else ())]
            found += ["["] * (self.lists and not reasoning)
        return stop(*found, plain=frozenset((*self.opens, *self.closes, *self.dialect.ends)))


@lru_cache(512)
def plan(dialect: Dialect) -> Plan:
    """The plan of a dialect."""
    made = Plan(dialect)
    for block in filter(None, (dialect.reasoning, *dialect.thoughts)):
        before, _, after = split(block)
        made.opens, made.closes = made.opens + _border(before)[:1], made.closes + _border(after)[-1:]
    if dialect.frame is None:
        made.drops = (*dialect.drops, *(mark for block in dialect.content for mark in _content(block)))
    made.phrases = frozenset(mark for mark in made.opens + made.closes if " " in mark and "<" not in mark)
    if dialect.frame is None:
        _calls(made)
    else:
        own = dialect.forms[0]
        made.body = _form(made, Form(dialect.frame.parted(own.template)[1].lstrip(), own.codec), (), recovered=False)
    every = (*made.opens, *made.drops, *dialect.ends, *made.forms)
    made.words = frozenset(mark for mark in every if mark[:1].isalpha() and mark.endswith(":")) - made.phrases
    return made


def _last_of(found: tuple[str, ...], text: str) -> int:
    """Where the last of these marks stands in a text, -1 if none does."""
    return max((match.start() for match in stop(*found).final.finditer(text)), default=-1)


def _border(literal: str) -> tuple[str, ...]:
    """The marks of a literal; one without any tag is a phrase, and one mark."""
    return marks(literal) if any(char in literal for char in "<[|") else (literal.strip(),) * bool(literal.strip())


def _content(block: str) -> tuple[str, ...]:
    """The marks around a block of the answer."""
    before, _, after = split(block)
    return (*_border(before), *_border(after))


def _calls(made: Plan) -> None:
    """The forms of a call by their opening mark, with those that the engine adds for every dialect."""
    own = made.dialect.forms
    for section in filter(None, (made.dialect.section, *made.dialect.sections)):
        before, _, after = split(section)
        made.sections[marks(before)[0]] = marks(before)[1:], marks(after)[-1]
    openers = tuple(dict.fromkeys(marks(_before(form))[0] for form in own if marks(_before(form))))
    for form in own:
        if begins := marks(_before(form))[:1]:
            sure = begins == openers[:1] or made.dialect.is_special(begins[0])
            _add(made.forms, _form(made, form, openers, recovered=not sure, own=True))
    for opener in openers:
        first = made.forms[opener][0]
        for form in _foreign(opener, first):
            sure = isinstance(form.codec, JsonCall) and not first.recovered
            _add(made.forms, _form(made, form, openers, recovered=not sure))
    for opener in openers:
        for other in _misnamed(made, opener):
            for known in made.forms[opener]:
                _add(made.forms, _renamed(made, known, other, openers))
    for section in filter(None, (made.dialect.section, *made.dialect.sections)):
        for codec in (JsonCall(), Python()):
            whole = Form(section.replace("{calls}", "{call}"), codec)
            _add(made.forms, _form(made, whole, openers, recovered=not isinstance(codec, JsonCall)))
    for form in own:
        for bare in _bare(made, form, openers):
            _add(made.bare, bare)
    made.closers = made.section_ends + tuple(
        dict.fromkeys(mark for forms in made.forms.values() for form in forms for mark in form.closers)
    )
    last = (mark for forms in made.forms.values() for form in forms for mark in form.closers[-1:])
    special = (mark for mark in made.closers if made.dialect.is_special(mark))
    every = dict.fromkeys((*made.section_ends, *last, *special))
    made.last = tuple(mark for mark in every if _stray(mark, (*openers, *made.sections)))
    made.heads = tuple(form.head[0] for forms in made.forms.values() for form in forms if form.head)
    mine: dict[type, Codec] = {type(form.codec): form.codec for form in own}
    json, python = mine.get(JsonCall, JsonCall()), mine.get(Python, Python())
    made.json = _form(made, Form("{call}" + _last(made, openers), json), openers, recovered=True)
    made.fenced = _form(made, Form("{call}```", json), openers, recovered=True)
    made.python = _form(made, Form("{call}", python), openers, recovered=True)
    made.named = _named(made, openers)


def _named(made: Plan, openers: tuple[str, ...]) -> FormPlan | None:
    """The first form without its opening mark, where the name stands right behind that."""
    for form in made.dialect.forms[:1]:
        before, _, after = form.template.partition("{name}")
        if len(marks(before)) == 1 and after and "{" not in before:
            return _form(made, Form("{name}" + after, form.codec), openers, recovered=True)
    return None


def _stray(mark: str, openers: tuple[str, ...]) -> bool:
    """Whether a close mark without a call is markup: a tag only where its opening tag is a mark too."""
    return "<" + mark[2:] in openers if mark.startswith("</") else mark[:1] in ("<", "[", "]")


def _last(made: Plan, openers: tuple[str, ...]) -> str:
    """The mark that closes a call of the first form."""
    return made.forms[openers[0]][0].closers[-1] if openers and made.forms[openers[0]][0].closers else ""


def _before(form: Form) -> str:
    first = parse(form.template)[0]
    return "" if isinstance(first, Hole) else first


def _foreign(opener: str, first: FormPlan) -> tuple[Form, ...]:
    """Other syntaxes that models put behind an explicit opening mark."""
    close = first.closers[-1] if first.closers else ""
    forms = [Form(opener + "{call}" + close, Python())]
    if not isinstance(first.codec, JsonCall):
        forms.insert(0, Form(opener + "{call}" + close, JsonCall()))
    if first.steps[0][0] != "name" or first.head:
        forms.append(Form(opener + "{name}\n{args}" + close, JsonObject()))
    return tuple(forms)


_NAMES = ("tool_call", "toolcall", "tool-call", "tool_calls", "tools", "tool", "function_call")


def _misnamed(made: Plan, opener: str) -> Iterator[str]:
    """What models write for the tag of a call, where that is the usual one."""
    if opener.strip("<>") in _NAMES and not made.dialect.is_special(opener):
        found = (f"<{name}>" for name in _NAMES)
        yield from (tag for tag in found if tag not in made.forms and tag not in made.sections)


def _renamed(made: Plan, known: FormPlan, opener: str, openers: tuple[str, ...]) -> FormPlan:
    """A form in another tag, which counts for declared tools, at the beginning of a line."""
    template = known.form.template.replace(known.opener, opener).replace(f"</{known.opener[1:]}", f"</{opener[1:]}")
    form = _form(made, Form(template, known.codec), openers, recovered=True)
    form.loose = True
    return form


def _bare(made: Plan, form: Form, openers: tuple[str, ...]) -> tuple[FormPlan, ...]:
    """A form without its first mark, where enough is left to know it by."""
    rest = marks(_before(form))[1:]
    if not rest or len(rest[0]) < 4 or rest[0][0] == "`":
        return ()
    return (_form(made, Form(form.template[form.template.index(rest[0]) :], form.codec), openers, recovered=True),)


def _add(table: dict[str, tuple[FormPlan, ...]], form: FormPlan) -> None:
    table[form.opener] = (*table.get(form.opener, ()), form)


def _form(made: Plan, form: Form, openers: tuple[str, ...], *, recovered: bool, own: bool = False) -> FormPlan:
    pieces = list(parse(form.template))
    head = marks(pieces.pop(0)) if not isinstance(pieces[0], Hole) else ()  # type: ignore[arg-type]
    steps = []
    while pieces:
        hole = pieces.pop(0)
        after = marks(pieces.pop(0)) if pieces and not isinstance(pieces[0], Hole) else ()  # type: ignore[arg-type]
        steps.append((hole.name, after))  # type: ignore[union-attr]
    heads = tuple(mark for own in made.dialect.forms for mark in marks(_before(own))[1:2] if len(mark) > 3)
    scope = Scope(steps[-1][1] + made.section_ends, openers + heads, made.dialect.ends)
    opener = head[0] if head else ""
    loose = bool(made.sections) and not made.dialect.is_special(opener)
    gated = own and made.dialect.gated
    draft = scope.within(made.closes)
    return FormPlan(form, opener, head[1:], tuple(steps), recovered or gated, loose, scope, draft, gated)


NAME = re.compile(r"\s{0,8}[\"'`]?\s{0,2}(?P<name>(?:[\w.\-]|&\w{0,4};?){0,257})")
