"""Files of lines: in order, over again, and on from where an earlier run stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.batch.convert import Conversion, Line
from dragoman.batch.files import bad_lines, run
from dragoman.errors import UsageError


def shout(numbered: tuple[int, str]) -> Line:
    number, text = numbered
    return Line(number, text.strip(), "bad") if "bad" in text else Line(number, text.strip().upper())


@pytest.fixture
def source(tmp_path) -> Path:
    file = tmp_path / "in.jsonl"
    file.write_text("a\nbad\n\n   \nc\nd")
    return file


def test_every_line_goes_one_way(source, tmp_path):
    out = tmp_path / "out"
    sizes: list[int] = []
    count = run(shout, source, out, seen=sizes.append)
    assert (count.done, count.wrong, count.before) == (3, 1, 0)
    assert out.read_text() == "A\nC\nD\n"
    assert [json.loads(line) for line in bad_lines(out).read_text().splitlines()] == [
        {"line": 2, "error": "bad", "text": "bad"}
    ]
    assert sum(sizes) == source.stat().st_size


def test_no_bad_lines_no_file(tmp_path):
    (tmp_path / "in").write_text("a\n")
    run(shout, tmp_path / "in", tmp_path / "out")
    assert not bad_lines(tmp_path / "out").exists()


def test_an_output_is_never_overwritten(source, tmp_path):
    out = tmp_path / "out"
    run(shout, source, out)
    before = out.read_bytes()
    with pytest.raises(UsageError, match="resume"):
        run(shout, source, out)
    assert out.read_bytes() == before


@pytest.mark.parametrize("good", range(4))
@pytest.mark.parametrize("cut", [False, True])
def test_an_earlier_run_is_gone_on_with(source, tmp_path, good: int, cut: bool):
    whole, out = tmp_path / "whole", tmp_path / "out"
    run(shout, source, whole)
    out.write_text("".join(f"{line}\n" for line in ["A", "C", "D"][:good]) + "hal" * cut)
    if good:
        bad_lines(out).write_bytes(bad_lines(whole).read_bytes() + b'{"line"' * cut)
    count = run(shout, source, out, resume=True)
    assert out.read_bytes() == whole.read_bytes()
    assert bad_lines(out).read_bytes() == bad_lines(whole).read_bytes()
    assert count.before == (good + 1 if good else 0)


def test_resuming_nothing_begins(source, tmp_path):
    assert run(shout, source, tmp_path / "out", resume=True).done == 3


def test_several_processes_write_the_same(tmp_path):
    lines = [
        json.dumps({"id": at, "raw": f"<think>\n{at}\n</think>\n\nHi" if at % 7 else "x" * at}) for at in range(1200)
    ]
    (tmp_path / "in").write_text("\n".join([*lines, "{"]))
    work = Conversion("hermes-json", "gemma4")
    counts = [run(work, tmp_path / "in", tmp_path / f"out{workers}", workers=workers) for workers in (1, 2)]
    assert counts[0] == counts[1]
    assert (counts[0].done, counts[0].wrong) == (1200, 1)
    assert (tmp_path / "out1").read_bytes() == (tmp_path / "out2").read_bytes()


def test_bytes_that_are_no_text_come_back(tmp_path):
    (tmp_path / "in").write_bytes(b"\xff\xfe ok\n")
    run(lambda numbered: Line(numbered[0], numbered[1].strip()), tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"\xff\xfe ok\n"


def test_files_that_cannot_be_opened(source, tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        run(shout, tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(UsageError, match="cannot write"):
        run(shout, source, tmp_path / "no" / "out")
