"""The command line, run in this process."""

import io
import sys
from dataclasses import dataclass

import pytest

from dragoman.cli import main


@dataclass
class Ran:
    status: int
    out: str
    err: str


@pytest.fixture
def cli(capsys, monkeypatch):
    """`cli("decode", "-", stdin=b"...")` runs it."""

    def run(*words, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return run
