"""The sink of a call, and the tools that are on offer.

A call with a declared name goes out as it comes.  Where it is not clear yet whether it is one, its events wait:

*   An undeclared name behind an explicit mark waits until its body has proved good; a bad one was text.
*   A recovery form in the middle of the content waits for its close mark.
*   A call in open reasoning waits for what follows it.

What waits is a call at the latest when `PATIENCE` characters have been read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from ..events import CallEnd, CallStart
from ..messages import Tool
from .codecs.values import Output, Values
from .kinds import ANY, Schema
from .plan import Scope
from .reader import LONGEST
from .sink import Sink

__all__ = ["PATIENCE", "CallSink", "Policy", "Tools", "tool_of"]

PATIENCE = 32 * 1024

_SPACES = frozenset(("functions", "function", "tools", "tool", "default_api", "api"))


@dataclass(frozen=True, slots=True)
class Policy:
    """How lenient decoding is; every leniency that was used leaves a `Notice`.

    Args:
        recover: when a call without its opening mark counts: `strict` never, `turn-start` at the beginning of a turn
            (and with its close mark at a line start), `anywhere` at any line start.
        unknown: what becomes of a call to a tool that was not offered: `deliver`, `text` (it stays content),
            or `refuse` (it is dropped, with a `Notice`).
        repair: whether bodies are mended (trailing commas, Python words and quotes, raw newlines, double encoding).

    Raises:
        UsageError: a value is none of these.
    """

    recover: str = "turn-start"
    unknown: str = "deliver"
    repair: bool = True

    def __post_init__(self) -> None:
        _one_of("recover", self.recover, ("strict", "turn-start", "anywhere"))
        _one_of("unknown", self.unknown, ("deliver", "text", "refuse"))


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"policy {name}={value!r}: use one of {', '.join(allowed)}")


def tool_of(tool: Tool | Mapping[str, Any]) -> Tool:
    """A tool, also from its OpenAI (nested or flat) or Anthropic shape.

    Raises:
        UsageError: it has no name, or parameters that are no object.
    """
    if isinstance(tool, Tool):
        return tool
    inner = tool.get("function", tool)
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise UsageError(f"a tool needs a name: {tool!r:.200}")
    schema, told = inner.get("parameters") or inner.get("input_schema") or {}, inner.get("description") or ""
    if not isinstance(schema, Mapping) or not isinstance(told, str):
        raise UsageError(f"a tool's parameters are an object, its description is a text: {tool!r:.200}")
    return Tool(inner["name"], told, schema, bool(inner.get("strict")))


class Tools:
    """The tools on offer; `known` is False where nobody told which there are."""

    __slots__ = ("by_name", "known", "schemas")

    def __init__(self, tools: Iterable[Tool | Mapping[str, Any]] | None) -> None:
        self.known = tools is not None
        self.by_name = {tool.name: tool for tool in map(tool_of, tools or ())}
        self.schemas: dict[str, Schema] = {}

    def schema(self, name: str) -> Schema:
        """The schema of a tool's arguments."""
        if name not in self.schemas:
            tool = self.by_name.get(name)
            self.schemas[name] = Schema(tool.parameters) if tool is not None else ANY
        return self.schemas[name]

    def only(self, keys: Iterable[str]) -> str:
        """The name of the only tool that has all these keys, or ""."""
        wanted = frozenset(keys)
        found: Iterator[str] = (name for name in self.by_name if wanted and wanted <= self.schema(name).properties())
        name = next(found, "")
        return "" if next(found, "") else name


class CallSink:
    """Where a codec puts a call: `begin`, then `put` any number of times, then `end`.

    `recovered`: only a declared name makes it a call.  `repair`: the codec may mend.  `cut`: the text ended by a limit.
    `hint`: the name that a header told.  `lenience`: the `Notice` that its form deserves, and `began`, where it begins.
    `put(json, start, end)`: a piece of the arguments, and the raw text it came from.
    `nested`: the arguments stand in a string, which was undone already.
    `id`: what stands where its name should.  `empty`: its opening tag closed itself.  `scope`: what may stand behind the payload.  `schema`: that of the arguments, once the name is known.
    `doubt`: asked for a name that was not offered; it lets the events wait, or refuses.
    """

    __slots__ = (
        "_cut", "began",
        "completed", "doubt", "empty", "flawed", "hint", "id", "index",
        "lenience", "live", "missing", "name", "nested", "open", "policy", "put", "recovered", "rest",
        "schema", "scope", "sink", "tools",
    )  # fmt: skip

    def __init__(
        self, sink: Sink, tools: Tools, policy: Policy, index: int, doubt: Callable[[str], bool],
        live: Callable[[], None], cut: Callable[[], bool],
    ) -> None:  # fmt: skip
        self.sink, self.tools, self.policy, self.index, self.doubt, self.live = sink, tools, policy, index, doubt, live
        self._cut = cut
        self.put: Output = sink.args
        self.nested = self.empty = False
        self.recovered = self.open = self.completed = False
        self.scope = _NOTHING
        self.schema = ANY
        self.began = 0
        self.name = self.hint = self.id = self.lenience = self.flawed = self.missing = self.rest = ""

    @property
    def repair(self) -> bool:
        """Whether bodies are mended."""
        return self.policy.repair

    @property
    def cut(self) -> bool:
        """Whether the text ended by a limit or a failure, not by itself."""
        return self._cut()

    def declared(self, name: str) -> bool:
        """Whether a tool of this name is on offer."""
        return name in self.tools.by_name

    def begin(self, name: str, id: str = "") -> bool:
        """The call's name is known; False if that makes it no call."""
        if not self.declared(name):
            name = self._without_space(name)
        if not self.declared(name) and not self._undeclared(name):
            return False
        self.name, self.schema = name, self.tools.schema(name)
        self.open = True
        self.missing = "{}"
        self.flawed = self.rest = ""
        self.live()
        if self.lenience:
            self.sink.notice(self.lenience, self.began)
            self.lenience = ""
        self.sink.index = self.index
        self.sink.out.append(CallStart(self.index, id, name, self.sink.call()))
        return True

    def _without_space(self, name: str) -> str:
        """The declared name behind the word for where tools live (`functions.f`)."""
        space, _, own = name.partition(".")
        return own if space in _SPACES and self.declared(own) else name

    def _undeclared(self, name: str) -> bool:
        return 0 < len(name) <= LONGEST and not self.recovered and self.doubt(name)

    def notice(self, code: str, at: int, raw: str = "") -> None:
        """Something to tell about this call."""
        self.sink.notice(code, at, raw)

    def follow(self, values: Values) -> None:
        """How far the reader of the arguments came."""
        self.missing, self.rest = values.missing(), values.pending
        self.flawed = self.flawed or values.flawed
        for code in {values.noted, values.flawed} - {""}:
            self.sink.notice(code, values.at)

    def take_rest(self) -> str:
        """What waited when the reader of the arguments gave up."""
        rest, self.rest = self.rest, ""
        return rest

    def end(self, *, complete: bool = True, whole: bool = True) -> None:
        """The call ends, if one is open; `whole`: its payload was read to its end."""
        if not self.open:
            return
        missing = "" if complete else self.missing
        self.sink.flush()
        self.sink.out.append(CallEnd(self.index, complete, whole and not self.flawed, missing))
        self.open = False
        self.completed = self.completed or complete
        self.index += 1


_NOTHING = Scope((), (), ())
