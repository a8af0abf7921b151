"""Stand-ins for what vLLM 0.33 and SGLang 0.5.23 give a plug-in: the same names, signatures and fields, and no engine.

They are used where the packages are not installed.  `stream_vllm` and `stream_sglang` drive a plug-in as the serving
layers of these versions do: thinking first, then calls; the end flushes what was held back.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Function:
    name: str | None = None
    arguments: str | None = None
    id: str | None = None


@dataclass
class ToolCall:
    function: Function
    id: str | None = None
    type: str | None = None
    index: int = 0


@dataclass
class Extracted:
    tools_called: bool
    tool_calls: list[ToolCall]
    content: str | None = None


@dataclass
class Delta:
    role: str | None = None
    content: str | None = None
    reasoning: str | None = None
    tool_calls: list[ToolCall] = field(default_factory=list)


@dataclass
class StructuredOutputs:
    structural_tag: str | None = None


class ToolParser:
    supports_required_and_named = True
    engine_based_streaming = False

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        self.model_tokenizer, self.tools = tokenizer, tools or []
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.streamed_args_for_tool: list[str] = []


class ReasoningParser:
    engine_based_streaming = False

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        self.model_tokenizer = tokenizer

    @property
    def vocab(self) -> dict[str, int]:
        return self.model_tokenizer.get_vocab()


class Registry:
    known: dict[str, type]

    def __init_subclass__(cls) -> None:
        cls.known = {}

    @classmethod
    def register_module(cls, name: Any = None, force: bool = True, module: type | None = None) -> Any:
        assert module is not None
        cls.known[name] = module
        return module


class ToolParserManager(Registry):
    get_tool_parser = classmethod(lambda cls, name: cls.known[name])


class ReasoningParserManager(Registry):
    get_reasoning_parser = classmethod(lambda cls, name: cls.known[name])


@dataclass
class Item:
    tool_index: int
    parameters: str
    name: str | None = None


@dataclass
class Parsed:
    normal_text: str = ""
    calls: list[Item] = field(default_factory=list)


class Thought:
    def __init__(self, normal_text: str | None = None, reasoning_text: str | None = None) -> None:
        self.normal_text, self.reasoning_text = normal_text or "", reasoning_text or ""


@dataclass
class Info:
    begin: str
    end: str
    trigger: str


class BaseFormatDetector:
    def __init__(self) -> None:
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.streamed_args_for_tool: list[str] = []
        self.current_tool_id = -1
        self.current_tool_name_sent = False


class BaseReasoningFormatDetector:
    def __init__(
        self,
        think_start_token: str,
        think_end_token: str,
        think_excluded_tokens: Any = None,
        force_reasoning: bool = False,
        stream_reasoning: bool = True,
        tool_start_token: str | None = None,
        continue_final_message: bool = False,
        previous_content: str = "",
        **kwargs: Any,
    ) -> None:
        self.think_start_token, self.think_end_token = think_start_token, think_end_token
        self._in_reasoning = force_reasoning
        self.previous_content = previous_content if continue_final_message else ""


def vllm() -> dict[str, types.ModuleType]:
    return {
        "vllm": _module(),
        "vllm.tool_parsers": _module(ToolParser=ToolParser, ToolParserManager=ToolParserManager),
        "vllm.reasoning": _module(ReasoningParser=ReasoningParser, ReasoningParserManager=ReasoningParserManager),
        "vllm.sampling_params": _module(StructuredOutputsParams=StructuredOutputs),
        "vllm.entrypoints": _module(),
        "vllm.entrypoints.generate": _module(),
        "vllm.entrypoints.generate.base": _module(),
        "vllm.entrypoints.generate.base.protocol": _module(
            ToolCall=ToolCall,
            FunctionCall=Function,
            DeltaToolCall=ToolCall,
            DeltaFunctionCall=Function,
            DeltaMessage=Delta,
            ExtractedToolCallInformation=Extracted,
        ),
    }


def sglang() -> dict[str, types.ModuleType]:
    call, think = "sglang.srt.function_call", "sglang.srt.parser"
    reasoning = _module(
        BaseReasoningFormatDetector=BaseReasoningFormatDetector,
        ReasoningParser=types.SimpleNamespace(DetectorMap={}),
        StreamingParseResult=Thought,
    )
    return {
        "sglang": _module(),
        "sglang.srt": _module(),
        call: _module(),
        f"{call}.base_format_detector": _module(BaseFormatDetector=BaseFormatDetector),
        f"{call}.core_types": _module(StreamingParseResult=Parsed, StructureInfo=Info, ToolCallItem=Item),
        f"{call}.function_call_parser": _module(FunctionCallParser=types.SimpleNamespace(ToolCallParserEnum={})),
        f"{call}.parser_names": _module(TOOL_CALL_PARSER_NAMES=["hermes"]),
        think: _module(reasoning_parser=reasoning),
        f"{think}.reasoning_parser": reasoning,
        f"{think}.reasoning_parser_names": _module(REASONING_PARSER_NAMES=["qwen3"]),
    }


def _module(**names: Any) -> types.ModuleType:
    made = types.ModuleType("standin")
    made.__dict__.update(names)
    return made


def missing(package: str) -> bool:
    """Whether a package is not installed, so that its stand-in takes its place."""
    return package not in sys.modules and importlib.util.find_spec(package) is None


class Letters:
    """A tokenizer of letters, and of the marks given as special tokens."""

    def __init__(self, marks: tuple[str, ...] = (), chat_template: str = "") -> None:
        self.marks, self.chat_template = marks, chat_template

    def get_vocab(self) -> dict[str, int]:
        return {mark: 1_114_112 + at for at, mark in enumerate(self.marks)}

    def encode(self, text: str) -> list[int]:
        ids, vocab = [], self.get_vocab()
        while text:
            mark = next((mark for mark in self.marks if text.startswith(mark)), text[0])
            ids.append(vocab.get(mark, ord(mark[0])))
            text = text[len(mark) :]
        return ids

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        names = {} if skip_special_tokens else {at: mark for mark, at in self.get_vocab().items()}
        return "".join(names.get(one, chr(one) if one < 1_114_112 else "") for one in ids)


@dataclass
class Answer:
    reasoning: str = ""
    content: str = ""
    calls: list[list[str]] = field(default_factory=list)

    def take(self, delta: Any) -> None:
        if delta is None:
            return
        self.reasoning += delta.reasoning or ""
        self.content += delta.content or ""
        for call in delta.tool_calls:
            if call.id:
                self.calls.append([call.function.name, ""])
            self.calls[call.index][1] += call.function.arguments or ""


def stream_vllm(thoughts: Any, calls: Any, pieces: list[str], prompt: list[int], request: Any) -> Answer:
    """As `DelegatingParser.parse_delta` of 0.33 does where both parsers keep their own stream."""
    answer, over = Answer(), thoughts is None
    if thoughts is not None:
        thoughts.set_prompt_token_ids(prompt)
        over = thoughts.is_reasoning_end(prompt)
        if not over:
            thoughts.adjust_initial_state_from_prompt(prompt)
    ids: list[int] = []
    for piece in pieces:
        ids += map(ord, piece)
        if not over:
            delta = thoughts.extract_reasoning_streaming("", piece, piece, [], ids, ids)
            over = thoughts.has_engine_confirmed_reasoning_end()
            if over:
                flushed = thoughts.finish_streaming()
                piece = ((delta and delta.content) or "") + ((flushed and flushed.content) or "")
                if delta:
                    delta.content = None
            answer.take(delta)
        if over:
            answer.take(calls.extract_tool_calls_streaming("", piece, piece, [], ids, ids, request))
    for one in ([] if over else [thoughts]) + [calls]:
        answer.take(one.finish_streaming())
    return answer


def stream_sglang(thoughts: Any, calls: Any, pieces: list[str], tools: list[Any]) -> Answer:
    """As the chat endpoint of 0.5 does: what is no thinking goes on to the calls."""
    answer = Answer()

    def take(parsed: Any) -> None:
        answer.content += parsed.normal_text
        for item in parsed.calls:
            if item.name:
                answer.calls.append([item.name, ""])
            answer.calls[item.tool_index][1] += item.parameters

    for piece in pieces:
        thought = thoughts.parse_streaming_increment(piece)
        answer.reasoning += thought.reasoning_text
        if thought.normal_text:
            take(calls.parse_streaming_increment(thought.normal_text, tools))
    last = thoughts.finish()
    answer.reasoning += last.reasoning_text
    if last.normal_text:
        take(calls.parse_streaming_increment(last.normal_text, tools))
    take(calls.finish(tools))
    return answer
