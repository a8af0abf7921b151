"""Inside vLLM: every dialect as a tool parser and as a reasoning parser, by vLLM's own plug-in interface.

    vllm serve MODEL --enable-auto-tool-choice --tool-call-parser dragoman --reasoning-parser dragoman

`register` is an entry point of the group `vllm.general_plugins`, so installing dragoman beside vLLM is enough.
`dragoman` finds the dialect by the tokenizer's chat template and vocabulary; `dragoman-NAME` is the dialect NAME.
vLLM makes one object of each class for every answer.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any

from vllm.reasoning import ReasoningParser, ReasoningParserManager
from vllm.tool_parsers import ToolParser, ToolParserManager

from .. import api
from ..errors import UsageError
from ..events import CallArgs, CallStart, Content, Event, Reasoning
from ..syntax.decode import Parser
from ..syntax.dialect import Dialect
from .streams import Thinking, call_id, dialects, read, thinks

__all__ = ["Calls", "Thoughts", "register"]

_PLACES = (
    "vllm.entrypoints.generate.base.protocol",
    "vllm.entrypoints.openai.engine.protocol",
    "vllm.entrypoints.openai.protocol",
)


def register() -> None:
    """Make all dialects known to vLLM."""
    for dialect in (None, *dialects()):
        name = f"dragoman-{dialect.name}" if dialect else "dragoman"
        if dialect is None or dialect.call:
            ToolParserManager.register_module(name, module=type("Calls", (Calls,), {"dialect": dialect}))
        if dialect is None or dialect.reasoning:
            ReasoningParserManager.register_module(name, module=type("Thoughts", (Thoughts,), {"dialect": dialect}))


def _made(name: str, /, **fields: Any) -> Any:
    """One of vLLM's own messages; they have moved between its versions."""
    for place in _PLACES:
        try:
            return getattr(importlib.import_module(place), name)(**fields)
        except (ImportError, AttributeError):
            continue
    raise UsageError(f"this version of vLLM has no {name} where dragoman knows it")


def _found(tokenizer: Any) -> Dialect:
    """The dialect of a tokenizer's model."""
    template = getattr(tokenizer, "chat_template", None)
    template = "\n".join(template.values()) if isinstance(template, dict) else template
    name = api.detect(template, tokenizer.get_vocab())
    if name is None:
        raise UsageError(
            "dragoman cannot tell which dialect this model writes; use dragoman-NAME (`dragoman dialects`)"
        )
    return api.get(name)


def _visible(request: Any) -> Any:
    """The request, with marks kept in the text: they are special tokens in many vocabularies."""
    request.skip_special_tokens = False
    return request


def _tools(request: Any) -> list[dict[str, Any]]:
    if request.tool_choice == "none":
        return []
    return [tool if isinstance(tool, dict) else tool.model_dump() for tool in request.tools or ()]


class Calls(ToolParser):
    """Calls of one answer."""

    dialect: Dialect | None = None
    engine_based_streaming = True
    supports_required_and_named = False

    def __init__(self, tokenizer: Any, tools: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, tools)
        self.speaks = self.dialect or _found(tokenizer)
        self._decoder: Parser | None = None

    def adjust_request(self, request: Any) -> Any:
        if not request.tools:
            return request
        choice = request.tool_choice
        forced = choice == "required" or not isinstance(choice, str | None)
        return self._held(_visible(request)) if forced else _visible(request)

    def _held(self, request: Any) -> Any:
        """A forced call is written in the model's own words: the grammar is dragoman's."""
        if getattr(request, "structured_outputs", None) is None:
            wanted = request.tool_choice
            choice = wanted if isinstance(wanted, str) else f"name:{getattr(wanted, 'function', wanted).name}"
            parallel = request.parallel_tool_calls is not False
            tag = api.constrain(
                self.speaks, _tools(request), choice, form="structural_tag", parallel=parallel, reasoning=False
            )
            module = importlib.import_module("vllm.sampling_params")
            request.structured_outputs = module.StructuredOutputsParams(structural_tag=tag)
        return request

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        turn, content = read(self.speaks, model_output, _tools(request))
        calls = [
            _made(
                "ToolCall",
                id=call_id(call.id),
                type="function",
                function=_made("FunctionCall", name=call.name, arguments=call.arguments),
            )
            for call in turn.calls
            if call.complete
        ]
        return _made(
            "ExtractedToolCallInformation", tools_called=bool(calls), tool_calls=calls, content=content or None
        )

    def extract_tool_calls_streaming(self, previous_text: str, current_text: str, delta_text: str, *rest: Any) -> Any:
        """The calls in the next piece; behind the texts come three lists of ids, and the request."""
        if self._decoder is None:
            self._decoder = Parser(self.speaks, _tools(rest[-1]))
        return _delta(self._decoder.feed(delta_text))

    def finish_streaming(self) -> Any:
        """What was held back when the answer ended."""
        return None if self._decoder is None else _delta(self._decoder.close())


