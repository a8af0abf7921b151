from __future__ import annotations

from dragoman.engines.history import named
from dragoman.messages import Call, Message, Result, Text


def test_calls_and_results_have_the_ids_that_their_model_wrote() -> None:
    messages = (
        Message("assistant", (Text("dg_a_3a0"), Call("f", "{}", "dg_a_3a0"), Call("f", "{}", "call_1"))),
        Message("tool", (Result("dg_a_3a0", (Text("x"),), "f"),)),
    )
    called, answered = named(messages)
    assert [part.id for part in called.parts if isinstance(part, Call)] == ["a:0", "call_1"]
    assert called.parts[0] == Text("dg_a_3a0")
    assert answered == Message("tool", (Result("a:0", (Text("x"),), "f"),))
    assert messages[1].parts[0].id == "dg_a_3a0"  # type: ignore[union-attr]
