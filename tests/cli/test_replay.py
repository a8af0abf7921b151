import json

import pytest

CASE = """==== one
dialect: hermes-json
tools: get_weather(city: string)
{more}---- raw
<tool_call>
{{"name": "get_weather", "arguments": {{"city": "Oslo"}}}}
</tool_call>
---- expect
call get_weather {{"city": "{city}"}}
finish tool_calls
"""


@pytest.fixture
def case(tmp_path):
    def write(city="Oslo", more=""):
        path = tmp_path / f"{city}.txt"
        path.write_text(CASE.format(city=city, more=more), "utf-8")
        return path

    return write


def test_nothing_differs(cli, case):
    ran = cli("replay", case())
    assert (ran.status, ran.out) == (0, "1 turn, none differ\n")


def test_what_differs_is_shown(cli, case):
    ran = cli("replay", case("Bergen"), case())
    assert ran.status == 3
    assert '    call get_weather {"city": "Bergen"}' in ran.out
    assert '    call get_weather {"city": "Oslo"}' in ran.out
    assert ran.out.endswith("2 turns, 1 differs\n")


def test_another_dialect_reads_otherwise(cli, case):
    assert cli("replay", case(), "--dialect", "gemma4").status == 3


def test_decode_reads_a_case_file_too(cli, case):
    said = json.loads(cli("decode", case()).out)
    assert said["dialect"] == "hermes-json"
    assert [call["name"] for call in said["calls"]] == ["get_weather"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name the case files"),
        (("raw.txt",), "is no case file"),
        (("CASE", "--url", "http://127.0.0.1:9"), "has no request"),
    ],
)
def test_what_is_wrong_is_one_line(cli, case, tmp_path, words, said):
    (tmp_path / "raw.txt").write_text("hi", "utf-8")
    known = {"raw.txt": tmp_path / "raw.txt", "CASE": case()}
    ran = cli("replay", *(known.get(word, word) for word in words))
    assert ran.status == 2
    assert said in ran.err
