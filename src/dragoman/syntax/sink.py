"""Sink: what was read becomes events.

It numbers the blocks, keeps the rules of white space, and lets events wait while it is not clear what they are.

White space between markup and text belongs to the markup: leading white space of a block is dropped, trailing white
space waits and is dropped before the next block.  A turn without any block is verbatim, so leading white space of a
turn waits too.  At most `LONGEST` characters wait.
"""

from __future__ import annotations

from typing import NamedTuple

from ..events import CallArgs, CallEnd, CallStart, Content, Event, Notice, Reasoning
from .code import Code
from .reader import LONGEST

__all__ = ["Sink", "Span"]

Span = tuple[int, int, str]


class Sink:
    """Collects the events of one turn in `out`, and where each came from in `spans` (if they are wanted)."""

    __slots__ = (
        "args_at", "begun", "blocks", "code", "floor", "held", "held_at", "index", "kind", "out", "part", "phase",
        "pieces", "saved", "spans",
    )  # fmt: skip

    def __init__(self, trace: bool = False, watch: bool = False) -> None:
        self.out: list[Event] = []
        self.spans: list[Span] | None = [] if trace else None
        self.code = Code() if watch else None
        self.kind = ""
        self.phase = ""
        self.part = -1
        self.held = ""
        self.held_at = 0
        self.blocks = False
        self.begun = False
        self.pieces: list[str] = []
        self.index = self.args_at = self.floor = 0
        self.saved: _State | None = None

    def content(self, text: str, at: int) -> None:
        """A piece of the answer; what stands before `floor` belongs to the prompt."""
        if self.kind != "content" or self.held or at < self.floor or text[-1].isspace():
            return self._spaced("content", text, at)
        self.out.append(Content(text, at, self.part, self.phase))
        code = self.code
        if code is not None and (code.blank or code.run or "`" in text or "\n" in text):
            code.feed(text)
        if self.spans is not None:
            self.spans.append((at, at + len(text), "content"))
        return None

    def reasoning(self, text: str, at: int) -> None:
        """A piece of thinking."""
        if self.kind != "reasoning" or self.held or at < self.floor or text[-1].isspace():
            return self._spaced("reasoning", text, at)
        self.out.append(Reasoning(text, at, self.part))
        if self.spans is not None:
            self.spans.append((at, at + len(text), "reasoning"))
        return None

    def _spaced(self, kind: str, text: str, at: int) -> None:
        if at < self.floor:
            if text[: self.floor - at].strip():
                self._open(kind)
            text, at = text[self.floor - at :], self.floor
        if self.kind != kind and (self.blocks or kind == "reasoning"):
            at += len(text) - len(text := text.lstrip())
        if self.held:
            at, text = self._joined(kind, text, at)
        body = text.rstrip()
        if len(text) - len(body) > LONGEST:
            body = text[:-LONGEST]
        if body:
            self._emit(kind, body, at)
        if len(body) < len(text):
            self.held, self.held_at = text[len(body) :], at + len(body)

    def _joined(self, kind: str, text: str, at: int) -> tuple[int, str]:
        """White space that waited, and the text that follows; a mark that was dropped may stand between them."""
        held, self.held = self.held, ""
        if self.held_at + len(held) == at:
            return self.held_at, held + text
        if self.kind == kind:
            self._emit(kind, held, self.held_at)
        return at, text

    def _open(self, kind: str) -> None:
        if self.kind != kind:
            self.part += 1
            self.kind = kind
        self.blocks = self.blocks or kind == "reasoning"
        self.begun = self.begun or kind == "content"

    def _emit(self, kind: str, text: str, at: int) -> None:
        self._open(kind)
        if kind == "reasoning":
            self.out.append(Reasoning(text, at, self.part))
        else:
            self.out.append(Content(text, at, self.part, self.phase))
            if self.code is not None:
                self.code.feed(text)
        if self.spans is not None:
            self.spans.append((at, at + len(text), kind))

    def args(self, text: str, start: int, end: int) -> None:
        """A piece of the arguments of call `index`; the pieces that are read together go out as one."""
        if not self.pieces:
            self.args_at = start
        if text:
            self.pieces.append(text)
        if self.spans is not None and end > start:
            self.spans.append((start, end, "arguments"))

    def flush(self) -> None:
        """The pieces of arguments read so far go out."""
        pieces = self.pieces
        if pieces:
            self.out.append(CallArgs(self.index, pieces[0] if len(pieces) == 1 else "".join(pieces), self.args_at))
            pieces.clear()

    def calling(self) -> bool:
        """Whether a call is among the events that wait."""
        return any(type(event) is CallStart for event in self.out)

    def block(self) -> int:
        """A block begins or ends: the number of the next one.  White space that waited is dropped."""
        self.blocks = True
        self.kind = self.held = ""
        return self.part + 1

    def call(self) -> int:
        """A call begins: its number."""
        self.part = self.block()
        return self.part

    def finish(self) -> None:
        """The turn ends: white space that waited is kept where there was no block."""
        if self.held and not self.blocks:
            self._emit("content", self.held, self.held_at)
        self.held = ""

    def notice(self, code: str, at: int, raw: str = "") -> None:
        """Something to tell."""
        self.flush()
        self.out.append(Notice(code, at, raw))

    def line_start(self) -> bool:
        """Whether what comes next stands at the beginning of a line, or of a block."""
        return not self.kind or "\n" in self.held

    def in_code(self) -> bool:
        """Whether what comes next stands in code."""
        if self.code is None or self.kind != "content":
            return False
        return self.code.fenced if "\n" in self.held else self.code.inside

    def wait(self) -> None:
        """From here on events wait, until `release` or `revoke`."""
        self.flush()
        self.saved = _State(
            self.out, self.spans, self.kind, self.part, self.held, self.held_at, self.blocks, self.begun
        )
        self.out = []
        self.spans = None if self.spans is None else []

    def release(self) -> None:
        """What waited was right."""
        self.flush()
        if self.saved is None:
            return
        saved, self.saved = self.saved, None
        saved.out.extend(self.out)
        if saved.spans is not None and self.spans is not None:
            saved.spans.extend(self.spans)
        self.out, self.spans = saved.out, saved.spans

    def revoke(self) -> None:
        """What waited never was."""
        self.pieces.clear()
        if self.saved is not None:
            (self.out, self.spans, self.kind, self.part, self.held, self.held_at, self.blocks, self.begun) = self.saved
            self.saved = None

    def take(self) -> list[Event]:
        """The events that do not wait."""
        if self.saved is not None:
            events = self.saved.out[:]
            self.saved.out.clear()
            return events
        if self.pieces:
            self.flush()
        events = self.out
        if not events:
            return []
        self.out = []
        return events

    def take_spans(self) -> list[Span]:
        """The spans that do not wait."""
        spans = (self.spans if self.saved is None else self.saved.spans) or []
        taken = spans[:]
        spans.clear()
        return taken

    def mute(self) -> None:
        """Forget what the prompt said, but for a call that it left open."""
        starts = [i for i, event in enumerate(self.out) if type(event) is CallStart]
        ends = sum(type(event) is CallEnd for event in self.out)
        self.flush()
        self.out = self.out[starts[-1] :] if len(starts) > ends else []
        self.held = ""
        self.floor = 0
        if self.spans is not None:
            self.spans.clear()
        if self.saved is not None:  # what waits may be given back, but what was said before it is the prompt's
            self.saved.out.clear()
            (self.saved.spans or []).clear()
            self.saved = self.saved._replace(held="")


class _State(NamedTuple):
    """What `revoke` goes back to."""

    out: list[Event]
    spans: list[Span] | None
    kind: str
    part: int
    held: str
    held_at: int
    blocks: bool
    begun: bool
