"""Gemma 4 and FunctionGemma: calls with bare keys and strings between marks."""

from ..syntax.codecs.braces import Braces
from ..syntax.dialect import Dialect

GEMMA4 = Dialect(
    "gemma4",
    call="<|tool_call>call:{name}{args}<tool_call|>",
    args=Braces('<|"|>'),
    also=(
        "<|tool_call>:{name}{args}<tool_call|>",
        "<|tool_call>{name}{args}<tool_call|>",
        "<tool_call:{name}{args}<tool_call|>",
        "<call>{name}{args}<tool_call|>",
    ),
    reasoning="<|channel>thought\n{text}\n<channel|>",
    label="thought",
    begins="<|turn>model\n",
    ends=("<turn|>", "<|turn>", "<|tool_response>", "<eos>"),
    special=("<|tool_call>", "<tool_call|>", "<|channel>", "<channel|>", "<turn|>", "<|tool_response>", '<|"|>'),
    turn="<|turn>{role}\n{text}<turn|>\n",
    results_role="assistant",
    results='<|tool_response>response:{name}{value:<|"|>{text}<|"|>}<tool_response|>',
    declare=(
        "You can call these functions, given as JSON, one a line:\n{tools}\n"
        'To call one, write <|tool_call>call:NAME{key:<|"|>text<|"|>,key:1}<tool_call|>'
    ),
    signs=("<|tool_call>", '<|"|>'),
    aliases=("gemma-4",),
    models="Gemma 4 (E2B to 31B), DiffusionGemma",
)

FUNCTION_GEMMA = Dialect(
    "functiongemma",
    call="<start_function_call>call:{name}{args}<end_function_call>",
    args=Braces("<escape>"),
    also=("<start_function_call>{name}{args}<end_function_call>",),
    reasoning="<think>\n{text}\n</think>\n",
    begins="<start_of_turn>model\n",
    ends=("<end_of_turn>", "<start_of_turn>", "<start_function_response>", "<eos>"),
    special=("<start_function_call>", "<end_function_call>", "<start_function_response>", "<escape>", "<end_of_turn>"),
    turn="<start_of_turn>{role}\n{text}<end_of_turn>\n",
    results="<start_function_response>response:{name}{value:<escape>{text}<escape>}<end_function_response>",
    results_role="assistant",
    signs=("<start_function_call>",),
    aliases=("function_gemma",),
    models="FunctionGemma 270M",
)
