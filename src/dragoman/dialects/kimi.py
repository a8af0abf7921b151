"""Kimi K2: calls in a section, each with an id of its own that holds the name and a number."""

from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect

CALL = "<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{args}<|tool_call_end|>"

KIMI_K2 = Dialect(
    "kimi-k2",
    section="<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>",
    sections=("<|tool_call_section_begin|>{calls}<|tool_call_section_end|>",),
    call=CALL,
    args=JsonObject(),
    also=(CALL.replace("functions.", ""),),
    id="functions.{name}:{index}",
    reasoning="<think>{text}</think>",
    begins="<|im_assistant|>assistant<|im_middle|>",
    ends=("<|im_end|>", "<|im_user|>", "<|im_system|>"),
    special=(
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        "<|im_end|>",
    ),
    turn="<|im_{role}|>{role}<|im_middle|>{text}<|im_end|>",
    results="## Return of {id}\n{text}",
    signs=("<|tool_calls_section_begin|>",),
    aliases=("kimi_k2", "kimik2", "kimi_k25", "kimi_thinking"),
    models="Kimi-K2, K2-Thinking, K2.5",
)
