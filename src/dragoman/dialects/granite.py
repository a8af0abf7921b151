"""Granite: a list of JSON calls behind a mark, then (4.2) nested tags as Qwen writes them."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect
from .qwen import CALL, DECLARE, JSON, PARAMS

LISTED = JsonCall(listed=True)

GRANITE3 = Dialect(
    "granite3",
    call="<|tool_call|>{call}",
    args=LISTED,
    also=("<tool_call>{call}",),
    reasoning="<think>{text}</think>",
    thoughts=(
        "Here is my thought process:{text}Here is my response:",
        "Here's my thought process:{text}Here's my response:",
    ),
    drops=("<response>", "</response>"),
    begins="<|start_of_role|>assistant<|end_of_role|>",
    ends=("<|end_of_text|>", "<|start_of_role|>"),
    turn="<|start_of_role|>{role}<|end_of_role|>{text}<|end_of_text|>\n",
    results="{text}",
    signs=("<|tool_call|>", "<|start_of_role|>"),
    aliases=("granite", "granite-phrases"),
    models="Granite 3.0 to 3.3",
)

GRANITE20B = Dialect(
    "granite20b-fc",
    call="<function_call> {call}",
    args=JsonCall(none=("no_function",)),
    begins="ASSISTANT: ",
    ends=("<|endoftext|>",),
    results="<function_response> {text}",
    turn="{role}: {text}\n",
    signs=("<function_call>",),
    aliases=("granite-20b-fc",),
    models="granite-20b-functioncalling",
)

GRANITE42 = Dialect(
    "granite42-xml",
    call=CALL,
    args=PARAMS,
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n",
    begins="<|start_of_role|>assistant<|end_of_role|>",
    ends=("<|end_of_text|>", "<|start_of_role|>"),
    turn="<|start_of_role|>{role}<|end_of_role|>{text}<|end_of_text|>\n",
    declare=DECLARE,
    results_role="user",
    signs=("<tool_call>", "<function=", "<parameter=", "<|start_of_role|>"),
    aliases=("granite_thinking_parser",),
    models="Granite 4.2",
)
