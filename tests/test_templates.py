"""The chat templates of hundreds of real models: detected, read, written and learnt, each as well as `templates.txt` says."""

from __future__ import annotations

import pytest
from excuses import REASONS, odd
from real_templates import LIST, MAPPED, PLACE, Outcome, listed, templates, tried

HEAD = """\
# The chat templates that show tool calls, and what becomes of each (tests/real_templates.py):
# name, the dialect detected, the probes it shows; of these read and written by that dialect, read and written by the
# dialect learnt from it, and whether each of the two reads what the other writes.  A test holds every line to be no worse.
# Last, how many of those not written differ for a reason that is the template's own:
"""
HEAD += "".join(f"#   {why}: {reason}\n" for why, reason in REASONS.items())


def test_the_packages_with_templates_are_here():
    assert PLACE.is_dir(), "`make` puts the packages with chat templates there; see TEMPLATE_WHEELS in the Makefile"
    assert len(templates()) > 400


@pytest.mark.parametrize("name", sorted(templates()))
def test_a_real_template(name: str, request: pytest.FixtureRequest):
    now = tried(name)
    if request.config.getoption("--update-corpus"):
        _write(now)
        return
    before = listed()[name]
    assert now.probes == before.probes
    for what in ("read", "written", "learnt", "rewritten", "agree"):
        assert getattr(now, what) >= getattr(before, what), f"{what}: {now} was {before}"
    assert now.meant - now.written <= before.meant - before.written, f"not written: {now} was {before}"


def _write(now: Outcome) -> None:
    """One line anew; the list stays sorted."""
    lines = {**(listed() if LIST.exists() else {}), now.name: now}
    LIST.write_text(HEAD + "".join(f"{lines[name]}\n" for name in sorted(lines)), "utf-8")


def test_the_list_is_that_of_the_packages():
    here = {name for name in listed() if MAPPED.exists() or not name.startswith("npm/")}
    assert here == set(templates())
    assert set(odd()) <= set(listed())


def part(count: int) -> float:
    return count / len(listed())


def test_most_are_read_as_they_are_written():
    every = listed().values()
    assert part(sum(one.understood for one in every)) > 0.93
    assert part(sum(one.read > 0.8 * one.probes > 0 for one in every)) > 0.94


def test_most_are_written_as_they_write():
    meant = [one for name, one in listed().items() if one.meant and name not in odd()]
    assert sum(one.same for one in meant) > 0.7 * len(meant)


def test_nineteen_of_twenty_are_learnt_at_least_as_well_as_they_were_written_by_hand():
    every = listed().values()
    assert part(sum(one.learnt >= one.read for one in every)) > 0.95
    assert part(sum(one.rewritten >= one.written for one in every)) > 0.9
