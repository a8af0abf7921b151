"""Every case of the corpus, in every kind of pieces: what it means, and that the cutting does not matter."""

from __future__ import annotations

import random
import zlib

import corpus
import pytest
from corpus import Case
from scenes import tiles
from streams import (
    Setting,
    bare,
    halves,
    merge,
    numbered,
    play,
    scattered,
    singly,
    tokens,
    turn_of,
)

from dragoman import api
from dragoman.errors import UsageError
from dragoman.messages import Call, Reasoning, Request, Text, Tool, Turn
from dragoman.syntax.decode import Policy

CASES = corpus.everything()
PARSED = [case for case in CASES if not case.stop]

WEATHER = Tool(
    "get_weather",
    parameters={"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
)

each_case = pytest.mark.parametrize("case", PARSED, ids=str)


def setting(case: Case, *, special: bool = False) -> Setting:
    specials = numbered(case.vocabulary) if special or case.marks else None
    return Setting(api.get(case.dialect), case.tools, case.prompt, specials, Policy(**case.policy))


@pytest.fixture(autouse=True)
def _as_read(request: pytest.FixtureRequest) -> None:
    """What is being rewritten was read before; it is held against the rest in the next run."""
    if request.config.getoption("--update-corpus") and "means_what" not in request.node.name:
        pytest.skip("run again without --update-corpus")


def test_every_dialect_has_a_corpus():
    assert set(api.names()) <= {path.stem for path in corpus.files()}


def test_every_corpus_has_a_dialect():
    strangers = {path.stem for path in corpus.files()} - set(api.names())
    assert not strangers, f"a corpus file has the name of its dialect: {sorted(strangers)} are no dialects"


@pytest.mark.parametrize("name", api.names())
def test_a_thought_and_a_call_can_be_written_and_read(name: str):
    """A dialect that cannot say this reads its own marks as something else."""
    dialect = api.get(name)
    thought = (Reasoning("Hm."),) if dialect.reasoning else ()
    rest = Call("get_weather", '{"city": "Paris", "days": 3}') if dialect.call else Text("It is sunny.")
    back = api.decode(name, api.encode(name, Turn((*thought, rest))), [WEATHER])
    assert back.reasoning == ("Hm." if thought else "")
    assert [call.name for call in back.calls] == ["get_weather"] * bool(dialect.call)


@each_case
def test_it_means_what_the_case_says(case: Case, request: pytest.FixtureRequest):
    turn = turn_of(play(setting(case), case.pieces, case.finish))
    found = corpus.problems(case, turn)
    if found and request.config.getoption("--update-corpus"):
        corpus.update(corpus.FOLDER / f"{case.dialect}.txt", {case.title: corpus.describe(turn)})
        pytest.skip("rewritten")
    assert not found, "\n".join([f"raw: {case.raw!r}", "wanted", *case.expect, *found])


@each_case
def test_the_cutting_does_not_matter(case: Case):
    made = setting(case)
    whole = merge(play(made, case.pieces, case.finish))
    chance = random.Random(zlib.crc32(case.title.encode()))
    cuttings = [singly(case.pieces), *halves(case.pieces)]
    cuttings += [scattered(case.pieces, chance, mean) for mean in (2, 4, 9, 30)]
    for pieces in cuttings:
        assert merge(play(made, pieces, case.finish)) == whole, pieces


@pytest.mark.parametrize("case", [c for c in PARSED if not c.marks and c.special], ids=str)
def test_marks_as_special_tokens_mean_the_same(case: Case):
    made, pieces = setting(case, special=True), tokens(case.raw, case.vocabulary)
    events = play(made, pieces, case.finish)
    found = corpus.problems(case, turn_of(events))
    assert not found, "\n".join([f"pieces: {pieces!r}", "wanted", *case.expect, *found])
    assert merge(play(made, singly(pieces), case.finish)) == merge(events)


@pytest.mark.parametrize("case", [c for c in PARSED if not c.marks], ids=str)
def test_a_prompt_may_hold_the_beginning_of_the_turn(case: Case):
    chance = random.Random(zlib.crc32(case.title.encode()))
    prompt = case.prompt or api.get(case.dialect).begins
    for _ in range(2):
        at = chance.randrange(len(case.raw) + 1)
        made = Setting(api.get(case.dialect), case.tools, prompt + case.raw[:at], None, Policy(**case.policy))
        spans: list[tuple[int, int, str]] = []
        rest = [(case.raw[at:], False)]
        events = play(made, rest, case.finish, spans)
        tiles(case.raw[at:], spans, events)
        assert merge(play(made, singly(rest), case.finish)) == merge(events), case.raw[:at]


@each_case
def test_what_is_encoded_reads_back(case: Case):
    turn = bare(turn_of(play(setting(case), case.pieces, case.finish)))
    if case.policy or case.marks or not all(part.complete and part.valid for part in turn.calls):
        return  # how it was read is not in the turn, or there is nothing whole to write
    try:
        raw = api.encode(case.dialect, turn, prompt=case.prompt)
    except UsageError:
        return
    back = play(Setting(api.get(case.dialect), case.tools, case.prompt), [(raw, False)])
    assert corpus.same_parts(turn_of(back), turn), raw


@pytest.mark.parametrize("case", [c for c in PARSED if c.canonical], ids=str)
def test_canonical_text_is_what_encode_writes(case: Case):
    turn = turn_of(play(setting(case), case.pieces, case.finish))
    assert api.encode(case.dialect, turn, prompt=case.prompt) == case.raw


@pytest.mark.parametrize("case", [c for c in CASES if c.stop], ids=str)
def test_stop_strings_apply_to_content_only(case: Case):
    generation = pytest.importorskip("dragoman.generation")
    from dragoman.engines.base import End, Piece

    asked = Request(tools=case.tools or (), stop=case.stop)
    for pieces in ([(case.raw, False)], singly(case.pieces)):
        played = generation.Generation(api.get(case.dialect), asked, case.prompt, None, ids=lambda: "id")
        events = [event for text, special in pieces for event in played.feed(Piece(text, special=special))]
        assert not corpus.problems(case, turn_of(events + played.close(End(case.finish))))
