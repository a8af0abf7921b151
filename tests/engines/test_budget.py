"""Templates that take too much."""

from __future__ import annotations

import time

import pytest

from dragoman.engines import budget
from dragoman.engines.jinja import render
from dragoman.errors import EngineError

ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}"


@pytest.mark.parametrize(
    "template",
    [
        ENDLESS,
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{% macro f(n) %}{{ caller() }}{{ caller() }}{% endmacro %}" + ENDLESS,
        "{% for x in [1] * 3 recursive %}{{ loop([1, 2, 3]) if loop.depth < 60 }}{% endfor %}",
    ],
)
def test_time(template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SECONDS", 0.2)
    began = time.process_time()
    with pytest.raises(EngineError, match="stopped"):
        render(template, {})
    assert time.process_time() - began < 60  # far below what the template would take


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a' * 10000000000 }}",
        "{{ 10000000000 * 'a' }}",
        "{{ [1] * 10000000000 }}",
        "{{ 10 ** 10000000000 }}",
        "{% set ns = namespace(x=10) %}{% for i in range(64) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        (
            "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set y %}{{ ns.x }}{{ ns.x }}{% endset %}"
            "{% set ns.x = y %}{% endfor %}"
        ),
        "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = ns.x.replace('a', 'aa') %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for i in range(64) %}{% set ns.x = ns.x | replace('a', 'aa') %}{% endfor %}",
        "{% set ns = namespace(x='abab') %}{% for i in range(64) %}{% set ns.x = ns.x | join(ns.x) %}{% endfor %}",
        "{% set ns = namespace(x='abab') %}{% for i in range(64) %}{% set ns.x = ns.x.join(ns.x) %}{% endfor %}",
        "{{ 'a'.ljust(10000000000) }}",
        "{{ 'a'.zfill(10000000000) }}",
        "{{ 'a' | center(10000000000) }}",
        "{{ 'a\nb' | indent(10000000000) }}",
        "{{ '%10000000000d' % 1 }}",
        "{{ '%*d' % (10000000000, 1) }}",
        "{{ '%10000000000d' | format(1) }}",
        "{{ '{:10000000000}'.format(1) }}",
        "{{ '{:{}}'.format(1, 10000000000) }}",
        "{{ [1] | batch(10000000000, 'x') | list }}",
    ],
)
def test_size(template: str) -> None:
    with pytest.raises(EngineError, match=r"stopped|does what no template may"):
        render(template, {})


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{% for x in [1, 2, 3] %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "13"),
        ("{% for x in [1, 2] %}{{ loop.index ~ ':' ~ x ~ ' ' }}{% else %}none{% endfor %}", "1:1 2:2 "),
        ("{{ 'a' ~ none ~ 1.5 ~ (2 ~ 'b') }}", "aNone1.52b"),
        ("{% set x %}a{{ 1 + 1 }}{% endset %}{{ x * 3 }}", "a2a2a2"),
        ("{% set x | upper %}abc{% endset %}{{ x }}", "ABC"),
        ("{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, b=3) }}", "1213"),
        ("{% macro f() %}<{{ caller('x') }}>{% endmacro %}{% call(y) f() %}{{ y }}{% endcall %}", "<x>"),
        ("{{ [1, 2] | join(', ') }} {{ 'a-b' | replace('-', '+') }} {{ 'x' | center(3) }}", "1, 2 a+b  x "),
        ("{{ 'a\nb' | indent(2) }} {{ '%s-%d' | format('x', 1) }} {{ '%05d' % 7 }}", "a\n  b x-1 00007"),
        ("{{ 2 ** 10 }} {{ 7 % 3 }} {{ [1] + [2] }} {{ {'a': 1} | items | list }}", "1024 1 [1, 2] [('a', 1)]"),
        ("{{ undefined ~ 'x' }}{{ '{}{:>3}'.format('a', 1) }}", "xa  1"),
        ("{% for x in [[1, [2]]] recursive %}{{ x if x is number else loop(x) }}{% endfor %}", "12"),
        ("{% filter upper %}a{{ 'b' ~ 'c' }}{% endfilter %}", "ABC"),
        ("{% if 'a' ~ 'b' == 'ab' %}{{ {'k': 'v' ~ 1}['k'] }}{% endif %}", "v1"),
        ("{% set n = namespace(ids=[]) %}{% set _ = n.ids.append('x') %}{{ n.ids.pop(0) }}{{ n.ids }}", "x[]"),
        ("{% set l = [1] %}{% for x in [2, 3] %}{% set _ = l.append(x) %}{% endfor %}{{ l | join }}", "123"),
    ],
)
def test_ordinary_templates_do_not_notice(template: str, text: str) -> None:
    assert render(template, {}) == text


def test_a_list_of_the_template_is_new_in_every_rendering() -> None:
    for _ in range(2):
        assert render("{% set l = [1] %}{% set _ = l.append(2) %}{{ l }}", {}) == "[1, 2]"


@pytest.mark.parametrize("step", ["append(1)", "pop()", "clear()", "extend([1])"])
def test_what_a_template_was_given_stays_as_it_is(step: str) -> None:
    given = [7]
    with pytest.raises(EngineError, match="does what no template may"):
        render("{% set own = [] %}{% set _ = own.append(1) %}{% set _ = given." + step + " %}", {"given": given})
    assert given == [7]


def test_the_limit_is_of_one_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "SECONDS", 0.2)
    with pytest.raises(EngineError):
        render(ENDLESS, {})
    assert render("{% for x in range(200) %}{% endfor %}x", {}) == "x"
