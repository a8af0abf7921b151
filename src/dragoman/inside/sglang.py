"""Inside SGLang: every dialect as a tool call parser and as a reasoning parser.

    sglang serve --model-path MODEL --tool-call-parser dragoman-NAME --reasoning-parser dragoman-NAME

`register` is an entry point of the group `sglang.srt.plugins`, so installing dragoman beside SGLang is enough.  SGLang
looks parsers up in two tables and offers the names of two lists; all four get one more entry for each dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, StructureInfo, ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.function_call.parser_names import TOOL_CALL_PARSER_NAMES
from sglang.srt.parser import reasoning_parser
from sglang.srt.parser.reasoning_parser import BaseReasoningFormatDetector, ReasoningParser
from sglang.srt.parser.reasoning_parser_names import REASONING_PARSER_NAMES

from ..events import CallArgs, CallStart, Content, Event, Reasoning
from ..messages import Turn
from ..syntax.decode import Parser
from ..syntax.dialect import Dialect
from ..syntax.template import marks
from .streams import Thinking, dialects, envelope, read

__all__ = ["Calls", "Thoughts", "register"]


def register() -> None:
    """Make all dialects known to SGLang."""
    for dialect in dialects():
        name = f"dragoman-{dialect.name}"
        if dialect.call:
            FunctionCallParser.ToolCallParserEnum[name] = type("Calls", (Calls,), {"dialect": dialect})
            _offer(TOOL_CALL_PARSER_NAMES, name)
        if dialect.reasoning:
            ReasoningParser.DetectorMap[name] = type("Thoughts", (Thoughts,), {"dialect": dialect})
            _offer(REASONING_PARSER_NAMES, name)


def _offer(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)


def _declared(tools: Sequence[Any]) -> list[dict[str, Any]]:
    return [tool if isinstance(tool, dict) else tool.model_dump() for tool in tools]


class Calls(BaseFormatDetector):
    """Calls of one answer."""

    dialect: Dialect

    def __init__(self) -> None:
        super().__init__()
        self._decoder: Parser | None = None

    def has_tool_call(self, text: str) -> bool:
        """Whether the text is to be read: a mark of a call or of an answer is in it, or calls have no marks."""
        templates = [self.dialect.section, *(form.template for form in self.dialect.forms)]
        openers = [marks(template.partition("{")[0]) for template in templates if template]
        return any(not opener or opener[0] in text for opener in openers) or self._wrapped(text)

    def _wrapped(self, text: str) -> bool:
        """Whether a mark of the answer is in a text: SGLang leaves what is not read as it is."""
        blocks = [mark for block in self.dialect.content for mark in marks(block)]
        return any(mark in text for mark in (*blocks, *self.dialect.drops))

    def detect_and_parse(self, text: str, tools: Sequence[Any]) -> Any:
        turn, content = read(self.dialect, text, _declared(tools))
        return StreamingParseResult(normal_text=content, calls=self._calls(turn, tools))

    def _calls(self, turn: Turn, tools: Sequence[Any]) -> list[Any]:
        places = {tool["function"]["name"]: place for place, tool in enumerate(_declared(tools))}
        return [
            ToolCallItem(tool_index=places.get(call.name, -1), name=call.name, parameters=call.arguments)
            for call in turn.calls
            if call.complete
        ]

    def parse_streaming_increment(self, new_text: str, tools: Sequence[Any]) -> Any:
        if self._decoder is None:
            self._decoder = Parser(self.dialect, _declared(tools))
        return self._result(self._decoder.feed(new_text))

    def finish(self, tools: Sequence[Any]) -> Any:
        """What was held back when the answer ended."""
        return self._result([] if self._decoder is None else self._decoder.close())

    def _result(self, events: Sequence[Event]) -> Any:
        text, calls = [], []
        for event in events:
            if isinstance(event, Content | Reasoning):
                text.append(event.text)
            elif isinstance(event, CallStart):
                self._begin(event)
                calls.append(ToolCallItem(tool_index=event.index, name=event.name, parameters=""))
            elif isinstance(event, CallArgs):
                self._more(event)
                calls.append(ToolCallItem(tool_index=event.index, name=None, parameters=event.json))
        return StreamingParseResult(normal_text="".join(text), calls=calls)

    def _begin(self, event: CallStart) -> None:
        """What the server looks at when the stream ends: nothing is left to be sent."""
        self.current_tool_id, self.current_tool_name_sent = event.index, True
        self.prev_tool_call_arr.append({"name": event.name, "arguments": ""})
        self.streamed_args_for_tool.append("")

    def _more(self, event: CallArgs) -> None:
        self.streamed_args_for_tool[event.index] += event.json
        self.prev_tool_call_arr[event.index]["arguments"] += event.json

    def supports_structural_tag(self) -> bool:
        return envelope(self.dialect, "x") is not None

    def structure_info(self) -> Callable[[str], Any]:
        def info(name: str) -> Any:
            begin, end, trigger = envelope(self.dialect, name) or ("", "", "")
            return StructureInfo(begin=begin, end=end, trigger=trigger)

        return info


class Thoughts(BaseReasoningFormatDetector):
    """The thinking of one answer; `force_reasoning`: the prompt has opened it."""

    dialect: Dialect

    def __init__(self, *args: Any, tool_call_parser_active: bool = False, **kwargs: Any) -> None:
        opened, _, closed = self.dialect.reasoning.partition("{text}")
        super().__init__(opened.strip(), closed.strip(), *args, **kwargs)
        prompt = self.dialect.begins + self.previous_content
        prompt += opened if self._in_reasoning else ""
        self._thinking = Thinking(self.dialect, prompt, alone=not tool_call_parser_active)

    def detect_and_parse(self, text: str) -> Any:
        (thought, rest), (more, tail) = self._thinking.feed(text), self._thinking.close()
        return reasoning_parser.StreamingParseResult(normal_text=rest + tail, reasoning_text=thought + more)

    def parse_streaming_increment(self, new_text: str) -> Any:
        thought, rest = self._thinking.feed(new_text)
        return reasoning_parser.StreamingParseResult(normal_text=rest, reasoning_text=thought)

    def finish(self) -> Any:
        """What was held back when the answer ended."""
        thought, rest = self._thinking.close()
        return reasoning_parser.StreamingParseResult(normal_text=rest, reasoning_text=thought)
