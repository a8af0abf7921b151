from __future__ import annotations

import pytest

from dragoman.engines.does import embeds_only, makes_vectors, sees


@pytest.mark.parametrize(
    ("card", "vectors", "only"),
    [
        ({}, False, False),
        ({"capabilities": ["completion", "tools"]}, False, False),
        ({"capabilities": ["embedding"]}, True, True),
        ({"capabilities": ["completion", "embedding"]}, True, False),
        ({"type": "embeddings"}, True, True),
        ({"type": "llm"}, False, False),
        ({"capabilities": {"embedding": True, "streaming": False}}, True, True),
        ({"capabilities": {"embedding": True, "streaming": True}}, True, False),
        ({"capabilities": {"completion_chat": True}}, False, False),
        ({"capabilities": "embedding"}, False, False),
        ({"capabilities": {"embedding": "no"}}, False, False),
        ({"capabilities": None, "type": None}, False, False),
    ],
)
def test_what_a_card_says_of_vectors(card, vectors, only):
    assert (makes_vectors(card), embeds_only(card)) == (vectors, only)


@pytest.mark.parametrize(
    ("card", "props", "seen"),
    [
        ({}, {}, False),
        ({}, {"modalities": {"vision": True, "audio": False}}, True),
        ({}, {"modalities": {"vision": False}}, False),
        ({}, {"modalities": "vision"}, False),
        ({"capabilities": ["completion", "vision"]}, {}, True),
        ({"capabilities": {"vision": True}}, {}, True),
        ({"capabilities": {"vision": False}}, {}, False),
        ({"type": "vlm"}, {}, True),
        ({"architecture": {"input_modalities": ["text", "image"]}}, {}, True),
        ({"architecture": {"input_modalities": ["text"]}}, {}, False),
        ({"input_modalities": ["image"]}, {}, True),
        ({"architecture": "llama"}, {}, False),
    ],
)
def test_what_is_said_of_images(card, props, seen):
    assert sees(card, props) is seen
