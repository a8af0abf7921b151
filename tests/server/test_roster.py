"""Which model answers, and in which dialect."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.engines.base import ModelInfo
from dragoman.engines.script import Script
from dragoman.errors import RequestError, Unreachable, UsageError
from dragoman.server.roster import Roster, Served
from dragoman.syntax.dialect import Dialect


class Offers(Script):
    """An engine with these models."""

    def __init__(self, *infos: ModelInfo) -> None:
        super().__init__({})
        self.infos = infos

    async def models(self) -> tuple[ModelInfo, ...]:
        return self.infos


async def roster(*infos: ModelInfo, **settings: Any) -> Roster:
    made = Roster([Offers(*infos)], **settings)
    await made.start()
    return made


async def test_a_single_model_answers_to_every_name() -> None:
    made = await roster(ModelInfo("one", "harmony"))
    assert made.pick("").name == made.pick("gpt-4").name == "one"


async def test_a_strict_server_knows_names() -> None:
    made = await roster(ModelInfo("one", "harmony"), strict=True)
    assert made.pick("one").name == "one"
    with pytest.raises(RequestError, match="no model 'two' here; offered: 'one'") as caught:
        made.pick("two")
    assert (caught.value.status, caught.value.param) == (404, "model")


async def test_of_several_models_one_is_named() -> None:
    made = await roster(ModelInfo("one", "harmony"), ModelInfo("two", "gemma4"))
    assert made.pick("two").dialect.name == "gemma4"
    with pytest.raises(RequestError, match="did you mean 'two'"):
        made.pick("twoo")


async def test_nothing_is_picked_before_it_is_ready() -> None:
    made = Roster([Offers(ModelInfo("one", "harmony"))])
    with pytest.raises(Unreachable, match="is loading"):
        made.pick("one")
    await made.start()
    await made.stop()
    with pytest.raises(Unreachable):
        made.pick("one")


@pytest.mark.parametrize(
    ("info", "name"),
    [
        (ModelInfo("m", "harmony"), "harmony"),
        (ModelInfo("m", "gpt-oss"), "harmony"),
        (ModelInfo("m", "", "{{ '<|im_start|>assistant\n' }}", {"<|im_start|>": 1, "<|im_end|>": 2}), "hermes-json"),
        (ModelInfo("m", "", "", {"<|turn>": 1, "<turn|>": 2}), "gemma4"),
    ],
)
async def test_the_dialect_of_a_model(info: ModelInfo, name: str) -> None:
    assert (await roster(info)).pick("m").dialect.name == name


async def test_the_setting_wins() -> None:
    made = await roster(ModelInfo("m", "harmony"), dialect="gemma4")
    assert made.pick("m").dialect.name == "gemma4"


async def test_a_dialect_that_cannot_be_told_is_asked_for() -> None:
    with pytest.raises(UsageError, match="which dialect 'm' writes; name it with --dialect"):
        await roster(ModelInfo("m", "", "{{ messages }}", {"</s>": 2}))


async def test_the_marks_of_a_dialect_are_wanted_as_text() -> None:
    specials = {mark: number for number, mark in enumerate(["<|channel|>", "<|return|>", "<|foo|>", "<unk>"])}
    made = await roster(ModelInfo("m", "harmony", "", specials))
    assert made.pick("m").marks == ("<|channel|>", "<|return|>")


async def test_a_turn_is_decoded_by_a_dialect_with_a_name_or_by_the_upstream() -> None:
    (named,) = await roster(ModelInfo("m", "harmony"))
    assert named.decoded == "harmony"
    served = Served(named.engine, named.info, Dialect(""))
    assert served.decoded == "learnt"
    served.engine.talks = True
    assert served.decoded == "upstream"
