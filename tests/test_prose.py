"""Ordinary answers: whatever the dialect, they come out as they were written, at once and without a notice."""

from __future__ import annotations

import pytest
from garble import OFFERS
from streams import Setting, play, singly, turn_of

from dragoman import api
from dragoman.syntax.dialect import Dialect

ANSWERS = {
    "a word": "Yes",
    "white space": "  Yes.\n\n",
    "code": "Here:\n```python\nprint('x')\n```\nDone.\n\n```\nplain\n```",
    "code in a sentence": "Call `ping()` or ``put(path='a')``, then ``` alone ``` here.",
    "code that is never closed": "```js\nif (a < b && c[0] > d) { return `x${y}`; }",
    "a code block at the beginning": "```python\nprint(1)\n```",
    "tildes": "~~~\nx\n~~~",
    "lists": "1. one\n2. two\n   - three\n   * four\n\n- [ ] five\n- [x] six",
    "a table": "| a | b |\n|---|---|\n| 1 | `2|3` |",
    "citations": "So it is [1], and [2][3]. See [the page](https://a.b/c?d=[e]) and [^4].\n\n[1]: https://a.b",
    "a citation first": "[1] says so; [ping] does not.",
    "an array": "[1, 2, 3]",
    "an array of objects": '[{"a": 1}, {"b": [2]}]',
    "an object": '{"city": "Oslo", "names": ["put", "ping"], "degrees": 3.5}',
    "an object with a name": '{"name": "Oslo", "arguments": "none"}',
    "a fenced object": '```json\n{"name": "Oslo", "population": 1}\n```',
    "an object in a sentence": 'Send {"path": "a"} or {path: a}; {} is empty, {{x}} is not.',
    "mathematics": "If $a<b$ and $f(x)=x^2$, then $$\\int_0^1 f = \\frac{1}{3}$$ and \\(x\\) \\[y\\].",
    "HTML": '<div class="a">\n  <p>x</p><br/>\n  <!-- y -->\n</div>\n<function>f</function>',
    "XML": '<?xml version="1.0"?>\n<a b="c"><d/></a>\n<name>ping</name>',
    "generics": "std::vector<int> v; Map<String, List<T>> m; a <- b; x <= y; 1 << 2; <T>",
    "a shell": '$ ls -la | grep x > y 2>&1 && echo "done"; cat <<EOF\nx\nEOF',
    "Python": "def ping():\n    return put(path='a')\n\nping()\nprint(ping())",
    "a call in words": "I would call ping() and then put(path='a.txt').",
    "YAML": "a:\n  - b: c\n  - d: [e, f]\n---\ng: |\n  h",
    "mail": "From: a <a@b.c>\nTo: d\nSubject: e\n\n> quoted\n>> twice",
    "quotes and dashes": "\u201cIt\u2019s\u201d \u2014 he said \u2026 \u00abbien s\u00fbr\u00bb, 100\u00a0%",
    "other scripts": "\u4f60\u597d\uff0c\u4e16\u754c\u3002 \u041f\u0440\u0438\u0432\u0435\u0442! \u05e9\u05dc\u05d5\u05dd \ud55c\uad6d\uc5b4 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "emphasis": "**bold**, *it*, __b__, _i_, ~~s~~, ==m==, # no, ## heading?",
    "headings": "# One\n\nText.\n\n## Two\n\nAction: none. Thought is free. Final: yes.",
    "labels": "Answer: 42\nAction taken: none\nResult: fine\nassistant: hi\nuser: bye",
    "ranges": "a|b|c, <a|b>, |x|, ||y||, a||b, [a|b]",
    "a long line": "word " * 400 + "end",
    "blank lines": "a" + "\n" * 40 + "b",
    "tabs": "a\tb\n\tc\n\t\td\t",
}  # fmt: skip

for_each = pytest.mark.parametrize("name", [name for name in api.names() if not api.get(name).frame])


@for_each
@pytest.mark.parametrize("offered", OFFERS)
def test_p8_ordinary_answers_are_verbatim(name: str, offered: str):
    dialect = api.get(name)
    wrong = {}
    for what, text in ANSWERS.items():
        for pieces in ([(text, False)], singly([(text, False)])):
            turn = turn_of(play(Setting(dialect, OFFERS[offered], dialect.begins), pieces))
            if turn.content != text or turn.calls or turn.reasoning or turn.notices:
                wrong[what] = (turn.content[:200], [notice.code for notice in turn.notices])
    assert not wrong


def thought(dialect: Dialect, text: str) -> str:
    """A thought, and what must stand before the answer where nothing closes it."""
    before, after = dialect.reasoning.split("{text}")
    return f"{before}{text}{after}" + (dialect.content[0].partition("{text}")[0] if not after.strip() else "")


@for_each
def test_p8_ordinary_answers_after_the_reasoning_keep_all_but_white_space(name: str):
    dialect = api.get(name)
    if not dialect.reasoning:
        return
    wrong = {}
    for what, text in ANSWERS.items():
        raw = thought(dialect, "Hm.") + text
        turn = turn_of(play(Setting(dialect, OFFERS["some"], dialect.begins), [(raw, False)]))
        if turn.content.strip() != text.strip() or turn.calls or turn.reasoning.strip() != "Hm.":
            wrong[what] = (turn.reasoning[:99], turn.content[:200], [notice.code for notice in turn.notices])
    assert not wrong


@for_each
def test_p8_ordinary_answers_as_thoughts(name: str):
    dialect = api.get(name)
    if not dialect.reasoning:
        return
    wrong = {}
    for what, text in ANSWERS.items():
        raw = thought(dialect, text) + "Yes."
        turn = turn_of(play(Setting(dialect, OFFERS["some"], dialect.begins), [(raw, False)]))
        if turn.reasoning.strip() != text.strip() or turn.content.strip() != "Yes.":
            wrong[what] = (turn.reasoning[:200], turn.content[:99], [notice.code for notice in turn.notices])
    assert not wrong
