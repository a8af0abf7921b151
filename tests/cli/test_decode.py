import json

import pytest

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}
RAW = '<think>\nHm.\n</think>\nI look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
HERMES = ("--dialect", "hermes-json", "--tools", json.dumps([TOOL]))


def turn(ran):
    assert (ran.status, ran.err) == (0, "")
    return json.loads(ran.out)


def test_prints_the_turn(cli):
    said = turn(cli("decode", *HERMES, "-", stdin=RAW.encode()))
    assert said["dialect"] == "hermes-json"
    assert (said["reasoning"], said["content"], said["finish"]) == ("Hm.", "I look.", "tool_calls")
    (call,) = said["calls"]
    assert json.loads(call.pop("arguments")) == {"city": "Paris"}
    assert call == {"id": "", "name": "get_weather", "complete": True, "valid": True, "missing": ""}
    assert said["notices"] == []


def test_reads_a_file_and_standard_input_alike(cli, tmp_path):
    (tmp_path / "raw.txt").write_text(RAW, "utf-8")
    assert cli("decode", *HERMES, tmp_path / "raw.txt").out == cli("decode", *HERMES, stdin=RAW.encode()).out


def test_tools_in_a_file_or_a_request(cli, tmp_path):
    (tmp_path / "list.json").write_text(json.dumps([TOOL]), "utf-8")
    (tmp_path / "request.json").write_text("\ufeff" + json.dumps({"tools": [TOOL]}), "utf-8")
    runs = [
        cli("decode", "-d", "hermes-json", "--tools", tools, stdin=RAW.encode())
        for tools in (HERMES[-1], tmp_path / "list.json", tmp_path / "request.json")
    ]
    assert len({run.out for run in runs}) == 1


def test_no_tools_means_no_calls(cli):
    said = turn(cli("decode", "-d", "hermes-json", "--tools", "[]", stdin=RAW.encode()))
    assert said["calls"] == []
    assert "<tool_call>" in said["content"]


def test_recognises_the_dialect(cli):
    assert turn(cli("decode", stdin=b"<|channel|>final<|message|>Hi<|return|>"))["dialect"] == "harmony"


def test_no_dialect_recognised(cli):
    ran = cli("decode", stdin=b"Hi")
    assert ran.status == 2
    assert "--dialect" in ran.err


def test_unknown_dialect_names_those_near(cli):
    ran = cli("decode", "--dialect", "hermes-jso", stdin=b"Hi")
    assert ran.status == 2
    assert "hermes-json" in ran.err


def test_the_prompt_may_have_opened_the_reasoning(cli, tmp_path):
    tail = "<|im_start|>assistant\n<think>\n"
    (tmp_path / "tail.txt").write_text(tail, "utf-8")
    for prompt in (tail, f"@{tmp_path / 'tail.txt'}"):
        said = turn(cli("decode", *HERMES, "--prompt", prompt, stdin=b"Hm.</think>Yes."))
        assert (said["reasoning"], said["content"]) == ("Hm.", "Yes.")


def test_a_cut_call_says_what_is_missing(cli):
    raw = RAW.partition("ris")[0].encode()
    ran = cli("decode", *HERMES, "--finish", "length", "--check", stdin=raw)
    said = json.loads(ran.out)
    (call,) = said["calls"]
    assert said["finish"] == "length"
    assert (call["complete"], call["valid"]) == (False, False)
    assert json.loads(call["arguments"] + call["missing"]) == {"city": "Pa"}
    assert ran.status == 3


def test_check_is_silent_about_a_good_turn(cli):
    assert cli("decode", *HERMES, "--check", stdin=RAW.encode()).status == 0


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_chunks_change_nothing(cli, size):
    assert (
        cli("decode", *HERMES, "--chunks", size, stdin=RAW.encode()).out
        == cli("decode", *HERMES, stdin=RAW.encode()).out
    )


def test_events_one_a_line(cli):
    ran = cli("decode", *HERMES, "--events", stdin=RAW.encode())
    events = [json.loads(line) for line in ran.out.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[0] == "Reasoning"
    assert kinds[-2:] == ["CallEnd", "Finish"]
    assert "".join(event["json"] for event in events if event["event"] == "CallArgs").startswith("{")


def test_trace_tiles_the_text(cli):
    ran = cli("decode", *HERMES, "--trace", "--chunks", 1, stdin=RAW.encode())
    tiles = [line.split(maxsplit=3) for line in ran.out.splitlines()]
    assert "".join(json.loads(text) for *_, text in tiles) == RAW
    assert [int(start) for start, *_ in tiles] == [0, *(int(end) for _, end, *_ in tiles[:-1])]
    assert {role for _, _, role, _ in tiles} == {"markup", "reasoning", "content", "arguments"}


def test_trace_is_coloured_only_on_demand(cli, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\033[" not in cli("decode", *HERMES, "--trace", stdin=RAW.encode()).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\033[" in cli("decode", *HERMES, "--trace", stdin=RAW.encode()).out


def test_bytes_that_are_no_text_come_out_as_json(cli):
    said = turn(cli("decode", *HERMES, stdin=b"a\xffb\r\n"))
    assert said["content"] == "a\udcffb\r\n"


def test_many(cli):
    lines = [
        json.dumps({"raw": RAW, "tools": [TOOL]}),
        "",
        json.dumps({"raw": "Hm.</think>Yes.", "prompt": "<|im_start|>assistant\n<think>\n"}),
        json.dumps({"raw": "Hi", "dialect": "gemma4", "finish": "length", "tools": None, "more": 1}),
    ]
    ran = cli("decode", "-d", "hermes-json", "--jsonl", stdin="\n".join(lines).encode())
    said = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.status == 0
    assert [len(one["calls"]) for one in said] == [1, 0, 0]
    assert said[1]["reasoning"] == "Hm."
    assert (said[2]["dialect"], said[2]["finish"]) == ("gemma4", "length")


@pytest.mark.parametrize(
    "bad",
    ["nonsense", "[]", '{"raw": 1}', '{"raw": "", "tools": 3}', '{"raw": "", "prompt": 3}', '{"raw": "", "finish": 3}'],
)
def test_a_bad_line_is_told_and_the_others_are_read(cli, bad):
    ran = cli("decode", "-d", "hermes-json", "--jsonl", stdin=f'{bad}\n{{"raw": "Hi"}}\n'.encode())
    first, second = (json.loads(line) for line in ran.out.splitlines())
    assert ran.status == 1
    assert first["line"] == 1
    assert first["error"]
    assert second["content"] == "Hi"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--events", "--trace"], "exclude"),
        (["--tools", "nowhere.json"], "nowhere.json"),
        (["--tools", "{"], "no JSON"),
        (["--tools", '{"tools": 3}'], "list"),
        (["nowhere.txt"], "nowhere.txt"),
    ],
)
def test_wrong_use(cli, words, said):
    ran = cli("decode", "-d", "hermes-json", *words)
    assert ran.status == 2
    assert said in ran.err
