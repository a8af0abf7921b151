"""What other servers take beside the fields of the protocols, and this one does not: told, or refused.

A constraint on the whole answer is refused: an answer that does not keep it is another answer.
All else changes how tokens are drawn, and is named in the answer's header.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .fields import Fields, unsupported

__all__ = ["LEFT_OUT", "REFUSED", "left_out"]

# Name -> an example of its value.
LEFT_OUT: Mapping[str, Any] = {
    "min_tokens": 5,
    "stop_token_ids": [1],
    "bad_words": ["no"],
    "allowed_token_ids": [1, 2],
    "use_beam_search": True,
    "length_penalty": 1.2,
    "logits_processors": ["x"],
    "custom_logit_processor": "x",
    "samplers": ["top_k"],
    "lora": [{"id": 0, "scale": 1.0}],
    "lora_path": "x",
    "truncate_prompt_tokens": 10,
}
REFUSED: Mapping[str, Any] = {
    "guided_regex": "a+",
    "guided_choice": ["a"],
    "guided_grammar": "root",
    "regex": "a+",
    "ebnf": "root",
    "structural_tag": {"type": "structural_tag"},
}


def left_out(fields: Fields) -> tuple[str, ...]:
    """The fields that are left aside.

    Raises:
        UnsupportedFeature: one of them would bind the answer.
    """
    for key in REFUSED:
        if key in fields:
            unsupported(
                fields.param(key), "is not offered here; send response_format with a JSON schema, or grammar (GBNF)"
            )
    return tuple(fields.param(key) for key in LEFT_OUT if key in fields)
