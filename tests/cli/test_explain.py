import json
from importlib import import_module
from types import SimpleNamespace

import pytest

RAW = '<think>Hm.</think>I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris",}}'
HERMES = ("--dialect", "hermes-json")


def test_every_character_is_told_of(cli):
    ran = cli("explain", *HERMES, stdin=RAW.encode())
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("hermes-json  ")
    shown = "".join(line[11:] for line in lines[1:] if not line.startswith(("!", "finish")))
    assert shown.replace("⏎", "\n").startswith(RAW.split("\n", maxsplit=1)[0])
    assert "reasoning  Hm." in lines
    assert lines[-1] == "finish     tool_calls: get_weather"


def test_notices_stand_behind_their_text_with_their_meaning(cli):
    out = cli("explain", *HERMES, stdin=RAW.encode()).out
    assert "! notice   repaired at " in out
    assert "! notice   unclosed at " in out
    assert "trailing comma" in " ".join(out.split())


def test_it_says_the_same_as_decode(cli):
    found = json.loads(cli("explain", *HERMES, "--json", stdin=RAW.encode()).out)
    decoded = json.loads(cli("decode", *HERMES, stdin=RAW.encode()).out)
    assert found["finish"] == decoded["finish"]
    assert [(one["code"], one["at"]) for one in found["notices"]] == [
        (one["code"], one["at"]) for one in decoded["notices"]
    ]
    events = [event for step in found["steps"] for event in step["events"]]
    assert "".join(one["json"] for one in events if one["event"] == "CallArgs") == decoded["calls"][0]["arguments"]


def test_without_a_name_the_marks_decide(cli):
    assert cli("explain", stdin=RAW.encode()).out.startswith("hermes-json")


def test_a_report_is_a_case_that_explains_to_the_same(cli, tmp_path):
    report = cli("explain", *HERMES, "--report", stdin=RAW.encode()).out
    (tmp_path / "case.txt").write_text(report, "utf-8")
    again = cli("explain", tmp_path / "case.txt", "--report").out
    assert again == report
    assert "call get_weather" in report


def test_steps_tell_what_was_held_and_what_came(cli, tmp_path):
    (tmp_path / "case.txt").write_text(
        '==== a\ndialect: hermes-json\ntools: unknown\n---- pieces\n0.100 "Hi <to"\n0.250 "ol" 5\n---- expect\n',
        "utf-8",
    )
    out = cli("explain", tmp_path / "case.txt", "--step").out
    assert "0.100 s" in out
    assert "(4 held back)" in out
    assert '-> content "Hi"' in out
    assert '-> content " <tool"' in out


def test_two_dialects_are_compared(cli):
    ran = cli("explain", "--compare", "hermes-json", "glm-4.5", stdin=b"<arg_key>")
    assert ran.status in (0, 3)
    ran = cli("explain", "--compare", "hermes-json", "gemma4", stdin=RAW.encode())
    assert ran.status == 3
    assert "  * call get_weather" in ran.out


@pytest.mark.parametrize("protocol", ["chat", "responses", "messages", "ollama"])
def test_frames_of_any_protocol(cli, protocol):
    out = cli("explain", *HERMES, "--protocol", protocol, stdin=RAW.encode()).out
    assert "Paris" in out
    assert "tool_call" in out or "tool_use" in out or "function_call" in out


def test_narrow_without_colour(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    out = cli("explain", *HERMES, stdin=RAW.encode()).out
    assert "\033" not in out
    assert max(map(len, out.splitlines()[1:])) <= 42


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing.txt",), "there is no such file"),
        (("--protocol", "smtp", *HERMES, "-"), "there are chat"),
        (("chatcmpl-1", "--server", "http://127.0.0.1:9"), "is the server running"),
        (("chatcmpl-1", "--server", "localhost"), "begins with http"),
        (("chatcmpl-1", "--kept-in", "nowhere.sqlite"), "no such file or folder"),
        (("chatcmpl-1", "--kept-in", "nowhere"), "no such file or folder"),
        (("chatcmpl-1", "--server", "http://[no"), "cannot be asked"),
        (("a turn\n", "--server", "http://127.0.0.1:9"), "is the server running"),
        (("n" * 300, "--server", "http://127.0.0.1:9"), "is the server running"),
    ],
)
def test_what_is_wrong_is_one_line(cli, words, said):
    ran = cli("explain", *words, stdin=RAW.encode())
    assert ran.status == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_file_that_keeps_no_turns(cli, tmp_path):
    file = tmp_path / "turns.sqlite"
    file.write_text("not a database, but long enough to look into " * 30, "utf-8")
    ran = cli("explain", "chatcmpl-1", "--kept-in", file)
    assert ran.status == 2
    assert "no turns can be read from" in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_turn_of_an_engine_that_decodes_by_itself(cli, tmp_path):
    case = "==== chatcmpl-1\n# the engine decodes by itself\ndialect: \ntools: none\n---- raw\nHello.\n---- expect\n"
    file = tmp_path / "case.txt"
    file.write_text(case + 'text "Hello."\nfinish stop\nnotices none\n', "utf-8")
    ran = cli("explain", file)
    assert (ran.status, ran.err) == (0, "")
    assert "content    Hello." in ran.out
    again = cli("replay", file)
    assert (again.status, again.err) == (0, "")
    assert again.out == "1 turn, none differ\n"


def test_hostile_text_does_not_reach_the_terminal(cli):
    out = cli("explain", *HERMES, stdin=b"\x1b[2Jhi\x07 [bold]x[/bold] \xff").out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "[bold]x[/bold]" in out


def test_a_recorded_raw_completion_is_text(cli, tmp_path):
    (tmp_path / "case.txt").write_text(
        '==== one\ndialect: \n---- raw\n<think>x\n---- expect\ntext "<think>x"\nfinish stop\n', "utf-8"
    )
    out = cli("explain", tmp_path / "case.txt").out
    assert "content    <think>x" in out
    assert cli("replay", tmp_path / "case.txt").status in (0, 3)


@pytest.mark.parametrize(("typed", "pieces"), [(["", "q"], 2), ([""], 2), ([], 1), (["Q"], 1), ([""] * 9, 4)])
def test_a_walk_ends_with_q_or_the_end_of_input(monkeypatch, typed, pieces):
    module = import_module("dragoman.cli.explain")
    terminal, lines, walked = SimpleNamespace(isatty=lambda: True), iter(typed), []

    def ask():
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr(module, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    monkeypatch.setattr("builtins.input", ask)
    module._show(SimpleNamespace(steps=lambda: map(walked.append, range(4))), step=True, pieces=False)
    assert len(walked) == pieces
