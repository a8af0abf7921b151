"""The scanner: marks are found however the text is cut, little is held, and every look ahead is bounded."""

from __future__ import annotations

import re

import pytest
from drive import WAITS, cuttings, drive, same

from dragoman.syntax.reader import LONGEST, Reader, Stop, spelling, stop


def until(*marks: str, plain: frozenset[str] = frozenset(), cut: bool = False, specials=None):
    """Reads to the first mark: (the mark, the text before it, what is left, what was dropped)."""

    def run(pieces: list[str]):
        r = Reader(specials)
        text: list[str] = []

        def put(piece: str, at: int) -> None:
            assert at == sum(map(len, text)), "the offset is that of the piece"
            assert piece
            text.append(piece)

        mark = drive(lambda r: r.until(stop(*marks, plain=plain), put), pieces, cut=cut, r=r)
        fed = "".join(pieces)
        return mark, "".join(text), fed[r.at :] if mark else "", r.dropped

    return run


# --- spelling


@pytest.mark.parametrize(
    ("mark", "spelled"),
    [
        ("<|end|>", ["<|end|>", "<｜end｜>", "<‖end‖>", "<||end||>", "<|end｜>", "<|end||>"]),
        ("</f>", ["</f>", "</ f>", "< /f>", "</f  >", "<\t/ f >"]),
        ("<f=", ["<f=", "< f=", "<f =", "<f  ="]),
        ("<f=x>", ["<f= x>", "<f = x >"]),
        ('<p n="x">', ['<p n="x">', "<p n='x\">", '<p n=x">']),
        ("a b", ["a b", "a\n b"]),
        ("a", ["a"]),
        ("=>", ["=>"]),
    ],
)
def test_a_mark_matches_all_its_spellings(mark: str, spelled: list[str]):
    pattern = re.compile("".join(spelling(mark)))
    assert [text for text in spelled if not pattern.fullmatch(text)] == []


@pytest.mark.parametrize(
    ("mark", "other"),
    [
        ("<|end|>", "<|||end|>"),
        ("<|end|>", "< |end|>"),
        ("</f>", "</   f>"),
        ("</f>", "</\nf>"),
        ("<f>", "<F>"),
        ("=>", "= >"),
        ("a.c", "abc"),
    ],
)
def test_other_text_is_no_spelling_of_a_mark(mark: str, other: str):
    assert not re.fullmatch("".join(spelling(mark)), other)


# --- until


@pytest.mark.parametrize("mark", ["</tool_call>", "</ tool_call >", "< /tool_call>"])
def test_a_mark_is_found_wherever_it_is_cut(mark: str):
    assert same(until("</tool_call>"), f"a < b </tool {mark} after")[:2] == ("</tool_call>", "a < b </tool ")


def test_what_only_begins_like_a_mark_is_text():
    assert same(until("<end>", "<enough>"), "<en<eno<end <enough") == ("", "<en<eno<end <enough", "", "")


def test_where_one_mark_begins_another_the_longer_is_waited_for():
    run = until("<a", "<ab>")
    assert same(run, "x<ab>y")[:2] == ("<ab>", "x")
    assert same(run, "x<aby")[:3] == ("<a", "x", "by")
    assert same(run, "x<ab")[:3] == ("<a", "x", "b")
    assert same(run, "x<a")[:2] == ("<a", "x")


def test_the_beginning_of_a_mark_is_held_and_no_more():
    r, out = Reader(), []
    work = r.until(stop("<end>"), lambda text, _at: out.append(text))
    next(work)
    held = []
    for char in "ab<en c<end":
        r.feed(char)
        next(work)
        held.append(r.buf[r.pos :])
    assert held == ["", "", "<", "<e", "<en", "", "", "<", "<e", "<en", "<end"]
    assert "".join(out) == "ab<en c"


def test_of_two_marks_the_first_in_the_text_counts():
    assert same(until("<a>", "<b>"), "x<b><a>") == ("<b>", "x", "<a>", "")


def test_no_marks_no_stop():
    assert same(until(), "<a>") == ("", "<a>", "", "")


def test_marks_are_compiled_once_and_without_doubles():
    assert stop("<a>", "<b>") is stop("<a>", "<b>")
    assert Stop(("<a>", "<long>", "<a>")).marks == ("<long>", "<a>")


