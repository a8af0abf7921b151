"""What a client hears in an answer, whatever its protocol, streamed or whole: text, thoughts, calls, end and counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..protocols import wire
from .frames import frames, json_of
from .messages_seen import MessageSeen
from .responses_seen import ResponseSeen
from .seen import StreamSeen, mapping, mappings, text

__all__ = ["HEAR", "CallHeard", "Heard"]

_FINISH: Mapping[str, str] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "refusal"), "filter"),
}


@dataclass(frozen=True, slots=True)
class CallHeard:
    """A call: its id, its name, and its arguments as JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(slots=True)
class Heard:
    """An answer.

    `finish`: stop, tool_calls, length, filter, or "" if the answer did not say.
    `prompt` and `completion`: tokens, None if it did not say.  `id`: the answer's.
    """

    content: str = ""
    reasoning: str = ""
    calls: list[CallHeard] = field(default_factory=list)
    finish: str = ""
    prompt: int | None = None
    completion: int | None = None
    id: str = ""

    def __str__(self) -> str:
        told = [f"{self.content!r:.60}"] if self.content else []
        told += [f"{len(self.reasoning)} characters of reasoning"] if self.reasoning else []
        told += [f"{call.name}({call.arguments:.60})" for call in self.calls]
        end = f"ended by {self.finish}" if self.finish else "no end"
        return ", ".join([*(told or ["nothing"]), end])


def _chat_stream(body: bytes) -> Heard:
    seen = StreamSeen(frames(body), {}, ())
    first = seen.chunks[0][1] if seen.chunks else {}
    usage: Any = next((chunk["usage"] for _, chunk in reversed(seen.chunks) if chunk.get("usage")), {})
    choice = seen.choices.get(0)
    if choice is None:
        return _counted(Heard(id=text(first.get("id"))), usage, "prompt_tokens", "completion_tokens")
    calls = [CallHeard(call.id, call.name, call.arguments) for call in choice.calls.values()]
    texts = "".join(text(item.get("text")) for _, item in choice.chunks)  # of the older Completions
    heard = Heard(choice.content + texts, choice.reasoning, calls, _FINISH.get(choice.finish, ""))
    heard.id = text(first.get("id"))
    return _counted(heard, usage, "prompt_tokens", "completion_tokens")


def _chat_answer(answer: Mapping[str, Any]) -> Heard:
    choice = next(iter(mappings(answer.get("choices"))), {})
    message = mapping(choice.get("message"))
    heard = Heard(
        text(message.get("content")) + text(choice.get("text")),
        text(message.get("reasoning_content")) or text(message.get("reasoning")),
        [_function(call, text(call.get("id"))) for call in mappings(message.get("tool_calls"))],
        _FINISH.get(text(choice.get("finish_reason")), ""),
        id=text(answer.get("id")),
    )
    return _counted(heard, answer.get("usage"), "prompt_tokens", "completion_tokens")


def _function(call: Mapping[str, Any], call_id: str) -> CallHeard:
    function = mapping(call.get("function"))
    arguments = function.get("arguments")
    return CallHeard(call_id, text(function.get("name")), arguments if isinstance(arguments, str) else _json(arguments))


def _responses_stream(body: bytes) -> Heard:
    return _response(ResponseSeen(frames(body), {}, ()).final)


def _response(response: Mapping[str, Any]) -> Heard:
    items = mappings(response.get("output"))
    calls = [item for item in items if item.get("type") == "function_call"]
    reason = text(mapping(response.get("incomplete_details")).get("reason"))
    finish = _FINISH.get(reason or text(response.get("status")), "")
    heard = Heard(
        "".join(_parts(item, "content") for item in items if item.get("type") == "message"),
        "".join(_parts(item, "content") for item in items if item.get("type") == "reasoning"),
        [CallHeard(text(c.get("call_id")), text(c.get("name")), text(c.get("arguments"))) for c in calls],
        "tool_calls" if calls and finish == "stop" else finish,
        id=text(response.get("id")),
    )
    return _counted(heard, response.get("usage"), "input_tokens", "output_tokens")


def _parts(item: Mapping[str, Any], key: str) -> str:
    return "".join(text(part.get("text")) for part in mappings(item.get(key)))


def _messages_stream(body: bytes) -> Heard:
    seen = MessageSeen(frames(body), {}, ())
    heard = Heard(finish=_FINISH.get(seen.stop_reason, ""))
    start = mapping(next((event.get("message") for _, event in seen.of("message_start")), {}))
    heard.id = text(start.get("id"))
    for block in seen.blocks:
        heard.content += block.texts.get("text_delta", "")
        heard.reasoning += block.texts.get("thinking_delta", "")
        if block.kind == "tool_use":
            arguments = block.texts.get("input_json_delta", "")
            heard.calls.append(CallHeard(text(block.start.get("id")), text(block.start.get("name")), arguments))
    last = mapping(next((event.get("usage") for _, event in seen.of("message_delta")), {}))
    return _counted(heard, {**mapping(start.get("usage")), **last}, "input_tokens", "output_tokens")


def _messages_answer(answer: Mapping[str, Any]) -> Heard:
    blocks = mappings(answer.get("content"))
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    heard = Heard(
        "".join(text(block.get("text")) for block in blocks),
        "".join(text(block.get("thinking")) for block in blocks),
        [CallHeard(text(call.get("id")), text(call.get("name")), _json(call.get("input"))) for call in calls],
        _FINISH.get(text(answer.get("stop_reason")), ""),
        id=text(answer.get("id")),
    )
    return _counted(heard, answer.get("usage"), "input_tokens", "output_tokens")


def _ollama_stream(body: bytes) -> Heard:
    lines = [json_of(line)[0] for line in body.decode(errors="surrogateescape").splitlines()]
    heard = Heard()
    for line in (line for line in lines if isinstance(line, dict)):
        part = _ollama_answer(line)
        heard.content += part.content
        heard.reasoning += part.reasoning
        heard.calls += part.calls
        if line.get("done"):
            heard.finish, heard.prompt, heard.completion = part.finish, part.prompt, part.completion
    return _called(heard)


def _ollama_answer(line: Mapping[str, Any]) -> Heard:
    message = mapping(line["message"]) if "message" in line else line
    calls = mappings(message.get("tool_calls"))
    heard = Heard(
        text(message.get("content")) or text(message.get("response")),
        text(message.get("thinking")),
        [_function(call, text(call.get("id"))) for call in calls],
        _FINISH.get(text(line.get("done_reason")), ""),
    )
    return _called(_counted(heard, line, "prompt_eval_count", "eval_count"))


def _called(heard: Heard) -> Heard:
    """Ollama says stop after calls, too."""
    if heard.calls and heard.finish == "stop":
        heard.finish = "tool_calls"
    return heard


def _counted(heard: Heard, usage: Any, prompt: str, completion: str) -> Heard:
    counts = mapping(usage)
    heard.prompt, heard.completion = (_count(counts.get(key)) for key in (prompt, completion))
    return heard


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _json(value: Any) -> str:
    return wire.dump(value).decode() if value is not None else ""


HEAR: Mapping[str, Sequence[Callable[[Any], Heard]]] = {
    "chat": (_chat_stream, _chat_answer),
    "completions": (_chat_stream, _chat_answer),
    "responses": (_responses_stream, _response),
    "messages": (_messages_stream, _messages_answer),
    "ollama": (_ollama_stream, _ollama_answer),
}
"""Protocol -> how its stream (bytes) and its whole answer (an object) are heard."""
