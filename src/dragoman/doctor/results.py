"""What the doctor found: a verdict for each scenario, with the rules that were broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ..checks import RULES, Finding, Rule

__all__ = ["Fault", "Result", "Verdict", "faults", "worst"]


class Verdict(StrEnum):
    """How a scenario ended, from good to bad; `skipped`: it does not apply to this server."""

    SKIPPED = "skipped"
    PASSED = "passed"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(slots=True)
class Result:
    """One scenario in one protocol.

    `seen`: what came, in a few words.  `seconds`: how long it took.
    """

    protocol: str
    scenario: str
    title: str
    seen: str = ""
    findings: Sequence[Finding] = ()
    skipped: bool = False
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The worst of its findings."""
        if self.skipped:
            return Verdict.SKIPPED
        if not self.findings:
            return Verdict.PASSED
        grave = any(not RULES[finding.rule].light for finding in self.findings)
        return Verdict.FAILED if grave else Verdict.WARNING


@dataclass(slots=True)
class Fault:
    """A rule that a protocol of the server breaks: what was seen first, how often, and in which scenarios."""

    protocol: str
    rule: Rule
    message: str
    count: int = 0
    scenarios: list[str] = field(default_factory=list)


def faults(results: Iterable[Result]) -> list[Fault]:
    """All broken rules, the grave ones first."""
    found: dict[tuple[str, str], Fault] = {}
    for result in results:
        for finding in result.findings:
            key = result.protocol, finding.rule
            fault = found.setdefault(key, Fault(result.protocol, RULES[finding.rule], finding.message))
            fault.count += 1
            if result.scenario not in fault.scenarios:
                fault.scenarios.append(result.scenario)
    return sorted(found.values(), key=lambda fault: fault.rule.light)


def worst(results: Iterable[Result]) -> Verdict:
    """The worst verdict of all."""
    verdicts: Iterator[Verdict] = (result.verdict for result in results)
    return max(verdicts, key=list(Verdict).index, default=Verdict.SKIPPED)
