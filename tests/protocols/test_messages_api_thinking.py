from __future__ import annotations

import pytest

from dragoman.errors import RequestError
from dragoman.protocols.fields import Fields
from dragoman.protocols.messages_api_thinking import read_thinking


def read(thinking=None, effort=None):
    return read_thinking(Fields({"thinking": thinking, "output_config": {"effort": effort}}))


@pytest.mark.parametrize(
    ("thinking", "effort", "wanted"),
    [
        (None, None, None),
        ({"type": "disabled"}, "high", False),
        ({"type": "enabled"}, None, True),
        ({"type": "enabled", "budget_tokens": 1024}, None, "low"),
        ({"type": "enabled", "budget_tokens": 4000}, None, "medium"),
        ({"type": "enabled", "budget_tokens": 16000}, None, "high"),
        ({"type": "enabled", "budget_tokens": 16000}, "low", "low"),
        ({"type": "adaptive"}, None, None),
        ({"type": "adaptive", "display": "updates"}, "high", "high"),
        ({"type": "between_tools"}, None, None),
        (None, "medium", "medium"),
        (None, "xhigh", "high"),
        (None, "max", "high"),
    ],
)
def test_m20_how_much_to_think(thinking, effort, wanted):
    assert read(thinking, effort)[0] == wanted


@pytest.mark.parametrize(
    ("thinking", "shown"),
    [
        (None, "full"),
        ({"type": "disabled"}, "none"),
        ({"type": "enabled", "budget_tokens": 1024}, "full"),
        ({"type": "adaptive", "display": "summarized"}, "full"),
        ({"type": "adaptive", "display": "updates"}, "full"),
        ({"type": "adaptive", "display": "omitted"}, "omitted"),
        ({"type": "enabled", "budget_tokens": 1024, "display": "omitted"}, "omitted"),
    ],
)
def test_m23_how_to_show_it(thinking, shown):
    assert read(thinking)[1] == shown


def test_m20_words_that_are_not_known_are_left_aside_and_told():
    assert read({"type": "deep"}, "extreme") == (None, "full", ("thinking.type", "output_config.effort"))


def test_m20_what_is_no_object_is_refused():
    with pytest.raises(RequestError) as caught:
        read("yes")
    assert caught.value.param == "thinking"
