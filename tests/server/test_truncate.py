from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from dragoman.engines.script import Script
from dragoman.messages import Call, Message, Request, Result, Text
from dragoman.server.roster import Roster
from dragoman.server.truncate import fit


def say(role, text="word " * 10):
    return Message(role, (Text(text),))


TURNS = (say("system"), say("user"), say("assistant"), say("user"), say("assistant"), say("user", "Well?"))


def fitted(context, messages=TURNS, limit=2):
    script = Script({"model": "m", "dialect": "hermes-json", "context": context, "turn": [{"output": "a"}]})

    async def run():
        roster = Roster([script])
        await roster.start()
        return await fit(Request("m", messages, limit=limit), roster.pick("m"))

    return asyncio.run(run()).messages


def test_r27_what_fits_stays_as_it_is():
    assert fitted(1000) == TURNS
    assert fitted(None) == TURNS


def test_r27_the_oldest_turns_go_whole():
    assert fitted(110) == (TURNS[0], *TURNS[3:])
    assert fitted(30) == (TURNS[0], TURNS[5])


def test_r27_what_cannot_fit_keeps_the_last_turn():
    assert fitted(3) == (TURNS[0], TURNS[5])


def test_r27_there_is_room_for_the_answer():
    assert len(fitted(110, limit=None)) < len(fitted(110, limit=2))


def test_r27_no_result_loses_its_call():
    call = Message("assistant", (Call("f", "{}", "c"),))
    talk = (say("user"), call, Message("tool", (Result("c", (Text("x " * 20),), "f"),)), say("user", "Well?"))
    assert fitted(30, talk) == (talk[3],)


@pytest.mark.parametrize("messages", [(), (say("assistant"),)])
def test_r27_nothing_to_drop(messages):
    assert fitted(5, messages) == messages


def test_the_rest_of_the_request_is_untouched():
    asked = Request("m", TURNS, limit=2)
    assert replace(asked, messages=fitted(30)).limit == 2
