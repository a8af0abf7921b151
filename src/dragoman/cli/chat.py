"""`dragoman chat`: a conversation in the terminal with any server that speaks Chat Completions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from ..errors import UsageError
from ..events import CallArgs, CallEnd, CallStart, Content, Event, Finish, Reasoning
from ..state.place import data
from .conversation import Conversation, base
from .files import STDIN, dump, read
from .toolbox import Toolbox

__all__ = ["chat"]

_TURNS = 20  # answers to one message: a model that calls and calls is stopped
_HELP = """/new  forget the conversation     /undo  take the last message back     /save FILE  write it as JSON
/quit or Ctrl-D  leave            Ctrl-C  stop the answer                  end a line with \\ to go on in the next"""


def chat(
    url: str = "http://127.0.0.1:8000",
    /,
    *,
    message: Annotated[str, Parameter(alias="-m")] = "",
    model: str = "",
    system: str = "",
    tools: str = "",
    yes: bool = False,
    temperature: float | None = None,
    max_tokens: int | None = None,
    api_key: Annotated[str, Parameter(env_var="DRAGOMAN_API_KEY", show_default=False)] = "",
) -> int:
    """Talk to a model: reasoning dimmed, calls as they grow, what was noticed, how fast it was.

    In a pipe, standard input is the message, and only the answer's text is printed.

    Args:
        url: The server, such as http://127.0.0.1:8000.
        message: Say this, print the answer, and end.
        model: The model; by default the first that the server lists.
        system: The system message.
        tools: A JSON file of tools; `command` in a tool is what runs for it, after you said yes.
        yes: Run commands of tools without asking.
        temperature: As in the request.
        max_tokens: As in the request.
        api_key: The server's key.
    """
    settings = {"temperature": temperature, "max_tokens": max_tokens}
    box = Toolbox(tools, _ask, trusted=yes)
    talk = Conversation(
        base(url), api_key, model, box.tools, {key: value for key, value in settings.items() if value is not None}
    )
    if system:
        talk.messages.append({"role": "system", "content": system})
    piped = not sys.stdin.isatty()
    said = message or (read(STDIN).strip() if piped else "")
    if said or piped:
        return _once(talk, box, said)
    _forever(talk, box)
    return 0


def _once(talk: Conversation, box: Toolbox, said: str) -> int:
    """One message; to a pipe only the text of the answer."""
    if not said:
        raise UsageError("nothing was said: standard input is empty, and there is no --message")
    show = Screen() if sys.stdout.isatty() else Pipe()
    talk.messages.append({"role": "user", "content": said})
    return 0 if _answers(talk, box, show) else 1


def _forever(talk: Conversation, box: Toolbox) -> None:
    """Messages from the terminal, until it ends."""
    show = Screen()
    with suppress(ImportError):
        _remember()
    show.note(f"{talk.pick()} at {talk.url}; /help tells the commands")
    while (said := _read()) is not None:
        if said.startswith("/"):
            if _command(said, talk, show):
                return
        elif said.strip():
            talk.messages.append({"role": "user", "content": said})
            _answers(talk, box, show)


def _answers(talk: Conversation, box: Toolbox, show: Screen | Pipe) -> bool:
    """Answers until the model calls no more tools; whether it went well."""
    for _ in range(_TURNS):
        try:
            for event in talk.ask():
                show.event(event)
        except KeyboardInterrupt:
            show.end("stopped")
            return False
        if talk.turn.error is not None:
            show.end(str(talk.turn.error))
            return False
        show.end("; ".join([str(talk.pace), *talk.notices()]) if isinstance(show, Screen) else "")
        calls = [call for call in talk.turn.calls if call.complete]
        if not calls:
            return True
        talk.results([(call, box.run(call)) for call in calls])
    show.end(f"stopped after {_TURNS} answers with calls")
    return False


class Screen:
    """Shows a turn to a person."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._kind = ""

    def event(self, event: Event) -> None:
        """Show what came."""
        match event:
            case Content():
                self._text("content", event.text, "")
            case Reasoning():
                self._text("reasoning", event.text, "dim italic")
            case CallStart():
                self._text(f"call {event.index}", f"{event.name} ", "yellow bold")
            case CallArgs():
                self._text(f"call {event.index}", event.json, "yellow")
            case CallEnd() if not event.complete:
                self._text("", " (cut)", "red")
            case Finish() if event.reason in ("length", "filter"):
                self._text("", f" ({event.reason})", "red")

    def _text(self, kind: str, text: str, style: str) -> None:
        if kind and self._kind and kind != self._kind:
            self._console.out("")
        self._kind = kind or self._kind
        self._console.out(_harmless(text), style=style or None, end="", highlight=False)

    def end(self, words: str) -> None:
        """The turn is over."""
        if self._kind:
            self._console.out("")
        self._kind = ""
        self.note(words)

    def note(self, words: str) -> None:
        """Something about the turn."""
        if words:
            self._console.out(_harmless(words), style="dim cyan", highlight=False)


