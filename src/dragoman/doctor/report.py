"""What was found, for people as a table, for programs as JSON, and for build servers as JUnit."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # writes only, reads nothing
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..checks import CURES
from .results import Fault, Result, Verdict, faults, worst

__all__ = ["json_report", "junit_report", "line", "table"]

_STYLES = {
    Verdict.SKIPPED: ("-", "dim"),
    Verdict.PASSED: ("ok", "green"),
    Verdict.WARNING: ("warning", "yellow"),
    Verdict.FAILED: ("FAULT", "bold red"),
}
_MOST = 200  # characters of a message in the table


def line(result: Result) -> Text:
    """One result on one line."""
    word, style = _STYLES[result.verdict]
    said = result.seen if result.verdict in (Verdict.SKIPPED, Verdict.PASSED) else str(result.findings[0])
    name = f"{result.protocol:12}{result.scenario:17}"
    return Text.assemble((f"{word:8}", style), name, (f"{result.seconds:6.1f} s  ", "dim"), " ".join(said.split()))


def table(url: str, model: str, results: Sequence[Result]) -> RenderableType:
    """The verdict, and every broken rule with what was seen, what it breaks and how it is cured."""
    found = faults(results)
    return Group(*([_table(found)] if found else []), _summary(url, model, results))


def json_report(url: str, model: str, results: Sequence[Result]) -> dict[str, Any]:
    """Everything as a value."""
    return {
        "url": url,
        "model": model,
        "verdict": str(worst(results)),
        "counts": _counts(results),
        "faults": [_fault(fault) for fault in faults(results)],
        "results": [_result(result) for result in results],
    }


def junit_report(model: str, results: Iterable[Result]) -> str:
    """The results as test cases, one suite for each protocol; warnings are no failures."""
    root = ET.Element("testsuites", name=f"dragoman doctor: {model}")
    for protocol, group in groupby(results, lambda result: result.protocol):
        cases = list(group)
        counts = _counts(cases)
        numbers = {"tests": len(cases), "failures": counts["failed"], "skipped": counts["skipped"]}
        seconds = f"{sum(case.seconds for case in cases):.3f}"
        suite = ET.SubElement(root, "testsuite", name=protocol, time=seconds)
        suite.attrib |= {key: str(number) for key, number in numbers.items()}
        for case in cases:
            _case(suite, case)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, result: Result) -> None:
    facts = {"classname": result.protocol, "name": result.scenario, "time": f"{result.seconds:.3f}"}
    case = ET.SubElement(suite, "testcase", facts)
    told = _clean("\n".join(map(str, result.findings)) or result.seen)
    if result.verdict is Verdict.FAILED:
        ET.SubElement(case, "failure", message=_clean(str(result.findings[0]))).text = told
    elif result.verdict is Verdict.SKIPPED:
        ET.SubElement(case, "skipped", message=told)
    else:
        ET.SubElement(case, "system-out").text = told


def _clean(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(char if char in "\t\n" or " " <= char < "\ud800" or char > "\udfff" else "?" for char in text)


def _table(found: Iterable[Fault]) -> Table:
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("protocol", "rule", "what was seen", "what it breaks", "cure"):
        made.add_column(name, overflow="fold", ratio={"what was seen": 3, "cure": 2}.get(name))
    for fault in found:
        where = ", ".join(fault.scenarios[:3]) + (" ..." if len(fault.scenarios) > 3 else "")
        many = f" ({fault.count} times, in {where})" if fault.count > 1 else ""
        rule = Text(fault.rule.id, style="yellow" if fault.rule.light else "bold red")
        seen = Text(_clean(fault.message)[:_MOST] + many)
        made.add_row(fault.protocol, rule, seen, ", ".join(fault.rule.breaks), CURES[fault.rule.id])
    return made


def _summary(url: str, model: str, results: Sequence[Result]) -> Text:
    counts = _counts(results)
    told = "{passed} passed, {warning} with warnings, {failed} failed, {skipped} skipped".format_map(counts)
    word, style = _STYLES[worst(results)]
    return Text.assemble("\n", (word, style), f"  {url}, model {model}\n{told}")


def _counts(results: Sequence[Result]) -> dict[str, int]:
    return {str(word): sum(result.verdict is word for result in results) for word in Verdict}


def _fault(fault: Fault) -> dict[str, Any]:
    rule = fault.rule
    return {
        "protocol": fault.protocol,
        "rule": rule.id,
        "severity": "warning" if rule.light else "error",
        "wants": rule.text,
        "seen": fault.message,
        "count": fault.count,
        "scenarios": fault.scenarios,
        "breaks": list(rule.breaks),
        "cure": CURES[rule.id],
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "protocol": result.protocol,
        "scenario": result.scenario,
        "title": result.title,
        "verdict": str(result.verdict),
        "seen": result.seen,
        "seconds": result.seconds,
        "findings": [asdict(finding) for finding in result.findings],
    }
