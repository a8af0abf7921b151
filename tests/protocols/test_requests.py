"""Whatever JSON comes, a request is read or refused; nothing else happens."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from dragoman.errors import RequestError
from dragoman.protocols import completions, ollama, ollama_generate, tokens

FIELDS = re.findall(
    r"\w+",
    """
    model messages role content images thinking tool_calls function name arguments id tool_name tool_call_id tools type
    parameters think format options num_predict stop temperature num_ctx keep_alive stream context raw prompt system
    suffix template logprobs top_logprobs n best_of echo max_tokens seed logit_bias tokens with_pieces add_special
    """,
)
WORDS = ("user", "assistant", "tool", "system", "function", "json", "low", "f", "", "aGk=", "{}", "\ud800")
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 2**64), st.floats(allow_nan=False), st.sampled_from(WORDS))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=12,
)
READERS = {
    "chat": ollama.read_request,
    "generate": ollama_generate.read_request,
    "completions": completions.read_request,
    "tokenize": tokens.read_tokenize,
    "detokenize": tokens.read_detokenize,
    "apply-template": tokens.read_template,
}


@pytest.mark.parametrize("reader", READERS)
@examples(25)
@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8))
def test_any_request_is_read_or_refused(reader, data):
    with suppress(RequestError):
        READERS[reader](data)
