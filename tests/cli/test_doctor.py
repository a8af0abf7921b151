from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.cli import main

SCRIPT = """
model = "demo"
dialect = "hermes-json"
[[turn]]
output = "Hello there, nice to meet you.<|im_end|>"
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    script = tmp_path_factory.mktemp("script") / "demo.toml"
    script.write_text(SCRIPT, "utf-8")
    command = [sys.executable, "-m", "dragoman", "serve", "--engine", "script", "--script", str(script), "--port", "0"]
    with subprocess.Popen([*command, "--state", "off"], text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield next(found[1] for text in process.stdout if (found := re.search(r"at (http://\S+)/v1", text)))
        process.terminate()


def test_a_good_server(url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    words = [
        "doctor",
        url,
        "--scenario",
        "plain",
        "--scenario",
        "streamed",
        "--protocol",
        "chat",
        "--junit",
        str(report),
    ]
    assert main(words) == 0
    told = capsys.readouterr()
    assert "chat        streamed" in told.err
    assert "2 passed, 0 with warnings, 0 failed" in told.out
    assert ET.parse(report).getroot()[0].get("tests") == "2"


def test_as_json(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", f"{url}/v1", "--scenario", "plain", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["url"], report["model"], report["verdict"]) == (url, "demo", "passed")
    assert len(report["results"]) == 5


def test_faults_are_an_exit_status(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is kept here, so one response cannot follow another."""
    assert main(["doctor", url, "--scenario", "followed", "--json"]) == 4
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert fault["rule"] == "R25"


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["doctor"], 2, "the URL of a server is missing"),
        (["doctor", "ftp://h"], 2, "is no URL of a server"),
        (["doctor", "http://127.0.0.1:9"], 1, "cannot be reached"),
        (["doctor", "http://127.0.0.1:9", "--scenario", "x"], 2, "no scenario 'x'"),
    ],
)
def test_what_goes_wrong_is_one_line(
    words: list[str], status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == status
    error = capsys.readouterr().err.strip().splitlines()
    assert error[-1].startswith("dragoman: ")
    assert told in error[-1]


def test_a_report_that_cannot_be_written(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", url, "--scenario", "plain", "--junit", "/nowhere/at/all.xml"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_the_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--scenarios"]) == 0
    assert "forced           a call that is forced" in capsys.readouterr().out
