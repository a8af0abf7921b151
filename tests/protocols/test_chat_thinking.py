from __future__ import annotations

import pytest

from dragoman.protocols.chat_thinking import read_thinking, write_thinking
from dragoman.protocols.fields import Fields


def read(**fields):
    return read_thinking(Fields(fields))


@pytest.mark.parametrize(
    ("fields", "thinking"),
    [
        ({}, None),
        ({"reasoning_effort": "none"}, False),
        ({"reasoning_effort": "minimal"}, "minimal"),
        ({"reasoning_effort": "low"}, "low"),
        ({"reasoning_effort": "medium"}, "medium"),
        ({"reasoning_effort": "high"}, "high"),
        ({"reasoning_effort": "xhigh"}, "high"),
        ({"reasoning_effort": "max"}, "high"),
        ({"reasoning": {"effort": "low"}}, "low"),
        ({"reasoning": {"effort": None, "enabled": False}}, False),
        ({"reasoning": {"enabled": True}}, True),
        ({"reasoning": {"max_tokens": 0}}, False),
        ({"reasoning": {"max_tokens": 1500}}, "low"),
        ({"reasoning": {"max_tokens": 5000}}, "medium"),
        ({"reasoning": {"max_tokens": 9000}}, "high"),
        ({"reasoning": {"exclude": True}}, None),
        ({"thinking": True}, True),
        ({"thinking": "low"}, "low"),
        ({"thinking": {"type": "enabled"}}, True),
        ({"thinking": {"type": "enabled", "budget_tokens": 3000}}, "medium"),
        ({"thinking": {"type": "adaptive"}}, None),
        ({"thinking": {"type": "disabled", "budget_tokens": 3000}}, False),
        ({"enable_thinking": False}, False),
        ({"enable_thinking": True}, True),
        ({"thinking_budget": 100}, "low"),
        ({"chat_template_kwargs": {"enable_thinking": False}}, False),
        ({"chat_template_kwargs": {"thinking": True}}, True),
        ({"chat_template_kwargs": {"reasoning_effort": "high"}}, "high"),
        ({"reasoning_effort": "low", "enable_thinking": False}, "low"),
    ],
)
def test_c28_every_name_for_thinking(fields, thinking):
    assert read(**fields) == (thinking, ())


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        ({"reasoning_effort": "extreme"}, (None, ("reasoning_effort",))),
        ({"reasoning_effort": 3, "thinking": True}, (True, ("reasoning_effort",))),
        ({"reasoning": "high"}, (None, ("reasoning",))),
        ({"thinking": {"type": "sometimes"}}, (None, ("thinking",))),
        ({"thinking": []}, (None, ("thinking",))),
        ({"thinking_budget": "x"}, (None, ("thinking_budget",))),
        ({"chat_template_kwargs": {"enable_thinking": "so"}}, (None, ("chat_template_kwargs.enable_thinking",))),
    ],
)
def test_s09_values_that_are_not_known_are_left_aside_and_told(fields, result):
    assert read(**fields) == result


@pytest.mark.parametrize("thinking", [None, False, True, "minimal", "low", "medium", "high"])
def test_what_is_written_reads_back(thinking):
    assert read(**write_thinking(thinking)) == (thinking, ())
