"""Header: what stands before each message of a framed dialect, its parts in any order.

    <|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>

A header is read whole and answers which block opens (`Route`).  It is read leniently: the last channel whose word
begins with a known name counts, and the last recipient that is not the assistant; other words are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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

    `builtin`: to a tool of the model's own that was not offered.
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
        channel: the mark before a channel's name.
        message: the mark that ends a header.
        noise: marks in a header that only separate.
        closes: marks that end a message.
        channels: channel -> (`reasoning` or `content`, phase); the last one is what an unnamed channel means.
        prefix: what stands before a tool's name in a recipient.
        builtins: recipients that are tools of the model's own.
    """

    start: str
    role: str
    channel: str
    message: str
    noise: tuple[str, ...]
    closes: tuple[str, ...]
    channels: Mapping[str, tuple[str, str]]
    prefix: str = ""
    builtins: re.Pattern[str] = field(default=re.compile("(?!)"))

    def recipient(self, parts: list[Part]) -> str:
        """Who a message is for, "" if nobody is named."""
        found = self._recipients(parts)
        return found[-1].rstrip(".") if found else ""

    def _recipients(self, parts: list[Part]) -> list[str]:
        return [name for part in parts for name in _RECIPIENT.findall(self.bare(part.text)) if name != self.role]

    def known(self, word: str) -> str:
        """The channel that a word names, "" if none."""
        word = word.lstrip(_NOISE)
        return next((name for name in self.channels if word.startswith(name)), "")

    def route(self, parts: list[Part], declared: Callable[[str], bool]) -> Route:
        """Which block the message of this header opens."""
        named = [(self.known(part.text), part) for part in parts if part.mark == self.channel]
        named = [(name, part) for name, part in named if name] or self._unmarked(parts)
        channel, part = named[-1] if named else ("", parts[-1])
        target = self.recipient(parts)
        if target:
            name = self._tool(target, declared)
            own = self.builtins.fullmatch(target) is not None and not declared(name)
            return Route("builtin" if own else "call", name=name, type=self._type(parts))
        kind, phase = self.channels.get(channel, (list(self.channels.values())[-1][0], ""))
        strange = not channel and part.mark == self.channel
        rest = part.text.partition(channel)[2] if channel else part.text * strange
        return Route(kind, phase, rest=rest, at=part.at + len(part.text) - len(rest), known=bool(channel))

    def _unmarked(self, parts: list[Part]) -> list[tuple[str, Part]]:
        """A channel's name without its mark."""
        return [(name, part) for part in parts if (name := self.known(self.bare(part.text)))]

    def _tool(self, target: str, declared: Callable[[str], bool]) -> str:
        name = target.removeprefix(self.prefix)
        return target if declared(target) and not declared(name) else name

    def _type(self, parts: list[Part]) -> str:
        return "code" if "code" in self._words(parts) else ""

    def _words(self, parts: list[Part]) -> list[str]:
        return " ".join(_RECIPIENT.sub(" ", self.bare(part.text)) for part in parts).split()

    def strange(self, parts: list[Part]) -> str:
        """The words of a header that mean nothing, and the recipients that a later one replaced."""
        usual = (self.role, "json", "code", *self.channels)
        *others, last = self._recipients(parts) or [""]
        words = [word for word in self._words(parts) if word not in usual and not self.known(word)]
        return " ".join([*(other for other in others if other != last), *words])

    def likely(self, text: str) -> bool:
        """Whether text without any mark may still be a header."""
        text = self.bare(text)
        if not text or self.role.startswith(text) or "to=".startswith(text) or text.startswith("to="):
            return True
        return any(name.startswith(text) or text.startswith(name + " to=") for name in self.channels) or any(
            text.startswith(name) and (name + " to=").startswith(text) for name in self.channels
        )

    def bare(self, text: str) -> str:
        """Text without the role in front of it, which may stand there twice."""
        for _ in range(2):
            text = text.lstrip().removeprefix(self.role)
        return text.lstrip()

    def foreign(self, parts: list[Part]) -> bool:
        """Whether the header is that of somebody else: the model invents a tool's or a user's message."""
        words = parts[0].text.split() if parts[0].mark == self.start else []
        word = words[0].lstrip(_NOISE).casefold() if words else self.role
        return not (word.startswith((self.role, "to=")) or self.known(word))

    def stripped(self, text: str) -> str:
        """The channel whose name begins text that lost its marks (`analysisJust ..`), "" if there is none."""
        text = self.bare(text)
        for name, (kind, _) in self.channels.items():
            follows = text[len(name) : len(name) + 1]
            if text.startswith(name) and follows and (kind == "reasoning" or not follows.islower()):
                return "" if follows.isspace() or follows in ".,:;!?'\")-" else name
        return ""
