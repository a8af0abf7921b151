"""JSON calls: `{"name": .., "arguments": {..}}`, the name inside."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...messages import Call, Tool
from .. import shapes
from ..kinds import ANY, strict_json
from ..reader import Onward, Reader, Steps
from . import BAD, CUT, OPEN, WHOLE
from .json import Inner, JsonObject, fence, plain, unfence
from .values import Values

if TYPE_CHECKING:
    from ..calls import CallSink
    from ..grammar import Node

__all__ = ["JsonCall"]


@dataclass(slots=True)
class _Envelope:
    """What was read of a whole call: `begun` its start was told, `filled` its arguments too, `whole` all of them; `no`: it is none."""

    name: str = ""
    id: str = ""
    begun: bool = False
    filled: bool = False
    whole: bool = False
    no: bool = False
    held: str | None = None
    depth: int = 0
    others: list[str] = field(default_factory=list)


NAMES = ("name", "function", "tool", "tool_name")
ARGS = ("arguments", "parameters", "args", "input")
_WORD = re.compile(r"[\"'][\w.\-]{0,256}(?P<ok>[\"'])?")
_MORE = re.compile(r"\s{0,64}[,;]?\s{0,64}(?P<ok>\{)?")


class JsonCall:
    """The codec of `{call}`: an object with the name inside, several of them, or a list.

    The keys come in any order; arguments before the name wait for it.
    Also read: the wrapper `{"type": "function", "function": {..}}`, and an object without its closing brace.
    `listed`: it is written as a list, of one call where they stand alone.  `lines`: what stands between several that
    are written without a list, and before each within one.  `ids`: where a call's id is written, first or last.
    `keyed`: the key is the name, `{"weather": {..}}`.  `none`: names that say that there is no call.
    Without any name it is a call of the only declared tool that has all its keys.
    """

    opening = re.compile(r"\s{0,256}(?:`{1,3}[\w+\-]{0,16}\s{0,64})?(?P<ok>[{\[])?")

    def __init__(
        self,
        name: str = "name",
        args: tuple[str, ...] = ARGS,
        id: str = "id",
        *,
        listed: bool = False,
        lines: str = "",
        ids: str = "",
        keyed: bool = False,
        none: tuple[str, ...] = (),
    ) -> None:
        self.name, self.args, self.id, self.lines = name, args, id, lines
        self.several = _several(lines, listed=listed)
        self.listed, self.ids, self.keyed, self.none = listed, ids, keyed, none

    def decode(self, r: Reader, call: CallSink) -> Steps[str]:
        fenced = yield from fence(r, call)
        state = yield from self._calls(r, call)
        if fenced and state == WHOLE:
            yield from unfence(r)
        return state

    def _calls(self, r: Reader, call: CallSink) -> Steps[str]:
        char = yield from r.peek()
        if char == "[":
            return (yield from self._list(r, call))
        state = (yield from self._call(r, call)) if char == "{" else BAD if char else CUT
        while state == WHOLE:
            call.end()
            more = yield from r.look(_MORE)
            if more is None or not more["ok"]:
                state = CUT if call.cut and more and more.group().strip() and more.end() == len(r.buf) else WHOLE
                break
            state = yield from self._further(r, call, more.end() - 1 - r.pos)
        return state if state != OPEN else WHOLE

    def _further(self, r: Reader, call: CallSink, skip: int) -> Steps[str]:
        """One more call; OPEN if it is none after all, and its text is left to be read anew."""
        start, mine = r.at, r.kept is None
        if mine:
            r.keep(start)
        r.pos += skip
        if skip and not self.lines:
            call.notice("variant", start)
        state = yield from self._call(r, call, named=True)
        if state == BAD and not call.open:
            r.reread(start)
            state = OPEN
        if mine and r.kept_at == start and state in (WHOLE, OPEN):
            r.kept = None
        return state

    def _list(self, r: Reader, call: CallSink) -> Steps[str]:
        r.pos += 1
        count = 0
        while True:
            char = yield from r.peek()
            if char == "," and count:
                r.pos += 1
            elif char == "{":
                state = yield from self._further(r, call, 0) if count else self._call(r, call)
                if state != WHOLE:
                    return state if state != OPEN else WHOLE
                call.end()
                count += 1
            elif char == "]" and (count or not call.recovered):
                r.pos += 1
                if not count:
                    call.notice("no-call", r.at)
                return WHOLE
            elif count and char in ("}", ")"):
                r.pos += 1
                call.notice("dropped", r.at - 1, char)
            elif count:
                call.notice("unclosed", r.at)
                return WHOLE
            else:
                return BAD if char else CUT

    def _call(self, r: Reader, call: CallSink, *, named: bool = False) -> Steps[str]:
        envelope = _Envelope()
        state = yield from self._object(r, call, envelope)
        if state == CUT and call.cut and envelope.name and not (envelope.begun or envelope.no or envelope.others):
            self._begin(r, call, envelope)
        if state == CUT and envelope.begun and envelope.whole:  # what a limit cut behind them says nothing of the call
            call.notice("unclosed", r.at)
            state = WHOLE
        if state != WHOLE or envelope.no:
            return state
        if call.recovered and envelope.held is None and not envelope.filled:
            return BAD
        if not (envelope.name or named):
            self._guess(call, envelope)
        if not envelope.begun and not (envelope.name and self._begin(r, call, envelope)):
            return BAD
        if not envelope.filled:
            self._others(r, call, envelope)
        return WHOLE

    def _others(self, r: Reader, call: CallSink, envelope: _Envelope) -> None:
        """No arguments: they may stand beside the name, if the tool has all these keys; else there are none."""
        text = "{" + ", ".join(envelope.others) + "}"
        try:
            keys = strict_json(text)
        except ValueError:
            keys = {}
        if keys and call.schema.properties().issuperset(keys):
            self._fill(r, call, text)
            call.notice("repaired", r.at)
            return
        if keys:
            call.notice("dropped", r.at, text)
        call.put("{}", r.at, r.at)

    def _fill(self, r: Reader, call: CallSink, text: str) -> None:
        """Arguments that were read before."""
        inner = Inner(call)
        inner.take(text, r.at, r.at)
        inner.close(r.at)

    def _guess(self, call: CallSink, envelope: _Envelope) -> None:
        """No name: the arguments, or the whole object, may tell it."""
        if envelope.held is None:
            envelope.held = "{" + ", ".join(envelope.others) + "}"
        try:
            keys = strict_json(envelope.held)
        except ValueError:
            return
        if isinstance(keys, dict) and (name := call.hint or call.tools.only(keys)):
            envelope.name = name
            call.notice("unnamed", call.sink.held_at, name)

    def _begin(self, r: Reader, call: CallSink, envelope: _Envelope) -> bool:
        """The name is known: tell it, and the arguments that waited for it."""
        envelope.begun = call.begin(envelope.name, envelope.id)
        if envelope.begun and envelope.held is not None:
            self._fill(r, call, envelope.held)
            envelope.filled = envelope.whole = True
        return envelope.begun

    def _object(self, r: Reader, call: CallSink, envelope: _Envelope) -> Steps[str]:
        r.pos += 1
        while True:
            char = yield from r.peek()
            if char == "}":
                r.pos += 1
                return WHOLE
            if char == ",":
                r.pos += 1
                continue
            if not char or char not in "\"'":
                return (yield from self._broken(r, call, envelope, char))
            if char == "'" and not envelope.begun:
                call.notice("repaired", r.at)
            key = yield from Values(r, _drop, repair=call.repair).text(char)
            char = yield from r.peek()
            if key is None or char != ":":
                return BAD if char else CUT
            r.pos += 1
            state: Onward = yield from self._member(r, call, envelope, key)
            while not isinstance(state, str):
                state = yield from state
            if state != WHOLE:
                return state

    def _broken(self, r: Reader, call: CallSink, envelope: _Envelope, char: str) -> Steps[str]:
        """Neither a key nor a brace: behind whole arguments, or before the end mark, only the brace is missing."""
        if envelope.filled or (envelope.begun and (yield from r.ahead(call.scope.stop()))[0]):
            call.notice("unclosed", r.at)
            return WHOLE
        return BAD if char else CUT

    def _member(self, r: Reader, call: CallSink, envelope: _Envelope, key: str) -> Steps[Onward]:
        char = yield from r.peek()
        if not char:
            return CUT
        if char == "{" and key not in ("function", *self.args) and (self.keyed or self._is_name(call, envelope, key)):
            return (yield from self._named(r, call, envelope, plain(key)))
        if key == "function" and char == "{" and not envelope.depth:
            envelope.depth = 1
            return (yield from self._object(r, call, envelope))
        if key in (self.name, self.id, *NAMES) and char in "\"'":
            return (yield from self._word(r, call, envelope, key))
        if key in self.args and not envelope.filled and char not in "nN":
            return self._arguments(r, call, envelope)
        if call.recovered and key not in (self.name, self.id, *NAMES, "type", *self.args):
            return BAD
        pieces: list[str] = []
        state = yield from _skip(r, call, pieces)
        if key not in ("type", *self.args):
            envelope.others.append(f'"{key}": ' + "".join(pieces))
        elif key in self.args and char not in "nN":
            call.notice("dropped", r.at, "".join(pieces))
        elif key in self.args and envelope.held is None:
            envelope.held = "{}"
        return state

    def _word(self, r: Reader, call: CallSink, envelope: _Envelope, key: str) -> Steps[str]:
        if call.recovered:
            found = yield from r.look(_WORD)
            if found is None or (found["ok"] is None and found.end() < len(r.buf)):
                return BAD
        text = yield from Values(r, _drop, repair=call.repair).text(r.buf[r.pos])
        if text is None:
            return CUT
        if key == self.id:
            envelope.id = envelope.id or plain(text)
        elif not envelope.name:
            envelope.name = plain(text)
            if envelope.name in self.none and not call.declared(envelope.name):
                envelope.no = True
                call.notice("no-call", r.at, envelope.name)
                return WHOLE
            if call.recovered:
                return WHOLE if call.declared(envelope.name) else BAD
            return WHOLE if self._begin(r, call, envelope) else BAD
        return WHOLE

    def _is_name(self, call: CallSink, envelope: _Envelope, key: str) -> bool:
        """Whether the first key of an object is a declared name although it should not be."""
        return not (envelope.name or envelope.others or envelope.depth) and call.repair and call.declared(plain(key))

    def _named(self, r: Reader, call: CallSink, envelope: _Envelope, name: str) -> Steps[str]:
        """A call whose name is the key of its arguments; several may stand in one object."""
        if envelope.begun:
            call.end()
            envelope.begun = envelope.filled = envelope.whole = False
        envelope.name = name
        if not self._begin(r, call, envelope):
            return BAD
        return (yield from self._live(r, call, envelope))

    def _arguments(self, r: Reader, call: CallSink, envelope: _Envelope) -> Steps[str]:
        if not envelope.name or envelope.no:
            pieces: list[str] = []
            state = yield from _skip(r, call, pieces)
            envelope.held = "".join(pieces)
            return state
        if not envelope.begun and not self._begin(r, call, envelope):
            return BAD
        return (yield from self._live(r, call, envelope))

    def _live(self, r: Reader, call: CallSink, envelope: _Envelope) -> Steps[str]:
        """The arguments, as they come."""
        envelope.filled = True
        state = yield from _ARGUMENTS.decode(r, call)
        envelope.whole = state == WHOLE
        return state

    def encode(self, call: Call) -> str:
        args = json.loads(call.arguments)
        if self.keyed:
            return json.dumps({call.name: args}, ensure_ascii=False)
        made = {self.name: call.name, self.args[0]: args}
        own = {self.id: call.id} if call.id else {}
        return json.dumps(own | made if self.ids == "first" else made | own if self.ids else made, ensure_ascii=False)

    def grammar(self, tool: Tool) -> Node:
        number = self.id if self.ids == "first" else ""
        return shapes.json_call(tool, "" if self.keyed else self.name, self.args[0], number)


def _several(lines: str, *, listed: bool) -> tuple[str, str, str] | None:
    """What stands before, between and behind several calls."""
    if not listed:
        return ("", lines, "") if lines else None
    return "[" + lines, "," + (lines or " "), "\n]" if lines else "]"


_ARGUMENTS = JsonObject()


def _drop(_text: str, _start: int, _end: int) -> None:
    """Read and forget."""


def _skip(r: Reader, call: CallSink, pieces: list[str]) -> Steps[str]:
    """Read a value that is no argument, or one that has to wait."""
    values = Values(r, lambda text, _start, _end: pieces.append(text), ANY, repair=call.repair)
    state = yield from values.run()
    if values.flawed:
        call.flawed = values.flawed
    return state
