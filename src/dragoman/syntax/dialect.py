"""Dialect: how one family of models writes reasoning, content and tool calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import DialectError
from .template import holes, marks

if TYPE_CHECKING:
    from .codecs import Codec
    from .codecs.header import Header

__all__ = ["Dialect", "Form"]


@dataclass(frozen=True, eq=False, slots=True)
class Form:
    """One way to write a call: its template and the codec of its `{args}` or `{call}`."""

    template: str
    codec: Codec


@dataclass(frozen=True, eq=False)
class Dialect:
    """A dialect as a handful of templates (see `template`); checked when made.

    Args:
        name: its id in the catalogue.
        call: one tool call.
        args: the codec of `{args}` or `{call}` in `call`.
        id: the call's own id, put together from the other holes of `call`, where the model numbers its calls.
        section: the marks around all calls of a turn, with `{calls}`.
        sections: other spellings of it.
        joint: what stands between two calls; None for a newline, or nothing where calls touch (see `between`).
        apart: what stands between text and the calls behind it; None for the same as `joint`.
        reasoning: a block of thinking; without marks behind it, it ends where a call or the answer begins.
        thoughts: other spellings of it.
        content: blocks of the answer, where the answer is marked too.
        gated: a call counts for declared tools only, since its mark is common in prose or code.
        also: other forms of a call seen in the wild; a text uses the codec `args`.
        begins: what a rendered prompt ends with when the model is to write its turn.
        again: what begins a further message of the same turn, if it is not what begins the first.
        ends: marks that end a turn.
        drops: marks without meaning, such as those of a wrapper around the answer.
        noise: marks inside of running text that are left out, such as those of a citation; a star stands for any text.
        suffix: its tags may end in a word of the vocabulary's own (see `suffix`).
        special: marks that are special tokens in every tokenizer of this family.
        frame: the codec of message headers, where every message has one.
        label: a line of its own that opens a reasoning block although its mark is missing.
        turn: one message of a conversation, with `{role}` and `{text}`, for models without a chat template.
        results: one tool result, with `{text}`, `{name}` and `{id}`.
        results_role: the role of the turn that carries results.
        declare: how tools are told to the model, with `{tools}` (one JSON object a line).
        signs: what in a chat template, a vocabulary or an output tells this dialect; all of them must be there.
        aliases: other names, such as the parser names of other servers.
        models: who speaks it.

    Raises:
        DialectError: the definition cannot work.
    """

    name: str
    call: str = ""
    args: Codec | None = None
    id: str = ""
    section: str = ""
    sections: tuple[str, ...] = ()
    joint: str | None = None
    apart: str | None = None
    reasoning: str = ""
    thoughts: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    gated: bool = False
    also: tuple[str | Form, ...] = ()
    begins: str = ""
    again: str = ""
    ends: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    suffix: bool = False
    special: tuple[str, ...] = ()
    frame: Header | None = None
    label: str = ""
    turn: str = "<|im_start|>{role}\n{text}<|im_end|>\n"
    results: str = "<tool_response>\n{text}\n</tool_response>"
    results_role: str = "tool"
    declare: str = ""
    signs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    models: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise DialectError(self.name, problem)

    def __reduce__(self) -> tuple[type[Dialect], tuple[object, ...]]:
        return Dialect, tuple(getattr(self, name) for name in self.__dataclass_fields__)

    @property
    def blocks(self) -> bool:
        """Whether the answer always stands in marks of its own."""
        return self.frame is not None or any(
            self.is_special(mark) for block in self.content for mark in marks(block)[:1]
        )

    def is_special(self, mark: str) -> bool:
        """Whether a mark is, or begins with, a token of its own."""
        return mark in self.special or mark[: mark.find(">") + 1] in self.special

    @property
    def between(self) -> str:
        """What stands between two calls: where nothing else is said a newline, if there are newlines in them."""
        if self.joint is not None:
            return self.joint
        lines = self.gated or "\n" in self.call or "\n" in self.section or self.call.startswith(("<function=", "{"))
        touching = not lines and (bool(self.section) or not self.call.startswith("<tool_call>"))
        return "" if touching else "\n"

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms of a call, the canonical one first."""
        codec = self.args
        if codec is None:
            return ()
        return (
            Form(self.call, codec),
            *(form if isinstance(form, Form) else Form(form, codec) for form in self.also),
        )


def _problems(dialect: Dialect) -> Iterator[str]:
    if dialect.call and dialect.args is None:
        yield "a call template needs a codec (args=)"
    if dialect.frame is not None and not dialect.call:
        yield "messages with headers (frame=) need a call"
    for form in dialect.forms:
        names = holes(form.template)
        if ("args" in names) == ("call" in names):
            yield f"a call needs either {{args}} or {{call}}: {form.template!r}"
        if "args" in names and "name" not in names:
            yield f"{{args}} needs a {{name}}: {form.template!r}"
        if "}{" in form.template.replace("{name}{args}", ""):
            yield f"two holes side by side, and nothing tells where the first ends: {form.template!r}"
    for section in (dialect.section, *dialect.sections):
        if section and holes(section) != ("calls",):
            yield f"a section needs exactly one {{calls}}: {section!r}"
        elif section and not _enclosed(section, "{calls}"):
            yield f"a section needs marks before and behind it: {section!r}"
    for block in (dialect.reasoning, *dialect.thoughts, *dialect.content):
        if block and holes(block) != ("text",):
            yield f"a block needs exactly one {{text}}: {block!r}"
        elif block and dialect.frame is None and not block.partition("{text}")[0].strip():
            yield f"a block needs a mark before it: {block!r}"  # a mark of nothing would be found everywhere


def _enclosed(template: str, hole: str) -> bool:
    """Whether something stands on both sides; a mark of nothing would be found everywhere."""
    before, _, after = template.partition(hole)
    return bool(before.strip() and after.strip())
