"""vLLM and SGLang, and dragoman, driven as their servers drive their parsers: whole, or piece by piece."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from typing import Any

from dragoman import Parser
from dragoman.events import CallArgs, CallStart, Content, Reasoning

from .answers import Answer
from .tokens import tokenizer
from .turns import Case, pairs

__all__ = ["PEERS", "Dragoman", "Pieces", "Sglang", "Vllm", "answers", "asked", "streamed"]

Pieces = list[tuple[str, list[int]]]


class Dragoman:
    """Our own."""

    def __init__(self, case: Case, reads: str = "") -> None:
        self.case = case
        self.decoder = Parser(case.dialect, case.tools, prompt=case.prompt)

    def feed(self, answer: Answer, text: str, ids: list[int]) -> None:
        self._take(answer, self.decoder.feed(text))

    def close(self, answer: Answer) -> None:
        self._take(answer, self.decoder.close())

    def whole(self, pieces: Pieces) -> Answer:
        return streamed(self, pieces)

    def _take(self, answer: Answer, events: Iterable[Any]) -> None:
        for event in events:
            if isinstance(event, Content):
                answer.content += event.text
            elif isinstance(event, Reasoning):
                answer.reasoning += event.text
            elif isinstance(event, CallStart):
                answer.call(event.index, event.name, "")
            elif isinstance(event, CallArgs):
                answer.call(event.index, "", event.json)


class Vllm:
    """As `ChatStreamProcessor` and the chat endpoint of vLLM do."""

    def __init__(self, case: Case, reads: str) -> None:
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

        fields = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tool_choice": "auto"}
        kwargs = _thinking(case)
        request = ChatCompletionRequest.model_validate(
            {**fields, "tools": list(case.tools), "chat_template_kwargs": kwargs}
        )
        speaks = tokenizer(case.dialect)
        self.prompt = speaks.encode(case.prompt, add_special_tokens=False)
        self.end = speaks.encode(case.stop, add_special_tokens=False)
        self.reader = _vllm(*_names(case, reads))(speaks, request.tools, chat_template_kwargs=kwargs, model_config=None)
        self.request = self.reader.adjust_request(request)

    def feed(self, answer: Answer, text: str, ids: list[int], *, finished: bool = False) -> None:
        delta = self.reader.parse_delta(text, ids, self.request, self.prompt, finished=finished)
        if delta is None:
            return
        answer.reasoning += delta.reasoning or ""
        answer.content += delta.content or ""
        for call in delta.tool_calls or ():
            function = call.function
            answer.call(call.index, function and function.name, function and function.arguments)

    def close(self, answer: Answer) -> None:
        self.feed(answer, "", self.end, finished=True)

    def whole(self, pieces: Pieces) -> Answer:
        self.reader.set_prompt_token_ids(self.prompt)
        text, ids = "".join(text for text, _ in pieces), [one for _, some in pieces for one in some]
        reasoning, content, calls = self.reader.parse(
            text, self.request, enable_auto_tools=True, model_output_token_ids=ids + self.end
        )
        return Answer(reasoning or "", content or "", {i: [c.name, c.arguments] for i, c in enumerate(calls or ())})


def _thinking(case: Case) -> dict[str, Any]:
    """What a client says to have the model think, or not; each template has a word of its own."""
    usual = [{"enable_thinking": True, "thinking": True}, {"enable_thinking": False, "thinking": False}]
    return dict(pairs()["words"].get(case.dialect.name, usual)[not case.thinks])


def _names(case: Case, reads: str) -> tuple[str, str]:
    """Their tool parser and their reasoning parser for a case."""
    tool, _, reasoning = (one.strip() for one in reads.partition("+"))
    always = reasoning.endswith("!")
    return tool, "" if always and not case.thinks else reasoning.rstrip("!")


@functools.cache
def _vllm(tool: str, reasoning: str) -> Any:
    from vllm.parser import ParserManager

    return ParserManager.get_parser(
        tool_parser_name=tool or None,
        reasoning_parser_name=reasoning or None,
        enable_auto_tools=True,
        is_harmony=tool == "openai",
    )


class Sglang:
    """As `OpenAIServingChat` of SGLang does: what is no thinking goes on to the calls."""

    def __init__(self, case: Case, reads: str) -> None:
        from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest
        from sglang.srt.function_call.function_call_parser import FunctionCallParser
        from sglang.srt.parser.reasoning_parser import ReasoningParser

        fields = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
        request = ChatCompletionRequest.model_validate(
            {**fields, "tools": list(case.tools), "chat_template_kwargs": _thinking(case)}
        )
        tool, reasoning = _names(case, reads)
        speaks = tokenizer(case.dialect)
        self.calls = FunctionCallParser(request.tools, tool, tokenizer=speaks) if tool else None
        self.thoughts = (
            ReasoningParser(reasoning, True, case.opened, request, speaks, tool_call_parser_active=bool(tool))
            if reasoning
            else None
        )

    def feed(self, answer: Answer, text: str, ids: list[int]) -> None:
        if self.thoughts:
            thought, text = self.thoughts.parse_stream_chunk(text)
            answer.reasoning += thought or ""
        self._take(answer, text, flush=False)

    def _take(self, answer: Answer, text: str, *, flush: bool) -> None:
        if self.calls is None:
            answer.content += text or ""
            return
        self._add(answer, self.calls.parse_stream_chunk(text or ""))
        if flush:
            self._add(answer, self.calls.parse_stream_end())
            self._rest(answer)

    def _add(self, answer: Answer, parsed: tuple[str, list[Any]]) -> None:
        said, calls = parsed
        answer.content += said or ""
        for call in calls:
            answer.call(call.tool_index, call.name, call.parameters)

    def _rest(self, answer: Answer) -> None:
        """Their server looks whether the last call's arguments were sent in full, and sends what was not."""
        reads = self.calls.detector
        known, sent = getattr(reads, "prev_tool_call_arr", ()), getattr(reads, "streamed_args_for_tool", ())
        at = len(known) - 1
        if known and at < len(sent):
            wanted = known[at].get("arguments", {})
            wanted = wanted if isinstance(wanted, str) else json.dumps(wanted, ensure_ascii=False)
            if wanted.startswith(sent[at]) and wanted != sent[at]:
                answer.call(at, "", wanted[len(sent[at]) :])

    def close(self, answer: Answer) -> None:
        text = ""
        if self.thoughts:
            thought, text = self.thoughts.parse_stream_end()
            answer.reasoning += thought or ""
        self._take(answer, text, flush=True)

    def whole(self, pieces: Pieces) -> Answer:
        answer, text = Answer(), "".join(text for text, _ in pieces)
        if self.thoughts:
            thought, text = self.thoughts.parse_non_stream(text)
            answer.reasoning, text = thought or "", text or ""
        answer.content = text
        if self.calls and self.calls.has_tool_call(text):
            answer.content, calls = self.calls.parse_non_stream(text)
            answer.calls = {i: [call.name or "", call.parameters] for i, call in enumerate(calls)}
        return answer


PEERS: dict[str, type] = {"vllm": Vllm, "sglang": Sglang}


def streamed(reader: Any, pieces: Pieces) -> Answer:
    answer = Answer()
    for text, ids in pieces:
        reader.feed(answer, text, ids)
    reader.close(answer)
    return answer


def asked(case: Case, reads: str) -> bool:
    """Whether a pair of theirs reads what stands in a case."""
    tool, reasoning = _names(case, reads)
    return bool((tool or not case.turn.calls) and (reasoning or not case.turn.reasoning) and (tool or reasoning))


def answers(peer: type, case: Case, reads: str, pieces: Pieces) -> dict[str, Answer]:
    """What a reader makes of a case: piece by piece, and as a whole; an exception is an answer too."""
    return {
        "streamed": _tried(lambda: streamed(peer(case, reads), pieces)),
        "whole": _tried(lambda: peer(case, reads).whole(pieces)),
    }


def _tried(read: Callable[[], Answer]) -> Answer:
    try:
        return read()
    except Exception as error:  # noqa: BLE001 (whatever they raise is what is looked for)
        return Answer(raised=f"{type(error).__name__}: {error}")