def test_a_mark_can_be_read_again_and_tells_its_spelling():
    for pieces in cuttings("ab< /f>"):
        r = Reader()
        assert drive(lambda r: r.until(stop("</f>"), lambda *_: None), pieces, r=r) == "</f>"
        assert (r.last, r.mark_at, r.at) == ("< /f>", 2, 7)
        r.back()
        assert r.at == 2


# --- the end


def test_a_limit_drops_a_mark_that_it_cut():
    assert same(until("<end>", cut=True), "text <en") == ("", "text ", "", "<en")


def test_a_text_that_ends_by_itself_keeps_what_looks_like_a_begun_mark():
    assert same(until("<end>"), "text <en") == ("", "text <en", "", "")


def test_a_limit_drops_one_character_of_a_mark_too_but_never_a_word():
    assert same(until("<end>", cut=True), "1 <") == ("", "1 ", "", "<")
    assert same(until("assistant<end>", cut=True), "1 assist") == ("", "1 assist", "", "")


def test_a_limit_may_cut_within_the_longer_of_two_marks():
    run = until("<a", "<abc>", cut=True)
    assert same(run, "x<ab") == ("", "x", "", "<ab")
    assert same(run, "x<a!")[:3] == ("<a", "x", "!")


def test_a_limit_leaves_whole_marks_alone():
    run = until("<a", "bcd", cut=True)
    assert same(run, "x<a bc")[:3] == ("<a", "x", " bc")


# --- special tokens

PLAIN = frozenset(("<end>",))
SPECIALS = frozenset(("<end>",))


def marks_read(pieces, specials, plain=PLAIN):
    r, out = Reader(specials), []
    work = r.until(stop("<end>", "<call>", plain=plain), lambda text, _at: out.append(text))
    try:
        next(work)
        for text, special in pieces:
            r.feed(text, special)
            next(work)
        r.closed = True
        next(work)
    except StopIteration as done:
        return done.value, "".join(out)
    raise AssertionError("it waits")


def test_a_plain_mark_that_is_only_spelled_is_text():
    assert marks_read([("a<end>", False), ("<e", False), ("nd>", False), ("<end>", True)], SPECIALS) == (
        "<end>",
        "a<end><end>",
    )
    assert marks_read([("a<end>", False)], SPECIALS) == ("", "a<end>")


def test_other_marks_count_when_they_are_spelled_and_say_so():
    r = Reader(frozenset(("<call>",)))
    assert drive(lambda r: r.until(stop("<call>"), lambda *_: None), ["a<call>"], r=r) == "<call>"
    assert r.spelled("<call>", r.mark_at)
    assert not r.spelled("<other>", r.mark_at)


def test_a_mark_that_came_as_its_token_is_not_spelled():
    r = Reader(SPECIALS)
    r.feed("abc")
    r.feed("<end>", special=True)
    r.feed("x")
    assert not r.spelled("<end>", 3)
    assert r.spelled("<end>", 0)


def test_without_specials_text_decides():
    assert marks_read([("a<end>", False)], None) == ("<end>", "a")
    assert not Reader().spelled("<end>", 0)


def test_a_plain_mark_that_the_tokenizer_does_not_have_counts_as_text():
    assert marks_read([("a<end>", False)], frozenset(("<other>",))) == ("<end>", "a")


# --- peek, next


def test_peek_reads_white_space_and_waits_for_a_character():
    for pieces in cuttings(" \n\t x"):
        r = Reader()
        assert drive(lambda r: r.peek(), pieces, r=r) == "x"
        assert r.at == 4
    assert drive(lambda r: r.peek(), [" "], close=False) is WAITS
    assert drive(lambda r: r.peek(), [" "]) == ""


def test_next_reads_a_mark_behind_white_space_or_nothing():
    def run(pieces: list[str]):
        r = Reader()
        return drive(lambda r: r.next(stop("<a>", "<ab>")), pieces, r=r), r.at

    assert same(run, " \n<a>x") == ("<a>", 5)
    assert same(run, " x<a>") == ("", 0)
    assert same(run, " <a") == ("", 0)
    assert same(run, "") == ("", 0)


# --- ahead, beyond, ended, look


def test_ahead_tells_a_mark_and_its_end_without_reading():
    def run(pieces: list[str]):
        r = Reader()
        return drive(lambda r: r.ahead(stop("<a>"), 2), pieces, r=r), r.at

    assert same(run, "xy <a>z") == (("<a>", 6), 0)
    assert same(run, "xy z<a>") == (("", 2), 0)
    assert same(run, "xy") == (("", 2), 0)


