"""A value's place in a file."""

from __future__ import annotations

import pytest

from dragoman.errors import UsageError
from dragoman.server.lines import parse, steps

TEXT = """\
# a comment
port: 9000
upstreams:
  - url: http://a
  - url: http://b
    headers:
      x: 1
"""


def test_places() -> None:
    value, lines = parse(TEXT, "f.yaml")
    assert value["upstreams"][1] == {"url": "http://b", "headers": {"x": 1}}
    assert lines.of(["port"]) == 2
    assert lines.of(["upstreams", 1, "url"]) == 5
    assert lines.of(["upstreams", 1, "headers", "x"]) == 7
    assert lines.of(["upstreams", 1], "headers") == 6
    assert lines.of(["upstreams", 7]) == 4
    assert lines.of(["nothing"]) == 2
    assert str(lines.error("bad", ["port"])) == "f.yaml, line 2: bad"


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_file(text: str) -> None:
    value, lines = parse(text, "f")
    assert value is None
    assert lines.of(["x"]) == 1


@pytest.mark.parametrize(("text", "line"), [("a: [1, 2\nb: 3\n", 2), ("a: 1\n  b: 2\n", 2), ("a: 'x\n", 2), ("\tb", 1)])
def test_what_is_no_yaml_is_told_with_its_line(text: str, line: int) -> None:
    with pytest.raises(UsageError, match=f"f.yaml, line {line}: this is no YAML"):
        parse(text, "f.yaml")


def test_steps() -> None:
    assert steps("$.upstreams[0].headers[...]") == ["upstreams", 0, "headers"]
    assert steps("$") == []
