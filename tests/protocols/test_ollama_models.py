from __future__ import annotations

from ollama import ListResponse, ProcessResponse, ShowResponse

from dragoman.protocols.ollama_models import Model, running, show, tags, version

TINY = Model("tiny", 7, 1000, "llama", "{{ x }}", 4096, ("completion", "tools"))
BARE = Model("bare")


def test_o11_tags():
    listed = ListResponse.model_validate(tags([TINY, BARE])).models
    assert [model.model for model in listed] == ["tiny", "bare"]
    assert listed[0].modified_at.timestamp() == 7
    assert listed[0].details.family == "llama"
    digests = {model.digest for model in listed}
    assert len(digests) == 2
    assert {len(digest) for digest in digests} == {64}


def test_o11_show():
    shown = ShowResponse.model_validate(show(TINY))
    assert shown.capabilities == ["completion", "tools"]
    assert shown.template == "{{ x }}"
    assert shown.modelinfo["general.architecture"] == "llama"
    assert shown.modelinfo["llama.context_length"] == 4096


def test_o11_show_says_nothing_that_is_not_known():
    shown = ShowResponse.model_validate(show(BARE))
    assert shown.modelinfo == {"general.architecture": "unknown", "general.basename": "bare"}


def test_o11_ps():
    (model,) = ProcessResponse.model_validate(running([TINY])).models
    assert (model.name, model.context_length, model.expires_at.year > 2300) == ("tiny", 4096, True)


def test_o11_version():
    assert version()["version"].count(".") == 2