def test_ahead_takes_only_a_whole_mark_at_the_end():
    assert drive(lambda r: r.ahead(stop("<ab>")), ["<a"], close=False) is WAITS
    assert drive(lambda r: r.ahead(stop("<ab>")), ["<a"]) == ("", 0)
    assert drive(lambda r: r.ahead(stop("<a", "<ab>")), ["<ab"]) == ("<a", 2)


def test_ahead_passes_so_much_white_space_and_no_more():
    def run(pieces: list[str]):
        return drive(lambda r: r.ahead(stop("<a>")), pieces)

    assert run([" " * LONGEST + "<a>"]) == ("<a>", LONGEST + 3)
    assert run([" " * (LONGEST + 1) + "<a>"]) == ("", 0)
    assert run([*" " * (LONGEST + 1), "<a>"]) == ("", 0)


def test_beyond_passes_marks():
    def run(text: str):
        return same(
            lambda pieces: drive(
                lambda r: r.beyond(stop("</a>", "</b>", "<c>"), frozenset(("</a>", "</b>")), 1), pieces
            ),
            text,
        )

    assert run("x </a>\n</b><c>") == "<c>"
    assert run("x</a> </b> ") == ""
    assert run("x</a> y") is None
    assert run("x") == ""


def test_ended_tells_whether_only_white_space_follows():
    def run(text: str):
        return same(lambda pieces: drive(lambda r: r.ended(1), pieces), text)

    assert run("x \n ")
    assert run("x")
    assert not run("x y")
    assert not run("x" + " " * (LONGEST + 1))
    assert run("x" + " " * LONGEST)


def test_look_waits_while_a_match_may_grow():
    word = re.compile(r"[a-z]{0,9}")
    assert drive(lambda r: r.look(word), ["abc"], close=False) is WAITS
    assert same(lambda pieces: drive(lambda r: r.look(word, 1), pieces).group(), "xabc-") == "abc"
    assert drive(lambda r: r.look(word), ["abc"]).group() == "abc"


def test_look_does_not_wait_once_its_ok_has_matched():
    assert drive(lambda r: r.look(re.compile(r"[a-z]*(?P<ok>\()?")), ["ab", "c("], close=False).group() == "abc("


def test_look_answers_none_where_nothing_can_match():
    assert drive(lambda r: r.look(re.compile(r"[a-z](?:b(?P<ok>c)?)?")), ["1"], close=False) is None


# --- the buffer


def test_what_was_read_is_let_go():
    r = Reader()
    work = r.until(stop("<end>"), lambda *_: None)
    next(work)
    for _ in range(100):
        r.feed("text <e")
        next(work)
        assert len(r.buf) < 12
    assert r.at == 698


def test_text_is_kept_from_an_offset_on():
    r = Reader()
    work = r.until(stop("<end>"), lambda *_: None)
    next(work)
    r.feed("ab<e")
    next(work)
    r.keep(2)
    for text in ("f c", "d<en", "d>e"):
        r.feed(text)
        if r.mark_at == 0:
            next(work, None)
    assert r.raw() == "<ef cd<end>"


def test_nothing_kept_is_no_text():
    assert Reader().raw() == ""


def test_the_rest_is_read_and_all_can_be_dropped():
    r = Reader()
    r.feed("abc")
    r.pos = 1
    assert (r.rest(), r.at) == ("bc", 3)
    r.feed("de")
    r.keep(3)
    r.drop()
    assert (r.buf, r.at, r.kept) == ("", 5, None)


# --- rare shapes of marks


def test_doubled_bars_of_a_mark_may_be_single():
    pattern = re.compile("".join(spelling("<||x||>")))
    assert [text for text in ("<||x||>", "<|x|>", "<｜x‖>") if not pattern.fullmatch(text)] == []


def test_a_mark_inside_what_only_began_another_counts_at_the_end():
    assert same(until("<a<b>", "<b"), "x<a<b")[:2] == ("<b", "x<a")
    assert same(until("<a<b>", "<b"), "x<a<b>")[:2] == ("<a<b>", "x")


def test_a_plain_mark_that_is_only_spelled_is_text_at_the_end_too():
    run = until("<a", "<ab>", plain=frozenset(("<a",)), specials=frozenset(("<a",)))
    assert same(run, "x<a") == ("", "x<a", "", "")
