"""The tools of a terminal chat: a file says what they are, and what runs for them.

    [{"type": "function", "function": {"name": "get_weather", "parameters": {...}},
      "command": ["python", "weather.py"]}]

A command gets the arguments as JSON on its standard input; what it prints is the result.  Nothing runs unasked.
A tool without a command is played by the user.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import UsageError
from ..messages import Call
from .case import offered
from .files import load

__all__ = ["Toolbox"]

_PATIENCE = 60.0  # seconds that a command gets
_MOST = 100_000  # characters of a result


class Toolbox:
    """Tools, and what runs for them.

    Args:
        source: a file with a list of tools, or that list itself as JSON.
        ask: asks the user a question; the answer, or "" for none.
        trusted: run commands without asking.
    """

    def __init__(self, source: str, ask: Callable[[str], str], *, trusted: bool = False) -> None:
        tools = list(offered(load(source)) or ()) if source else []
        self._commands = {_name(tool): _command(tool) for tool in tools}
        self.tools = [{key: value for key, value in tool.items() if key != "command"} for tool in tools]
        self._ask, self._trusted = ask, trusted

    def run(self, call: Call) -> str:
        """The result of a call."""
        command = self._commands.get(call.name)
        if call.name not in self._commands:
            return f"error: there is no tool {call.name!r}"
        if not call.valid:
            return "error: the arguments are no JSON object"
        if not command:
            return self._ask(f"result of {call.name}> ")
        if not self._trusted and not self._ask(f"run {' '.join(command)}? [y/N] ").lower().startswith("y"):
            return "error: the user did not allow this call"
        return _run(command, call.arguments)


def _run(command: list[str], arguments: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 (the user's own file names it, and the user was asked)
            command,
            input=arguments,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"error: {error}"
    text = done.stdout if done.returncode == 0 else f"error: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return text[:_MOST]


def _name(tool: Mapping[str, Any]) -> str:
    function = tool.get("function", tool)
    name = function.get("name") if isinstance(function, Mapping) else None
    if not isinstance(name, str) or not name:
        raise UsageError("a tool has no name")
    return name


def _command(tool: Mapping[str, Any]) -> list[str]:
    command = tool.get("command", [])
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        raise UsageError(f"the command of the tool {_name(tool)!r} is a list of words")
    return command
