import json

import chat_templates

import dragoman


def test_lists_all(cli):
    ran = cli("dialects")
    assert ran.status == 0
    for name in dragoman.names():
        assert name in ran.out


def test_shows_one(cli):
    ran = cli("dialects", "hermes-json")
    assert ran.status == 0
    assert "<tool_call>" in ran.out
    assert "get_weather" in ran.out


def test_another_name_shows_the_same(cli):
    assert cli("dialects", "hermes").out == cli("dialects", "hermes-json").out


def test_json_is_the_whole_story(cli):
    every = json.loads(cli("dialects", "--json").out)
    assert [one["name"] for one in every] == list(dragoman.names())
    for one in every:
        assert json.loads(cli("dialects", one["name"], "--json").out) == one
        assert one["example"] or not (one["calls"] or one["reasoning"])
        assert one["marks"]


def test_an_example_reads_back(cli):
    for one in json.loads(cli("dialects", "--json").out):
        dialect = dragoman.get(one["name"])
        bare = dialect.gated or dialect.call.startswith("{")  # counts for tools that are on offer only
        tools = [dragoman.Tool("get_weather")] if bare else None
        turn = dragoman.decode(one["name"], one["example"], tools)
        if not dialect.call:
            assert bool(turn.reasoning) == bool(dialect.reasoning)
            continue
        (call,) = turn.calls
        assert (call.name, json.loads(call.arguments)) == ("get_weather", {"city": "Paris", "days": 3})


def test_unknown(cli):
    ran = cli("dialects", "hermse-json")
    assert ran.status == 2
    assert "hermes-json" in ran.err


def test_a_dialect_as_a_file(cli, tmp_path):
    written = cli("dialects", "qwen3-coder-xml", "--file")
    assert (written.status, written.err) == (0, "")
    file = tmp_path / "mine.toml"
    file.write_text(written.out.replace("<tool_call>", "<do>").replace("</tool_call>", "</do>"), "utf-8")
    shown = cli("dialects", file)
    assert "<do>\n  <function=get_weather>" in shown.out
    raw = "<do>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</do>"
    decoded = cli("decode", "--dialect", file, stdin=raw.encode())
    assert json.loads(decoded.out)["calls"][0]["name"] == "f"


def test_a_mistake_in_a_file_is_one_line(cli, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\ncall = "<do>{call}</do>"\n', "utf-8")
    ran = cli("decode", "--dialect", file, stdin=b"x")
    assert ran.status == 2
    assert "mine.toml" in ran.err
    assert "line 2" in ran.err


def test_a_template_is_learnt(cli, tmp_path):
    template = tmp_path / "robin.jinja"
    template.write_text(chat_templates.TOOLS, "utf-8")
    ran = cli("dialects", "learn", template)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("# Learnt from ")
    file = tmp_path / "robin.toml"
    file.write_text(ran.out, "utf-8")
    raw = b'<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    decoded = json.loads(cli("decode", "--dialect", file, stdin=raw).out)
    assert (decoded["dialect"], decoded["calls"][0]["name"]) == ("robin", "f")


def test_a_template_without_calls_says_so(cli, tmp_path):
    template = tmp_path / "plain.jinja"
    template.write_text(chat_templates.CHATML, "utf-8")
    out = cli("dialects", "learn", template).out
    assert "# Not found: tool calls; no conversation shows one." in out
    assert "# Not found: reasoning" in out


def test_what_is_not_read_back_is_shown(cli, tmp_path):
    template = tmp_path / "odd.jinja"
    unquoted = chat_templates.TOOLS.replace("(call.function.arguments | tojson)", "odd(call.function.arguments)")
    macro = "{%- macro odd(a) %}{ {%- for k, v in a.items() %}\"{{ k }}\": {{ '\"' ~ v ~ '\"' }}{{ ', ' if not loop.last }}{%- endfor %}}{%- endmacro %}"
    template.write_text(macro + unquoted, "utf-8")
    out = cli("dialects", "learn", template).out
    (line,) = [line for line in out.splitlines() if line.startswith("# Not read back: ")]
    assert "quotes" in line
    assert 'The first is shown as \'<tool_call>\\n{"name": "f1rst_tool"' in line


def test_nothing_to_learn_from(cli):
    for words in (["learn"], ["hermes", "x"], ["learn", "/nowhere.jinja"], ["detect"]):
        ran = cli("dialects", *words)
        assert (ran.status, ran.out) == (2, "")
        assert "learn" in ran.err or "nowhere" in ran.err or "what to detect" in ran.err


def test_directions(cli):
    assert "directions decode  encode  constrain" in cli("dialects", "hermes-json").out
    for one in json.loads(cli("dialects", "--json").out):
        assert one["directions"][0] == "decode"
        assert ("constrain" in one["directions"]) <= bool(one["calls"])


def test_detect(cli, tmp_path):
    template = tmp_path / "robin.jinja"
    template.write_text(chat_templates.TOOLS, "utf-8")
    first, *_ = cli("dialects", "detect", template).out.splitlines()
    assert first.split()[0] == "hermes-json"
    assert "the chat template has <tool_call>" in first
    sample = tmp_path / "sample.txt"
    sample.write_text("<|channel|>analysis<|message|>hm", "utf-8")
    assert cli("dialects", "detect", sample).out.split()[0] == "harmony"
    sample.write_text("Hi", "utf-8")
    assert "no dialect fits" in cli("dialects", "detect", sample).out
    assert cli("dialects", "detect").status == 2
