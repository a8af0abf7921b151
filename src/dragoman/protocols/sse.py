"""Server-sent events: frames to write, and a reader that takes bytes as they come.

Written: optional `event:`, one `data:` line, a blank line; never `id:` or `retry:` (legal, but they break clients).
Read: all that the standard allows (LF, CR, CRLF, comments, several data lines, a byte order mark, characters cut
anywhere) and one thing more: an event that the end of the stream cuts off before its blank line still counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import Broken

__all__ = ["DONE", "HEADERS", "LIMIT", "Message", "Reader", "comment", "frame", "too_long"]

DONE = b"data: [DONE]\n\n"
HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
}
LIMIT = 16 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"


def frame(data: bytes, event: str = "") -> bytes:
    """One event; `data` is on one line."""
    name = b"event: %b\n" % event.encode() if event else b""
    return b"%bdata: %b\n\n" % (name, data)


def comment(text: str = "") -> bytes:
    """A line that every reader skips: keeps a connection alive."""
    return b": %b\n\n" % " ".join(text.split()).encode(errors="replace")


def too_long(limit: int) -> Broken:
    """The error of an event or a line that does not end."""
    return Broken(f"an event of the stream is longer than {limit} bytes")


@dataclass(slots=True)
class Message:
    """An event that was read: its data, and its name ("" if it has none)."""

    data: str
    event: str = ""


class Reader:
    """Bytes in, messages out.  An event longer than `limit` bytes raises `Broken`."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._rest: list[bytes] = []
        self._data: list[str] = []
        self._size = 0
        self._event = ""
        self._after_cr = False
        self._begun = False

    @property
    def idle(self) -> bool:
        """It stands between two events."""
        return not (self._rest or self._data or self._event or self._after_cr)

    def feed(self, data: bytes) -> list[Message]:
        """Read on, and give the events that are now whole.

        Raises:
            Broken: an event is longer than the limit.
        """
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        messages = self._read(data) if data else []
        if self._size > self._limit:
            raise too_long(self._limit)
        return messages

    def close(self) -> list[Message]:
        """The stream has ended: give the event that its end cut off, if any."""
        line, self._rest = b"".join(self._rest), []
        return [*self._line(line), *self._line(b"")]

    def _read(self, data: bytes) -> list[Message]:
        lines = data.splitlines()
        self._after_cr = data.endswith(b"\r")
        rest = b"" if data.endswith((b"\n", b"\r")) else lines.pop()
        if lines and self._rest:
            lines[0] = b"".join((*self._rest, lines[0]))
            self._rest.clear()
        messages = [message for line in lines for message in self._line(line)]
        if lines:
            self._size = sum(map(len, self._data))
        if rest:
            self._rest.append(rest)
            self._size += len(rest)
        return messages

    def _line(self, line: bytes) -> list[Message]:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        if name in (b"data", b"event"):
            self._field(name, value.removeprefix(b" ").decode(errors="replace"))
        return []

    def _field(self, name: bytes, value: str) -> None:
        if name == b"data":
            self._data.append(value)
        else:
            self._event = value

    def _dispatch(self) -> list[Message]:
        data, event = self._data, self._event
        self._data, self._event = [], ""
        return [Message("\n".join(data), event)] if data else []
