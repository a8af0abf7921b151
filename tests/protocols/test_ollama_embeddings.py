from __future__ import annotations

import ollama
import pytest

from dragoman.errors import RequestError
from dragoman.messages import Raw
from dragoman.protocols.embeddings import Settings
from dragoman.protocols.ollama_embeddings import answer, read_request


@pytest.mark.parametrize(("fields", "read"), [({"prompt": "a"}, (Raw("a"),)), ({"prompt": ""}, ()), ({}, ())])
def test_o11_one_text(fields, read):
    request, settings = read_request({"model": "m", **fields, "options": {"num_ctx": 1}})
    assert (request.model, request.prompts) == ("m", read)
    assert settings == Settings(truncate=True, ignored=("options.num_ctx",))


@pytest.mark.parametrize("data", [[], {"prompt": ["a"]}, {"prompt": 1}, {"options": 1}])
def test_o11_what_cannot_be_read_is_refused(data):
    with pytest.raises(RequestError):
        read_request(data)


def test_o11_its_vector_alone():
    assert ollama.EmbeddingsResponse(**answer([[0.6, 0.8]], tokens=3)).embedding == [0.6, 0.8]
    assert answer([]) == {"embedding": []}
