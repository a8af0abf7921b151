"""The command line: `dragoman COMMAND ...`.

Exit statuses: 0 it worked, 1 it failed, 2 it was called wrongly, 3 `decode --check` found something
or `doctor` only warnings, 4 `doctor` found faults, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ..errors import DragomanError, RequestError, UsageError

__all__ = ["main"]

EXTRAS = {
    "cyclopts": "cli",
    "rich": "cli",
    "aiohttp": "server",
    "jinja2": "server",
    "msgspec": "server",
    "starlette": "server",
    "uvicorn": "server",
    "xllamacpp": "engine",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; what goes wrong is one line on standard error, never a traceback."""
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except (UsageError, RequestError) as error:
        return _complain(error, 2)
    except DragomanError as error:
        return _complain(error, 1)
    except ModuleNotFoundError as missing:
        return _complain(_extra(missing), 2)
    except BrokenPipeError:
        return _hush()
    except KeyboardInterrupt:
        return 130


def _run(argv: Sequence[str]) -> int:
    from .app import run  # noqa: PLC0415 (it needs cyclopts)

    status = run(argv)
    sys.stdout.flush()  # a closed pipe shows here, not at exit
    return status


def _complain(error: Exception, status: int) -> int:
    message = str(error).encode("utf-8", "backslashreplace").decode()
    print(f"dragoman: {message}", file=sys.stderr)
    return status


def _extra(missing: ModuleNotFoundError) -> UsageError:
    extra = EXTRAS.get((missing.name or "").partition(".")[0])
    if extra is None:
        raise missing
    return UsageError(f"this needs the package {missing.name!r}; install it with: pip install 'dragoman[{extra}]'")


def _hush() -> int:
    """The reader of our output left (`| head`): nothing more is written, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
