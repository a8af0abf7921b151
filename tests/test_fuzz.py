"""A short run of the fuzzer; `make fuzz` runs a million cases."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_only_what_is_documented_happens(name: str) -> None:
    for number in range(150):
        TARGETS[name](random.Random(f"{name}-{number}"))


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_for_long(name: str) -> None:
    for number in range(1_000_000 // len(TARGETS)):
        TARGETS[name](random.Random(f"{name}-{number}"))
