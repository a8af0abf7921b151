"""A child process is watched, started again and never left behind; here it is played by small programs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.engines import supervise
from dragoman.engines.supervise import Child, Log
from dragoman.errors import Unreachable

Play = Callable[[str], int]

LISTENS = """\
import json, pathlib, sys
socket = json.loads(sys.stdin.buffer.readline())["socket"]
pathlib.Path(socket).touch()
print("0.00.000.001 I srv  init: listening", file=sys.stderr, flush=True)
print(json.dumps({"event": "ready"}), flush=True)
sys.stdin.buffer.read()
"""
DIES = LISTENS.replace("sys.stdin.buffer.read()", "print('0.1 E srv  load: out of luck', file=sys.stderr)\nsys.exit(7)")
REFUSES = """\
import json, sys
sys.stdin.buffer.readline()
print("0.00.1 I srv  init: hello", "0.00.2 E gguf_init: no such file", "0.00.3 E srv  load: failed", sep="\\n", file=sys.stderr)
print(json.dumps({"event": "error", "message": "Failed to init server"}), flush=True)
"""
UNINSTALLED = REFUSES.replace("Failed to init server", "No module named 'xllamacpp'")
CRASHES = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
CHATTERS = LISTENS.replace(
    "print(json", "print('x' * 3_000_000, 'after', sep='\\n', file=sys.stderr, flush=True)\nprint(json"
)


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Says what the child's program is from now on."""
    place = tmp_path / "program.py"
    monkeypatch.setattr(supervise, "_PROGRAM", str(place))
    return place.write_text


def exists(folder: Path) -> bool:
    return folder.exists()


async def test_it_starts_and_stops(play: Play) -> None:
    play(LISTENS)
    child = Child({})
    await child.start()
    folder, process = Path(child.socket).parent, child.process
    assert exists(folder)
    await child.stop()
    assert process
    assert (process.returncode, exists(folder), child.socket) == (0, False, "")
    assert child.words == "it was stopped"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (REFUSES, "could not start: no such file$"),
        (UNINSTALLED, r"not installed; type: pip install 'dragoman\[engine,server\]'"),
        (CRASHES, "it was killed by signal 11"),
        ("", "it ended with status 0"),
    ],
)
async def test_a_start_that_fails_says_why(play: Play, source: str, reason: str) -> None:
    play(source)
    child = Child({})
    with pytest.raises(Unreachable, match=reason):
        await child.start()
    assert child.process is None
    await child.stop()


async def test_it_comes_back(play: Play) -> None:
    play(LISTENS)
    child = Child({}, pauses=(0.01,))
    await child.start()
    first = child.process
    assert first
    first.kill()
    assert await child.epitaph() == "it was killed by signal 9; its last line: listening"
    await child.ready.wait()
    assert child.process is not first
    await child.stop()


async def test_one_that_keeps_dying_is_tried_after_longer_pauses(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    play(DIES)
    slept: list[float] = []
    enough = asyncio.Event()
    sleep, ours = asyncio.sleep, asyncio.get_running_loop()

    async def note(seconds: float) -> None:
        if asyncio.get_running_loop() is not ours:  # a server of another test sleeps too, in its thread
            await sleep(seconds)
            return
        slept.append(seconds)
        if len(slept) == 4:
            enough.set()
        await sleep(0)

    monkeypatch.setattr("asyncio.sleep", note)
    child = Child({}, pauses=(1, 2, 60))
    await child.start()
    await enough.wait()
    await child.stop()
    assert slept[:4] == [1, 2, 60, 60]


async def test_a_new_start_that_fails_is_tried_again(play: Play) -> None:
    play(DIES)
    child = Child({}, pauses=(0.01,))
    await child.start()
    await child.gone.wait()
    assert child.words == "it ended with status 7; its last line: out of luck"
    play(REFUSES)
    for _ in range(500):
        if child.words == "no such file":
            break
        await asyncio.sleep(0.01)
    assert child.words == "no such file"
    play(LISTENS)
    await child.ready.wait()
    await child.stop()


async def test_a_start_that_is_cancelled_leaves_nothing(play: Play) -> None:
    play("import sys; sys.stdin.buffer.readline(); sys.stdin.buffer.read()")
    child = Child({})
    task = asyncio.create_task(child.start())
    for _ in range(500):
        if child.process:
            break
        await asyncio.sleep(0.01)
    process = child.process
    assert process
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert process.returncode is not None


async def test_a_long_line_does_not_stop_the_reading(play: Play) -> None:
    play(CHATTERS)
    child = Child({})
    await child.start()
    for _ in range(500):
        if child.log.last == "after":
            break
        await asyncio.sleep(0.01)
    assert child.log.last == "after"
    await child.stop()


async def test_a_long_folder_for_temporary_files_is_avoided(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(LISTENS)
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    child = Child({})
    await child.start()
    assert len(child.socket) < 104
    await child.stop()
    assert list(long.iterdir()) == []


def test_the_log_keeps_the_last_lines_and_counts_grammars_that_cannot_be_read() -> None:
    log = Log(2)
    assert (log.last, log.reason) == ("", "")
    for line in ("one", "0.00.1 E llg error: at 2(8): unknown name", "0.00.2 I slot      release: id  0 | done"):
        log.add(line)
    assert (len(log.lines), log.last, log.refusals) == (2, "id  0 | done", ["at 2(8): unknown name"])
