from __future__ import annotations

import random

import pytest
from grammars import accepts, lark_accepts, lark_error

from dragoman.errors import UsageError
from dragoman.syntax.lark_reader import read_lark
from dragoman.syntax.sample import sample

PATCH = """\
start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

hunk: add_hunk | delete_hunk | update_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
update_hunk: "*** Update File: " filename LF change_move? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF -> line

change_move: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
"""
"""The grammar that Codex sends with `apply_patch`."""

SUM = """
start: expr                       // left recursive, as parsers of this kind like it
?expr: expr "+" term
     | expr "-" term
     | term
term: NUMBER
    | "(" expr ")"
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
"""


@pytest.mark.parametrize(
    ("definition", "good", "bad"),
    [
        ('start: "a"', ["a"], ["", "b", "aa"]),
        ('start: "a" "b"? "c"*', ["a", "ab", "accc", "abc"], ["b", "ac b"]),
        ('start: ["a"] ("b" | "c")+', ["b", "acb"], ["a", ""]),
        ('start: "a"~2 "b"~1..2 "c"{2} "d"{,1} "e"{1,}', ["aabcce", "aabbccdee"], ["abcce", "aabcc", "aabbbcce"]),
        ('start: "ab"i', ["ab", "AB", "aB"], ["b", "abc"]),
        ('start: "a".."c"', ["a", "b", "c"], ["d", "A"]),
        ('start: A b\nA: "x" | /y+/\nb: A', ["xx", "yyx", "xyyy"], ["x", ""]),
        ("start: /[a-c]{2}/ /D/i", ["abd", "ccD"], ["ab", "abdd"]),
        ("start: /a.b/", ["axb", "a b"], ["a\nb"]),
        ("start: /a.b/s", ["a\nb"], ["ab"]),
        (r"start: /a\/b/ " + r'"\n\t\"\\" "\x41"', ['a/b\n\t"\\A'], ["a/b"]),
        ('start: "a" -> one\n  | "b" -> two', ["a", "b"], ["ab"]),
        ('start: A\nA.3: "a"', ["a"], ["b"]),
        ('!start: "a"', ["a"], ["b"]),
        ('?start: b\n\n\n_b: "c"\nb: _b', ["c"], ["b"]),
        ('start: "a"  // said\n# said too\n', ["a"], ["a "]),
        ('start: "//" "#"', ["//#"], ["//"]),
        ('start:\n    "a"\n    | "b"\n', ["a", "b"], [""]),
        ('start: "a" |', ["a", ""], ["b"]),
        ("%import common.INT\nstart: INT", ["0", "12"], ["", "-1", "1.5"]),
        ("%import common (INT, WS)\nstart: INT WS INT", ["1 2", "1\n 2"], ["12"]),
        ("%import common.CNAME -> NAME\nstart: NAME", ["a_1"], ["1a", ""]),
        ("%import common.ESCAPED_STRING\nstart: ESCAPED_STRING", ['"a"', r'"a\"b"', '""'], ['"a', '"a"b"']),
        ("%import common.SIGNED_NUMBER\nstart: SIGNED_NUMBER", ["1", "-1.5", "+.5e-3"], ["", "-", "1e"]),
        ('start: "a" start | "b"', ["b", "aab"], ["a"]),
        ('start: start "a" | "b"', ["b", "baa"], ["ab"]),
        ('start: start | "b"', ["b"], ["bb"]),
        ('start: "a" "b"\n%ignore " "', ["ab", "a b", "a b "], ["a  b"]),
        ('%ignore /x/\n%ignore "y"\nstart: "a"', ["a", "ax", "ay"], ["axy"]),
        ('A: "b" "c"\n%ignore " "\nstart: A', ["bc", "bc "], ["b c"]),
    ],
)
def test_what_a_grammar_lets_pass(definition, good, bad):
    tree = read_lark(definition)
    assert [text for text in good if not accepts(tree, text)] == []
    assert [text for text in bad if accepts(tree, text)] == []


