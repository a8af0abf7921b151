"""Chat templates render as their authors expect."""

from __future__ import annotations

import re

import pytest

from dragoman.engines.jinja import compiled, render
from dragoman.errors import EngineError, RequestError


def test_blocks_leave_no_white_space() -> None:
    assert render("  {% if true %}\nx\n  {% endif %}\ny", {}) == "x\ny"


def test_loop_controls_and_generation() -> None:
    template = (
        "{% for x in xs %}{% if x == 2 %}{% break %}{% endif %}{% generation %}{{ x }}{% endgeneration %}{% endfor %}"
    )
    assert render(template, {"xs": [1, 2, 3]}) == "1"


def test_json_is_not_escaped_for_html() -> None:
    assert render("{{ x | tojson }}", {"x": {"é": "<'&\">"}}) == '{"é": "<\'&\\">"}'
    assert render("{{ x | tojson(indent=1, sort_keys=true) }}", {"x": {"b": 1, "a": 2}}) == '{\n "a": 2,\n "b": 1\n}'
    assert render("{{ x | tojson(ensure_ascii=true, separators=(',', ':')) }}", {"x": ["é", 1]}) == '["\\u00e9",1]'


def test_the_date() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", render("{{ strftime_now('%Y-%m-%d') }}", {}))


def test_a_template_is_compiled_once() -> None:
    assert compiled("{{ x }}") is compiled("{{ x }}")


def test_a_refusal_is_the_clients_error() -> None:
    with pytest.raises(RequestError, match="refuses these messages: no dogs") as caught:
        render("{{ raise_exception('no dogs') }}", {})
    assert (caught.value.param, caught.value.status) == ("messages", 400)


@pytest.mark.parametrize("template", ["{{ x.y.z }}", "{{ 'a' + none }}", "{{ 1 // 0 }}", "{{ x() }}"])
def test_what_cannot_be_rendered_is_the_clients_error(template: str) -> None:
    with pytest.raises(RequestError, match="cannot render these messages"):
        render(template, {})


def test_a_template_that_does_not_parse_says_where() -> None:
    with pytest.raises(EngineError, match=r"does not parse: .*line 2"):
        render("\n{% if %}", {})


@pytest.mark.parametrize("template", ["{{ ''.__class__.__mro__ }}", "{{ xs.append(1) }}"])
def test_the_sandbox_holds(template: str) -> None:
    with pytest.raises(EngineError, match="no template may"):
        render(template, {"xs": []})
