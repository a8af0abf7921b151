"""Header: what stands before each message of a framed dialect, its parts in any order.

    <|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>
    <|im_start|>assistant/think
    <|message_model|>f<|content_invoke_tool_json|>

A header is read whole and answers which block opens (`Route`).  What it names is a channel or a tool:

*   behind a mark of its own (`channel`), or behind the role;
*   as a recipient (`to=`), which is a channel's name or else a tool's;
*   by the mark that ends the header, where each kind of message has its own.

It is read leniently: the last channel whose word begins with a known name counts, and the last recipient that is not
the assistant; other words are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

__all__ = ["Header", "Part", "Route"]


@dataclass(slots=True)
class Part:
    """A mark of a header ("" before the first one), where the text behind it begins, and that text."""

    mark: str
    at: int
    text: str = ""


_RECIPIENT = re.compile(r"\bto\s?[=:]\s?([\w.\-/]+)")
_NOISE = "-?.,:;!*#_ "


@dataclass(frozen=True, slots=True)
class Route:
    """Where a message goes: `content` or `reasoning` with its phase, or a `call` of `name` whose body is of `type`.

    `drop`: nowhere.  `builtin`: to a tool of the model's own that was not offered.
    `rest`: text behind the channel's name that is no part of a header, and `at`, where it stands.
    `known`: the channel is one of the dialect's.
    """

    kind: str
    phase: str = ""
    name: str = ""
    type: str = ""
    rest: str = ""
    at: int = 0
    known: bool = True


@dataclass(frozen=True, eq=False)
class Header:
    """The codec of message headers.

    Args:
        start: the mark that begins a message; the role stands behind it.
        role: the role that is the model itself.
        channel: the mark before a channel's name; "" where the name stands behind the role, or is a recipient.
        message: the mark that ends a header.
        noise: marks in a header that only separate.
        closes: marks that end a message.
        channels: channel -> (`reasoning`, `content`, `call` or `drop`, phase, or `code` for a call); the last one is
            what an unnamed channel means.  A channel that is a mark ends the header, like `message`.
        prefix: what stands before a tool's name in a recipient.
        addressed: headers may name a recipient (`to=`).
        builtins: recipients that are tools of the model's own.
        named: what stands where the channel's name should, and is none, is the name of a tool.
        lines: a header ends with its line, and `message` may follow.
        plain: `start` is ordinary text: it counts at the beginning of a line, before a name that is alone on its line.
        code: tools whose body may be raw code.
    """

    start: str
    role: str
    channel: str
    message: str
    noise: tuple[str, ...]
    closes: tuple[str, ...]
    channels: Mapping[str, tuple[str, str]]
    prefix: str = ""
    addressed: bool = True
    builtins: re.Pattern[str] = field(default=re.compile("(?!)"))
    named: bool = False
    lines: bool = False
    plain: bool = False
    code: tuple[str, ...] = ()

    @cached_property
    def opens(self) -> tuple[str, ...]:
        """The channels that are marks."""
        return tuple(name for name in self.channels if name.startswith("<"))

    @cached_property
    def begins(self) -> tuple[str, ...]:
        """The marks that begin a header."""
        return tuple(filter(None, (self.start, self.channel, *self.opens)))

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """All marks of frames."""
        every = (self.start, self.channel, self.message, *self.noise, *self.opens, *self.closes)
        return tuple(dict.fromkeys(filter(None, every)))

    def parted(self, template: str) -> tuple[str, str]:
        """The header of a block's template, and its body."""
        ends = (self.message or "\n" * self.lines, *self.opens)
        found = [template.index(mark) + len(mark) for mark in ends if mark and mark in template]
        at = min(found, default=0)
        return template[:at], template[at:]

    def read(self, text: str, declared: Callable[[str], bool]) -> Route:
        """Where the message of a whole header goes."""
        pieces = re.split("(" + "|".join(map(re.escape, self.marks)) + ")", text)
        parts = [Part(mark, 0, words) for mark, words in zip(["", *pieces[1::2]], pieces[::2], strict=True)]
        return self.route(parts[:-1] if parts[-1].mark in self.opens else parts, declared, parts[-1].mark)

    # recipients

    def recipient(self, parts: list[Part]) -> str:
        """Who a message is for, "" if nobody is named."""
        found = self._recipients(parts)
        return found[-1].rstrip(".") if found else ""

    def _recipients(self, parts: list[Part]) -> list[str]:
        if self.named:
            return [part.text.split()[0] for part in parts if part.mark == self.channel and part.text.strip()]
        if not self.addressed:
            return []
        return [name for part in parts for name in _RECIPIENT.findall(self.bare(part.text)) if name != self.role]

    # channels

    def known(self, word: str) -> str:
        """The channel that a word names, "" if none."""
        if self.named:
            return word.strip() if word.strip() in self.channels else ""
        word = word.lstrip(_NOISE)
        return next((name for name in self.channels if name and word.startswith(name.lstrip(_NOISE))), "")

    def route(self, parts: list[Part], declared: Callable[[str], bool], mark: str = "") -> Route:
        """Which block the message of this header opens; `mark` ended it."""
        target = self.recipient(parts)
        if mark in self.opens:
            kind, phase = self.channels[mark]
            name = self.tool(self.bare(parts[-1].text).strip(), declared) if kind == "call" else ""
            return Route(kind, "" if kind == "call" else phase, name, phase if kind == "call" else "")
        if target and target not in self.channels:
            name = self.tool(target, declared)
            own = self.builtins.fullmatch(target) is not None and not declared(name)
            return Route("builtin" if own else "call", name=name, type=self._type(parts, name))
        named = [(self.known(part.text), part) for part in parts if self.channel and part.mark == self.channel]
        named = [(name, part) for name, part in named if name] or self._unmarked(parts, target)
        channel, part = named[-1] if named else ("", parts[-1])
        kind, phase = self.channels.get(channel, (list(self.channels.values())[-1][0], ""))
        strange = not channel and part.mark == self.channel and bool(self.channel)
        rest = part.text.partition(channel)[2] if channel else part.text * strange
        return Route(kind, phase, rest=rest, at=part.at + len(part.text) - len(rest), known=bool(channel))

    def _unmarked(self, parts: list[Part], target: str) -> list[tuple[str, Part]]:
        """A channel's name without its mark: as a recipient, or behind the role."""
        if target:
            return [(target, part) for part in parts if target in part.text]
        return [(name, part) for part in parts if (name := self.known(self.bare(part.text)))]

    def tool(self, target: str, declared: Callable[[str], bool]) -> str:
        """The tool's name: not doubled (`f.f`), without prefix, namespace, or a channel's name that ran into it."""
        name = target.removeprefix(self.prefix)
        if declared(target) or declared(name):
            return name if declared(name) else target
        half = name[: len(name) // 2]
        if half and name == f"{half}.{half}":
            return half
        run_into = (name.removesuffix(channel) for channel in self.channels if channel and self.addressed)
        return next(filter(declared, (name.rpartition(".")[2], *run_into)), name)

    def _type(self, parts: list[Part], name: str) -> str:
        return "code" if name in self.code or "code" in self._words(parts) else ""

    def _words(self, parts: list[Part]) -> list[str]:
        return " ".join(_RECIPIENT.sub(" ", self.bare(part.text)) for part in parts).split()

    def strange(self, parts: list[Part]) -> str:
        """The words of a header that mean nothing, and the recipients that a later one replaced."""
        *others, last = self._recipients(parts) or [""]
        usual = {self.role, "json", "code", "xml", last} | {word for name in self.channels for word in name.split()}
        words = [word for word in self._words(parts) if word not in usual and not self.known(word)]
        return " ".join(dict.fromkeys([*(other for other in others if other != last), *words]))

    # what may be a header

    def likely(self, text: str, tool: Callable[[str], bool] = lambda _: False) -> bool:
        """Whether text without any mark may still be a header; `tool`: whether text may become a tool's name."""
        text = self.bare(text)
        if not text or self.role.startswith(text):
            return True
        if self.addressed and not self.named and ("to=".startswith(text) or text.startswith("to=")):
            return True
        if (self.named or self.opens) and tool(text.strip()):
            return True
        words = [name.strip() for name in self.channels if name and name not in self.opens]
        return any(word.startswith(text) or text.startswith(word + " to=") for word in words) or any(
            text.startswith(word) and (word + " to=").startswith(text) for word in words
        )

    def bare(self, text: str) -> str:
        """Text without the role in front of it, which may stand there twice."""
        for _ in range(2):
            text = text.lstrip().removeprefix(self.role)
        return text.lstrip()

    def foreign(self, parts: list[Part]) -> bool:
        """Whether the header is that of somebody else: the model invents a tool's or a user's message."""
        text = parts[0].text.strip().lstrip(_NOISE) if parts[0].mark == self.start else ""
        if not text or text.casefold().startswith((self.role, "to=")):
            return False
        return not ((self.channel or not self.addressed) and self.known(text))

    def spoken(self, text: str) -> bool:
        """Whether text that stands where a header should says anything."""
        text = self.bare(text)
        return bool(text) and not (not self.channel and text.strip() in {name.strip() for name in self.channels})