class Pipe:
    """Writes the text of answers, and nothing else, to standard output; what went wrong to standard error."""

    def __init__(self) -> None:
        self._written = False

    def event(self, event: Event) -> None:
        """Write what came."""
        if isinstance(event, Content):
            self._written = True
            coding = sys.stdout.encoding or "utf-8"
            print(event.text.encode(coding, "replace").decode(coding), end="", flush=True)

    def end(self, words: str) -> None:
        """The turn is over."""
        if self._written:
            print(flush=True)
        self._written = False
        if words:
            print(f"dragoman: {words}", file=sys.stderr)


def _harmless(text: str) -> str:
    """Text that cannot steer a terminal."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else dump(letter)[1:-1] for letter in text)


def _read() -> str | None:
    """A message from the terminal, None when it ends."""
    lines: list[str] = []
    try:
        while True:
            line = input("... " if lines else ">>> ")
            lines.append(line.removesuffix("\\"))
            if not line.endswith("\\"):
                return "\n".join(lines)
    except EOFError:
        print()
        return None
    except KeyboardInterrupt:
        print()
        return ""


def _ask(question: str) -> str:
    """Ask the user; without a terminal nobody can answer."""
    if not sys.stdin.isatty():
        return ""
    try:
        return input(question)
    except (EOFError, KeyboardInterrupt):
        print()
        return ""


def _remember() -> None:
    """History and editing of lines."""
    import atexit  # noqa: PLC0415 (only for terminals)
    import readline  # noqa: PLC0415 (Windows has none)

    place = data() / "chat-history"
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        readline.read_history_file(place)
    readline.set_history_length(1000)

    def save() -> None:
        with suppress(OSError):
            readline.write_history_file(place)

    atexit.register(save)


def _command(said: str, talk: Conversation, show: Screen) -> bool:
    """A command of the user; whether it was the last."""
    name, _, rest = said[1:].partition(" ")
    if name in ("quit", "exit", "q"):
        return True
    known: dict[str, Callable[[], Any]] = {
        "new": lambda: _forget(talk),
        "undo": lambda: _undo(talk),
        "save": lambda: _save(talk, rest.strip()),
    }
    show.note(str(known[name]()) if name in known else _HELP)
    return False


def _forget(talk: Conversation) -> str:
    talk.messages = [one for one in talk.messages if one["role"] == "system"]
    return "forgotten"


def _undo(talk: Conversation) -> str:
    users = [at for at, one in enumerate(talk.messages) if one["role"] == "user"]
    if not users:
        return "there is nothing to take back"
    del talk.messages[users[-1] :]
    return "taken back"


def _save(talk: Conversation, name: str) -> str:
    if not name:
        return "name a file: /save FILE"
    try:
        Path(name).expanduser().write_text(dump(talk.messages, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        return f"cannot write {name}: {error.strerror}"
    return f"written to {name}"
