"""Tagged: a value that stands as raw text between an opening and a close tag.

A string goes out as it comes; anything else waits for its end and is typed by the schema, or by what the tag tells.

Where a value ends

*   At its own close tag, if structure follows: the next parameter, a mark that closes or opens a call, or the end.
*   At that tag with its word cut short (`</param>`), if the next parameter, or nothing but marks that close, follows.
*   At the opening tag of the next parameter, if its key is declared and not yet given, and it stands at a line start;
    where parameters are pairs, or are not written on lines of their own, it may stand anywhere if it is whole.
*   At a mark that closes the call, if only such marks, a next call or the end follow; where a limit cut the text
    behind it, nobody knows, and the value is cut.

Anything else is data.  A newline behind the opening tag and one before the close tag are markup where the template has
them; a value that ended without its own close tag loses all newlines before the mark that ended it.
Where the codec strips values, all white space around them is markup.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..kinds import ANY, Schema, quote, strict_json, typed
from ..reader import Reader, Steps, Stop, stop
from . import CUT, WHOLE

if TYPE_CHECKING:
    from ..calls import CallSink
    from .params import Params

__all__ = ["Value"]

_MAYBE_JSON = frozenset('{["-0123456789tfn \t\r\n')
_WRAPPERS = ("arguments", "parameters", "properties", "input", "args")
_STRING = Schema({"type": "string"})


class Value:
    """One value on its way into `call`; `kind` is the type that its tag told, or ""."""

    def __init__(self, codec: Params, r: Reader, call: CallSink, key: str, given: set[str], kind: str) -> None:
        self.codec, self.r, self.call, self.given = codec, r, call, given
        self.schema = call.schema.property(key)
        if kind:
            self.schema = self.told(kind)
        self.first = not given
        self.open = ("{" if self.first else ", ") + json.dumps(key, ensure_ascii=False) + ": "
        if key in given:
            call.notice("duplicate-key", r.at, key)
        properties = call.schema.properties()
        self.wraps = self.first and key in _WRAPPERS and bool(properties) and key not in properties
        given.add(key)
        self.live: bool | None = False if self.wraps else True if self.schema.text_only else None
        self.blanks = (
            None if codec.strip else "\r\n"
        )  # what may be markup at the end of a value; None: all that is white
        self.text: list[str] = []
        self.newlines: list[str] = []
        self.fresh, self.said, self.begun = True, False, False
        self.cut_short = False

    def told(self, kind: str) -> Schema:
        """What the type in a tag says; the tool's schema counts where it allows no string at all, or only strings."""
        if kind in self.codec.text:
            return _STRING if self.schema.allows("string") else self.schema
        return ANY if self.schema.text_only else self.schema

    def read(self) -> Steps[str]:
        """The value and its own close tag; another mark that ends it is left for others to read."""
        codec, r, scope = self.codec, self.r, self.call.scope
        while codec.cdata and (yield from r.next(stop("<![CDATA["))):
            self.fresh = False
            if not (yield from r.until(stop("]]>"), self.put)):
                return self.cut()
            self.keep()
            if (yield from r.ahead(stop(codec.closes)))[0]:
                yield from r.peek()
        if codec.cdata and self.call.cut and r.begun(stop("<![CDATA[")):
            return self.cut()
        marks = scope.stop(codec.opens, codec.closes, codec.closes.removesuffix(">"), *codec.others, *scope.openers)
        while mark := (yield from r.until(marks, self.put)):
            spelled = r.last
            r.back()
            own = yield from self.ends(mark, len(spelled))
            if own is False and (mark in scope.ends or self.cut_short):
                break
            if own is not False:
                r.pos += len(spelled)
            if own is not None:
                if own and (mark in codec.others or not spelled.endswith(">")):
                    self.call.notice("variant" if mark in codec.others else "unclosed", r.at)
                return self.finish(own=own)
            self.put(spelled, r.at - len(spelled))
        return self.cut()

    def cut(self) -> str:
        """The text ended in the value."""
        self.call.missing = '"}' if self.begun else "{}" if self.first else "}"
        self.call.rest = "" if self.begun else "".join(self.text)
        return CUT

    def keep(self) -> None:
        """Newlines at the end of what was read are part of the value."""
        if self.codec.strip:
            return
        held, self.newlines = "".join(self.newlines), []
        if held and self.live:
            self.say(quote(held), self.r.at, self.r.at)
        elif held:
            self.text.append(held)

    def put(self, text: str, at: int) -> None:
        """A piece of the value, less the newlines that may be markup."""
        if self.begun and not self.newlines and len(text.rstrip(self.blanks)) == len(text):
            self.call.put(quote(text), at, at + len(text))
        elif self.newlines and not text.strip(self.blanks):
            self.newlines.append(text)
        else:
            held = "".join(self.newlines)
            self.newlines.clear()
            self.more(held + text, at - len(held))

    def more(self, text: str, at: int) -> None:
        """A piece of the value together with the newlines before it."""
        if self.fresh:
            if text == "\r":
                self.newlines.append(text)
                return
            lead = self.lead(text)
            at, text = at + lead, text[lead:]
            self.fresh = self.codec.strip and not text
        body = text.rstrip(self.blanks)
        if len(body) < len(text):
            self.newlines.append(text[len(body) :])
        if not body:
            return
        self.said = True
        if self.live is None:
            self.live = self.schema.kinds is None and body[0] not in _MAYBE_JSON
        if self.live:
            self.say(quote(body), at, at + len(body))
        else:
            self.text.append(body)

    def lead(self, text: str) -> int:
        """How much of the value's beginning is a newline (or all that is white) that belongs to the markup."""
        if self.codec.strip:
            return len(text) - len(text.lstrip())
        if not self.codec.lead:
            return 0
        return 2 if text.startswith("\r\n") else int(text.startswith("\n"))

    def say(self, text: str, start: int, end: int) -> None:
        """JSON of the value, behind its key and quote if these are still to come."""
        self.call.put(text if self.begun else self.open + '"' + text, start, end)
        self.begun = True

    def ends(self, mark: str, size: int) -> Steps[bool | None]:
        """Whether the mark at the cursor ends the value: True as its own, False as another's, None if it is data."""
        codec, r, scope = self.codec, self.r, self.call.scope
        if mark.removesuffix(">") == codec.closes.removesuffix(">"):
            after = yield from self.behind(scope.stop(codec.opens, *scope.openers), frozenset(), size)
            return True if after is not None else None
        if mark in scope.inner or (mark in scope.ends and r.specials is not None):
            return False
        if mark in codec.others:
            after = yield from self.outside(size, codec.opens)
            return True if after not in (None, codec.closes) else None
        if mark == codec.opens:
            return (yield from self.next_opens(size))
        if mark in scope.openers:
            return None
        return (yield from self.outer(size))

    def behind(self, marks: Stop, passed: frozenset[str], size: int) -> Steps[str | None]:
        """What stands behind a mark: another mark, "" for the end (also amid a mark), None for text."""
        after = yield from self.r.beyond(marks, passed, size)
        return "" if after is None and self.r.begun(marks, size) else after

    def next_opens(self, size: int) -> Steps[bool | None]:
        """Whether an opening tag inside the value is that of the next parameter."""
        inline = self.said and not self.newlines
        if inline and not self.codec.compact:
            return None
        key, end, ended = yield from self.codec.key(self.r, size)
        if not ended or key not in self.call.schema.properties() - self.given:
            return None
        return self.left() if not inline or (yield from self.codec.whole(self.r, end)) else None

    def outer(self, size: int) -> Steps[bool | None]:
        """Whether a mark that closes the call ends the value too: only such marks, a next call or the end may follow."""
        after = yield from self.outside(size)
        if after is None or after == self.codec.closes:
            return None
        self.cut_short = not after and self.call.cut
        return self.left()

    def outside(self, size: int, *own: str) -> Steps[str | None]:
        """What stands behind a mark and any that close: a next call or, if it is in `own`, a next parameter."""
        scope = self.call.scope
        passed = frozenset((*scope.closers, *scope.ends))
        return (yield from self.behind(scope.stop(self.codec.closes, *own, *scope.openers), passed, size))

    def unwrap(self, text: str) -> bool:
        """All arguments as the one value of a parameter that the tool does not have."""
        value, _ = typed(text, self.call.schema)
        try:
            keys = strict_json(value)
        except ValueError:
            return False
        if not isinstance(keys, dict) or not self.call.schema.properties().issuperset(keys):
            return False
        self.given.clear()
        self.given.update(keys)
        self.call.notice("repaired", self.r.at)
        self.call.put(value.strip()[:-1] if keys else "", self.r.at, self.r.at)
        return True

    def left(self) -> bool:
        """The value ends without its own close tag."""
        self.call.notice("unclosed", self.r.at)
        return False

    def finish(self, *, own: bool) -> str:
        """The value is whole."""
        rest = "".join(self.newlines) if own and not self.codec.strip else ""
        if self.codec.trail:
            rest = rest.removesuffix("\n").removesuffix("\r")
        at = self.r.at
        if self.live:
            self.say(quote(rest) + '"', at, at)
            return WHOLE
        text = "".join(self.text) + rest
        if self.wraps and self.unwrap(text):
            return WHOLE
        value, right = typed(text.strip() if self.codec.strip else text, self.schema)
        if not right:
            self.call.notice("untyped", at, "".join(self.text))
        self.call.put(self.open + value, at, at)
        return WHOLE
