"""Shared fixtures, options, and the folder of helpers on the path."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # corpus.py, streams.py, garble.py: helpers of several tests


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-corpus", action="store_true", help="rewrite what the corpus expects; read the diff")
    parser.addoption("--long", action="store_true", help="many more examples in the property tests")


def pytest_configure(config: pytest.Config) -> None:
    """The profiles of the property tests; `HYPOTHESIS_PROFILE=long` does what `--long` does."""
    from hypothesis import HealthCheck, settings

    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    common = {"deadline": None, "database": None, "suppress_health_check": slow, "print_blob": True}
    settings.register_profile("quick", derandomize=True, **common)
    settings.register_profile("long", max_examples=2000, **common)
    long = config.getoption("--long") or os.environ.get("HYPOTHESIS_PROFILE") == "long"
    settings.load_profile("long" if long else "quick")