def _delta(events: Iterable[Event]) -> Any:
    """Events as one of vLLM's messages, None if they say nothing."""
    content, thought = [], []
    calls: list[Any] = []
    for event in events:
        if isinstance(event, Content):
            content.append(event.text)
        elif isinstance(event, Reasoning):
            thought.append(event.text)
        elif isinstance(event, CallStart):
            function = _made("DeltaFunctionCall", name=event.name, arguments="")
            calls.append(
                _made("DeltaToolCall", index=event.index, id=call_id(event.id), type="function", function=function)
            )
        elif isinstance(event, CallArgs):
            _more(calls, event)
    if not (content or thought or calls):
        return None
    return _made("DeltaMessage", content="".join(content) or None, reasoning="".join(thought) or None, tool_calls=calls)


def _more(calls: list[Any], event: CallArgs) -> None:
    """A piece of arguments, put to the same call's last piece."""
    if calls and calls[-1].index == event.index:
        calls[-1].function.arguments += event.json
    else:
        function = _made("DeltaFunctionCall", arguments=event.json)
        calls.append(_made("DeltaToolCall", index=event.index, function=function))


class Thoughts(ReasoningParser):
    """The thinking of one answer."""

    dialect: Dialect | None = None
    engine_based_streaming = True

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)
        self.speaks = self.dialect or _found(tokenizer)
        self._prompt = ""
        self._thinking: Thinking | None = None

    @property
    def reasoning_start_str(self) -> str | None:
        return self.speaks.reasoning.partition("{text}")[0].strip() or None

    @property
    def reasoning_end_str(self) -> str | None:
        return self.speaks.reasoning.partition("{text}")[2].strip() or None

    def _text(self, ids: Sequence[int]) -> str:
        return str(self.model_tokenizer.decode(list(ids), skip_special_tokens=False))

    def adjust_request(self, request: Any) -> Any:
        return _visible(request)

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        self._prompt = self._text(prompt_token_ids)

    def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
        self.set_prompt_token_ids(prompt_token_ids)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        return thinks(self.speaks, self._text(input_ids)) is False

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        return self._now().over if self._thinking else self.is_reasoning_end(input_ids)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        return self._now().over

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """The tokens behind the mark that ends the thinking; all where there is none."""
        end = self.vocab.get(self.reasoning_end_str or "")
        return input_ids[len(input_ids) - input_ids[::-1].index(end) :] if end in input_ids else input_ids

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        thinking = Thinking(self.speaks, self._prompt)
        (thought, rest), (more, tail) = thinking.feed(model_output), thinking.close()
        return thought + more or None, rest + tail or None

    def extract_reasoning_streaming(self, previous_text: str, current_text: str, delta_text: str, *ids: Any) -> Any:
        return self._said(*self._now().feed(delta_text))

    def finish_streaming(self) -> Any:
        """What was held back when the thinking, or the answer in it, ended."""
        return self._said(*self._now().close())

    def _now(self) -> Thinking:
        self._thinking = self._thinking or Thinking(self.speaks, self._prompt)
        return self._thinking

    def _said(self, thought: str, rest: str) -> Any:
        return _made("DeltaMessage", reasoning=thought or None, content=rest or None) if thought or rest else None
