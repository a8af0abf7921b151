"""What counts at the beginning of a turn only: the label of a reasoning block, and a call without any mark."""

from __future__ import annotations

import re

from .calls import Policy, Tools
from .dialect import Dialect
from .plan import FormPlan
from .reader import Reader, Steps, stop
from .reading import Reading
from .sink import Sink

__all__ = ["Beginning"]

_LIST = re.compile(r"\[\s{0,64}(?P<ok>[{\w])?")
_FENCE = re.compile(r"`{1,3}(?:[A-Za-z_\-]{0,16}(?:[ \t]{0,8}\r?(?:\n\s{0,64}(?P<ok>[{\[])?)?)?)?")
_BARE_NAME = re.compile(r"[A-Za-z_][\w.\-]{0,256}(?P<ok>\()?")
_LABEL_END = re.compile(r"[ \t]{0,8}(?P<ok>\n|\r\n|<)?")


class Beginning(Reading):
    """Reads the beginning of a turn.  `recover`: recovery forms count.  `content_stop`: what to stop at in content."""

    def __init__(self, dialect: Dialect, tools: Tools, policy: Policy, r: Reader, sink: Sink) -> None:
        super().__init__(dialect, tools, policy, r, sink)
        self.recover = bool(tools.by_name) and (policy.recover != "strict" or not self.plan.marked)
        self.content_stop = self.plan.stop(reasoning=False, calls=self.calls, recover=self.recover)

    def beginning(self) -> Steps[str]:
        """What counts at the beginning of a turn only: a label, or a call without any mark."""
        yield from self.header()
        while not self.sink.begun:
            char = yield from self.lead()
            if not self.sink.blocks and (yield from self.label()):
                self.sink.notice("recovered", self.r.at)
                self.sink.block()
                return "reasoning"
            mark, _ = yield from self.r.ahead(self.content_stop)
            if (mark and self.plan.meaning(mark) not in ("json", "list")) or (
                self.r.cut and self.r.begun(self.content_stop)
            ):
                return ""
            form, skip = (yield from self.guess(char)) if self.recover else (None, 0)
            if form is None:
                return ""
            before = self.count
            doubt = form is self.plan.named or (form is self.plan.python and self.plan.marked)
            yield from self.call((form,), self.r.at, proof="line" if doubt else "", skip=skip)
            if self.count == before:
                return ""
        return ""

    def header(self) -> Steps[None]:
        """The header of the turn, which the prompt wrote already, is dropped where the model writes it again."""
        begins = self.dialect.begins.strip()
        fresh = not self.sink.blocks and begins and not begins[0].isalnum()
        if fresh and (yield from self.r.next(stop(begins))):
            self.sink.notice("stray-mark", self.r.mark_at, begins)
            self.sink.block()

    def lead(self) -> Steps[str]:
        """White space at the beginning, which may be content; the next character."""
        r = self.r
        while True:
            text = r.buf[r.pos :]
            if blank := len(text) - len(text.lstrip()):
                r.pos += blank
                self.sink.content(text[:blank], r.at - blank)
            if blank < len(text):
                return text[blank]
            if r.closed:
                return ""
            yield

    def label(self) -> Steps[bool]:
        """Read the label of a reasoning block, if it stands alone on its line."""
        if not self.dialect.label:
            return False
        r = self.r
        mark, size = yield from r.ahead(stop(self.dialect.label))
        found = (yield from r.look(_LABEL_END, size)) if mark else None
        if found is not None and (found["ok"] is not None or r.closed):
            r.pos += size
            return True
        return False

    def guess(self, char: str) -> Steps[tuple[FormPlan | None, int]]:
        """The form of a call that may begin here without any mark, and what stands before its payload."""
        made, r = self.plan, self.r
        if char == "{":
            return made.json, 0
        if char == "[":
            found = yield from r.look(_LIST)
            return (made.json if found and found["ok"] == "{" else made.python), 0
        if char == "`":
            found = yield from r.look(_FENCE)
            return (made.fenced, found.end() - 1 - r.pos) if found and found["ok"] else (None, 0)
        if (yield from self.named()):
            return made.python, 0
        return (made.named if (yield from self.headed()) else None), 0

    def headed(self) -> Steps[bool]:
        """Whether a declared name and what follows it in a call stand here, without the opening mark."""
        form, r = self.plan.named, self.r
        found = _BARE_NAME.match(r.buf, r.pos)
        name = found.group() if found else ""
        if form is None or name not in self.tools.by_name or not self.policy.repair:
            return False
        behind = stop(*form.steps[0][1], getattr(form.codec, "opens", "{"))
        return bool((yield from r.ahead(behind, len(name)))[0])

    def named(self, skip: int = 0) -> Steps[bool]:
        """Whether a declared name and a bracket stand here; a word that can become none is not waited for."""
        r = self.r
        while skip and r.pos + skip == len(r.buf) and not r.closed:
            yield
        while found := _BARE_NAME.match(r.buf, r.pos + skip):
            name = found.group().removesuffix("(")
            if found["ok"] is not None or found.end() < len(r.buf) or r.closed:
                return found["ok"] is not None and name in self.tools.by_name
            if not any(tool.startswith(name) for tool in self.tools.by_name):
                return False
            yield
        return False
