import json

RAW = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def test_a_file_is_rewritten(cli, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps({"id": 1, "raw": RAW}) + "\n{\n")
    ran = cli("convert", file, "--from", "hermes-json", "--to", "gemma4")
    out = tmp_path / "runs.gemma4.jsonl"
    assert (ran.status, ran.out) == (1, "")
    assert f"{out}: 1 rewritten, 1 are bad lines (see {out}.bad)" in ran.err
    assert json.loads(out.read_text()) == {"id": 1, "raw": "<|tool_call>call:f{a:1}<tool_call|>"}
    assert json.loads((tmp_path / "runs.gemma4.jsonl.bad").read_text())["line"] == 2


def test_a_run_is_gone_on_with(cli, tmp_path):
    file, out = tmp_path / "runs.jsonl", tmp_path / "out.jsonl"
    file.write_text(f"{json.dumps({'raw': RAW})}\n" * 3)
    words = ("convert", file, "--to", "gemma4", "--out", out)
    assert cli(*words).status == 0
    assert "--resume" in cli(*words).err
    assert "0 rewritten, 3 had been done before" in cli(*words, "--resume").err


def test_tools_and_strictness(cli, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps({"raw": RAW.replace("</tool_call>", "")}))
    assert cli("convert", file, "--to", "gemma4", "--tools", "[]", "--out", tmp_path / "a").status == 0
    assert "call:f" not in (tmp_path / "a").read_text()
    assert cli("convert", file, "--to", "gemma4", "--strict", "--out", tmp_path / "b").status == 1


def test_what_is_wrong_from_the_beginning(cli, tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text("{}\n")
    for words in (
        (file,),
        (file, "--to", "hermse-json"),
        (file, "--to", "gemma4", "--from", "x"),
        (tmp_path / "no", "--to", "gemma4"),
        (file, "--to", "gemma4", "--out", file),
    ):
        ran = cli("convert", *words)
        assert (ran.status, ran.out) == (2, ""), words
    assert file.read_text() == "{}\n"
