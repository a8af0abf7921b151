"""The doctor: holds any server against the rulebook, as a client would meet it."""

from .examine import examine
from .report import json_report, junit_report
from .results import Result, Verdict
from .scenario import SCENARIOS

__all__ = ["SCENARIOS", "Result", "Verdict", "examine", "json_report", "junit_report"]
