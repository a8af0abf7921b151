import os
import re
import subprocess
import sys

import pytest

import dragoman.cli
from dragoman.cli.app import COMMANDS
from dragoman.errors import Broken, RequestError
from dragoman.version import __version__


def test_version(cli):
    ran = cli("--version")
    assert (ran.status, ran.out, ran.err) == (0, f"dragoman {__version__}\n", "")


def test_help_names_every_command(cli):
    ran = cli("--help")
    assert ran.status == 0
    for name in COMMANDS:
        assert re.search(rf"^\W*{name}\b", ran.out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(cli, name):
    ran = cli(name, "--help")
    assert ran.status == 0
    assert ran.out.startswith(f"Usage: dragoman {name}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["decod"], "did you mean decode?"),
        (["zzz"], ", ".join(COMMANDS)),
        (["--zzz"], "--zzz"),
        (["decode", "--dialec", "x"], "--dialect"),
        (["decode", "--finish", "soon"], "soon"),
    ],
)
def test_wrong_words_are_one_line_and_status_2(cli, words, said):
    ran = cli(*words)
    assert ran.status == 2
    assert ran.out == ""
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status"),
    [(Broken("it died", hint="start it again"), 1), (RequestError("no"), 2), (KeyboardInterrupt(), 130)],
)
def test_errors_become_a_status(cli, monkeypatch, error, status):
    def fail(_):
        raise error

    monkeypatch.setattr(dragoman.cli, "_run", fail)
    ran = cli()
    assert ran.status == status
    assert ran.err == (f"dragoman: {error}\n" if status < 100 else "")


def test_a_missing_package_names_its_extra(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "cyclopts", None)
    monkeypatch.delitem(sys.modules, "dragoman.cli.app", raising=False)
    monkeypatch.delattr(dragoman.cli, "app", raising=False)
    ran = cli("dialects")
    assert ran.status == 2
    assert "pip install 'dragoman[cli]'" in ran.err


def test_a_fault_of_ours_is_not_hidden(cli, monkeypatch):
    def fail(_):
        raise ModuleNotFoundError("No module named 'dragoman.oops'", name="dragoman.oops")

    monkeypatch.setattr(dragoman.cli, "_run", fail)
    with pytest.raises(ModuleNotFoundError):
        cli()


def test_a_closed_pipe_ends_it_quietly():
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(
        [sys.executable, "-m", "dragoman", "dialects"], check=False, stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert ran.stderr == b""
    assert ran.returncode == 0
