"""Solar Open 2: a call's parameters each between marks of their own."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

SOLAR_OPEN2 = Dialect(
    "solar-open2",
    call="<|tool_call:start|>{name}\n{args}<|tool_call:end|>",
    args=Params("<|tool_arg:start|>{key}<|tool_arg:value|>{value}<|tool_arg:end|>\n"),
    joint="\n",
    apart="",
    reasoning="<|think:start|>{text}<|think:end|>",
    begins="<|im:start|>assistant<|im:content|>",
    ends=("<|im:end|>", "<|im:start|>"),
    special=(
        "<|im:start|>", "<|im:content|>", "<|im:end|>", "<|think:start|>", "<|think:end|>", "<|tool_call:start|>",
        "<|tool_call:end|>", "<|tool_arg:start|>", "<|tool_arg:value|>", "<|tool_arg:end|>",
    ),
    turn="<|im:start|>{role}<|im:content|>{text}<|im:end|>\n",
    results="<|tool_response:start|>{text}<|tool_response:end|>",
    signs=("<|tool_call:start|>", "<|tool_arg:start|>"),
    models="Solar Open 2",
)  # fmt: skip
