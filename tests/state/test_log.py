"""What is kept has no secrets, wherever they were cut."""

from __future__ import annotations

import pytest

from dragoman.engines.base import Prompt, Segment
from dragoman.state.log import Record

SECRET = "sk-" + "a1" * 30


@pytest.mark.parametrize("behind", [19_940, 19_970, 19_999])
def test_a_secret_at_the_cut_of_the_prompt_is_masked(behind):
    record = Record(
        "chat-1", 0.0, "/", "chat", "m", "", {}, Prompt((Segment(f"say {SECRET}{chr(46) * behind}"),)), outcome="stop"
    )
    prompt = record.case().prompt
    assert len(prompt) == 20_000
    assert "a1" not in prompt
