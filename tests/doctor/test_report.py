from __future__ import annotations

import io
import xml.etree.ElementTree as ET

from rich.console import Console

from dragoman.checks import CURES, RULES, Finding
from dragoman.doctor.report import json_report, junit_report, line, table
from dragoman.doctor.results import Result, Verdict, faults, worst

GRAVE, LIGHT = Finding("C2", "no role \x01", 0), Finding("C1", "another id", 3)
RESULTS = [
    Result("chat", "plain", "a short answer", "'Hi', ended by stop", seconds=0.25),
    Result("chat", "streamed", "a stream", "'Hi'", [LIGHT, GRAVE, LIGHT], seconds=1),
    Result("chat", "long", "a long one", "'Hi'", [LIGHT]),
    Result("messages", "schema", "a schema", "refused", skipped=True),
]


def test_verdicts() -> None:
    assert [str(result.verdict) for result in RESULTS] == ["passed", "failed", "warning", "skipped"]
    assert worst(RESULTS) is Verdict.FAILED
    assert worst(RESULTS[2:]) is Verdict.WARNING
    assert worst([]) is Verdict.SKIPPED


def test_faults_are_counted_and_the_grave_ones_come_first() -> None:
    found = faults(RESULTS)
    assert [(fault.rule.id, fault.count, fault.scenarios) for fault in found] == [
        ("C2", 1, ["streamed"]),
        ("C1", 3, ["streamed", "long"]),
    ]


def test_json() -> None:
    report = json_report("http://h", "m", RESULTS)
    assert report["verdict"] == "failed"
    assert report["counts"] == {"skipped": 1, "passed": 1, "warning": 1, "failed": 1}
    assert report["faults"][0]["severity"] == "error"
    assert report["faults"][0]["breaks"] == list(RULES["C2"].breaks)
    assert report["faults"][0]["cure"] == CURES["C2"]
    assert report["results"][1]["findings"][0] == {"rule": "C1", "message": "another id", "frame": 3}


def test_junit_is_read_by_build_servers() -> None:
    root = ET.fromstring(junit_report("m", RESULTS).partition("\n")[2])
    suites = root.findall("testsuite")
    assert [(suite.get("name"), suite.get("tests"), suite.get("failures")) for suite in suites] == [
        ("chat", "3", "1"),
        ("messages", "1", "0"),
    ]
    (failure,) = root.iter("failure")
    assert "no role ?" in str(failure.text)
    assert len(list(root.iter("skipped"))) == 1


def test_the_table_says_what_breaks_and_how_it_is_cured() -> None:
    out = io.StringIO()
    Console(file=out, width=200).print(table("http://h", "m", RESULTS))
    shown = out.getvalue()
    for words in ("C2", "no role", "openai-js", CURES["C2"][:30], "3 times, in streamed, long", "1 passed"):
        assert words in shown


def test_a_line() -> None:
    assert line(RESULTS[1]).plain.startswith("FAULT   chat        streamed")
    assert "C1 frame 3: another id" in line(RESULTS[1]).plain
