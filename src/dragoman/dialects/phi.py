"""A list of JSON calls behind the word functools: Phi-4 mini and FireFunction."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

LISTED = JsonCall(listed=True)
LLAMA_ENDS = ("<|eot_id|>", "<|end_of_text|>", "<|eom_id|>")

PHI4_MINI = Dialect(
    "phi4-mini",
    call="functools{call}",
    args=LISTED,
    also=("<|tool_call|>{call}<|/tool_call|>",),
    begins="<|assistant|>",
    ends=("<|end|>", "<|user|>", "<|endoftext|>"),
    turn="<|{role}|>{text}<|end|>",
    results="{text}",
    signs=("<|tool_call|>", "<|/tool_call|>"),
    aliases=("phi4_mini_json", "phi4"),
    models="Phi-4-mini",
)

FIREFUNCTION = Dialect(
    "firefunction",
    call=" functools{call}",
    args=LISTED,
    begins="<|start_header_id|>assistant<|end_header_id|>\n\n",
    ends=LLAMA_ENDS,
    turn="<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>",
    results="{text}",
    signs=("functools[",),
    models="FireFunction v2",
)
