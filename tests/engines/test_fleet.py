"""Several upstreams of one model: who is asked, who is asked next, and when nobody else is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from dragoman.engines.base import End, Item, ModelInfo, Options, Piece, Progress, Prompt
from dragoman.engines.fleet import Fleet
from dragoman.engines.voice import Voice
from dragoman.errors import Broken, EngineError, Refused, RequestError, Unreachable


@dataclass
class House:
    name: str
    healthy: bool = True
    running: int = 0
    places: int | None = 2


class Plays(Voice):
    """Plays batches; an error is raised in its place.  Each stream takes the next play, the last one stays."""

    def __init__(self, *plays: Sequence[Any], house: House | None = None, talks: bool = False) -> None:
        super().__init__("upstream", ModelInfo("m"))
        self.plays, self.home, self.talks = list(plays), house or House("one"), talks
        self.asked = 0

    async def count(self, prompt: Prompt) -> int | None:
        return 7

    async def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        self.asked += 1
        play = self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]
        for batch in play:
            if isinstance(batch, Exception):
                raise batch
            yield batch


GOOD = [[Piece("a")], [End()]]


async def hear(*members: Voice) -> list[Any]:
    fleet = Fleet(*members, pause=0)
    return [item async for batch in fleet.stream(Prompt(()), Options()) for item in batch]


@pytest.mark.parametrize("error", [Unreachable("x"), Broken("x"), Refused("x", status=429), Refused("x")])
async def test_another_one_is_tried_before_the_first_piece(error: EngineError) -> None:
    first, second = Plays([error]), Plays(GOOD, house=House("two"))
    assert await hear(first, second) == [Piece("a"), End()]
    assert (first.asked, second.asked) == (1, 1)


async def test_what_was_begun_is_never_begun_anew() -> None:
    first, second = Plays([[Piece("a")], Broken("x")]), Plays(GOOD)
    with pytest.raises(Broken):
        await hear(first, second)
    assert second.asked == 0


async def test_progress_is_no_beginning() -> None:
    first, second = Plays([[Progress(1, 2)], Broken("x")]), Plays(GOOD)
    assert (await hear(first, second))[-1] == End()


async def test_what_the_client_did_wrong_is_wrong_everywhere() -> None:
    first, second = Plays([RequestError("x")]), Plays(GOOD)
    with pytest.raises(RequestError):
        await hear(first, second)
    assert second.asked == 0


async def test_when_all_fail_the_last_one_says_why() -> None:
    with pytest.raises(Refused, match="second"):
        await hear(Plays([Unreachable("first")]), Plays([Refused("second")]))


@pytest.mark.parametrize(("error", "asked"), [(Unreachable("x"), 2), (Broken("x"), 2), (Refused("x"), 1)])
async def test_the_only_one_gets_a_second_chance_if_it_was_gone(error: EngineError, asked: int) -> None:
    only = Plays([error], GOOD)
    if asked == 2:
        assert (await hear(only))[-1] == End()
    else:
        with pytest.raises(Refused):
            await hear(only)
    assert only.asked == asked


async def test_one_that_cannot_be_reached_is_asked_last_from_then_on() -> None:
    house = House("one")
    first, second = Plays([Unreachable("x")], GOOD, house=house), Plays(GOOD, house=House("two"))
    await hear(first, second)
    assert not house.healthy
    await hear(first, second)
    assert (first.asked, second.asked) == (1, 2)


async def test_who_cannot_count_is_passed_over() -> None:
    class Mute(Plays):
        async def count(self, prompt: Prompt) -> int | None:
            raise Unreachable("x")

    assert await Fleet(Mute(GOOD), Plays(GOOD, house=House("two"))).count(Prompt(())) == 7
    assert await Fleet(Mute(GOOD)).count(Prompt(())) is None


def test_the_one_with_the_most_room_comes_first() -> None:
    full, free = Plays(GOOD, house=House("full", running=2)), Plays(GOOD, house=House("free", running=1))
    down, endless = Plays(GOOD, house=House("down", healthy=False)), Plays(GOOD, house=House("endless", places=None))
    assert Fleet(full, down, free, endless).ordered() == [endless, free, full, down]
    assert Fleet(full, free).places == 4
    assert Fleet(full, endless).places is None


async def test_only_those_spoken_to_in_the_same_way_join() -> None:
    fleet = Fleet(Plays(GOOD))
    assert not fleet.join(Plays(GOOD, talks=True))
    house = House("two")
    assert fleet.join(Plays(GOOD, house=house))
    assert fleet.join(again := Plays(GOOD, house=house))
    assert fleet.members[1:] == [again]
    assert await fleet.count(Prompt(())) == 7
    assert (await fleet.models())[0].name == "m"
    assert fleet.tokenizer is None


async def test_a_model_that_nobody_has_any_more() -> None:
    house = House("one")
    fleet = Fleet(Plays(GOOD, house=house))
    assert not fleet.leave(house)
    with pytest.raises(Unreachable, match="any more"):
        await anext(aiter(fleet.stream(Prompt(()), Options())))