def test_the_grammar_that_codex_sends():
    tree = read_lark(PATCH)
    patch = "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-    return 1\n+    return 2\n*** End Patch"
    assert accepts(tree, patch)
    assert accepts(tree, patch + "\n")
    assert accepts(tree, '*** Begin Patch\n*** Add File: a\n+x <b> \\ "é"\n*** End Patch')
    assert not accepts(tree, patch.replace("*** End Patch", ""))
    assert not accepts(tree, "*** Begin Patch\n*** End Patch")


def test_sums():
    tree = read_lark(SUM)
    for text in ("1", "1 + 2", "(1+2.5) - 3", "( (1))"):
        assert accepts(tree, text), text
    for text in ("", "1 +", "(1", "1  2", "+1"):
        assert not accepts(tree, text), text


@pytest.mark.parametrize("definition", [PATCH, SUM, 'start: ("a" | "b")+ /[0-9]{2,3}/ "end"i\n'])
def test_what_is_written_another_reader_lets_pass(definition):
    """llguidance reads the grammar as it was sent."""
    sent = "%llguidance {}\n" + definition
    assert lark_error(sent) == ""
    tree = read_lark(definition)
    for seed in range(40):
        text = sample(tree, random.Random(seed).randrange, size=60, pool='abcxyz019 +-()@*<"\\é')
        assert lark_accepts(sent, list(text.encode())), text


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ("", "no rule `start`"),
        ('a: "b"', "no rule `start`"),
        ("start: a", "no rule 'a'"),
        ("start: A", "no rule 'A'"),
        ('start: "a"\nstart: "b"', "twice"),
        ('start: ("a"', "has no end"),
        ('start: "a")', "not understood where it stands"),
        ("start: ~", "'~' is not offered here"),
        ('start: "a"~5000', "up to 1000 times"),
        ('start: "a"~3..2', "up to 1000 times"),
        ('start: "a"~x', "a number is missing"),
        ('start: "ab".."c"', "no range"),
        ('start: "c".."a"', "no range"),
        ("start: /(?=a)b/", "more in it than is offered"),
        ("start: /a/x", "more in it than is offered"),
        ("start: /a(/", "more in it than is offered"),
        ("start: <[5]>", "not understood here"),
        ("start: %json {}", "not understood|not offered"),
        ('start: "a" & "b"', "not understood here"),
        ('a{x}: x\nstart: a{"b"}', "not offered here"),
        ('start[capture]: "a"', "not offered here"),
        ("%declare A\nstart: A", "no rule 'A'|not offered"),
        ("%import python.NAME\nstart: NAME", "only common"),
        ("%import common.NOTHING\nstart: NOTHING", "no common terminal"),
        ("start: a\na: b\nb: a", "begins with itself"),
        ('start: a "x"\na: b? start\nb: "y"', "begins with itself"),
        ('start: "a"? start "b"', "begins with itself"),
        ('start: "a" start', "never ends"),
        ("start: start", "never ends|begins with itself"),
        ("| start", "not with a rule"),
        ("start: " + "(" * 60 + '"a"' + ")" * 60, "nested more than"),
        ("start: " + '"a" ' * 6000, "more than 20000 characters"),
        ('start: "\\u12"', "cannot be read"),
        ("start: 5", "'5' is not offered here"),
    ],
)
def test_what_cannot_be_read_is_said(definition, said):
    with pytest.raises(UsageError, match=said):
        read_lark(definition)


def test_any_text_is_read_or_refused():
    parts = [*'ab:|()[]{}?*+~."\\/%,->#\n ', "start", "A", '"x"', "/y/", "%import", "common", "5", ".."]
    for seed in range(2000):
        chance = random.Random(seed)
        definition = "start: " * chance.randrange(2) + " ".join(chance.choices(parts, k=chance.randrange(12)))
        try:
            read_lark(definition)
        except UsageError:
            continue
