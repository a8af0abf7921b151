"""Apertus: a list of JSON calls whose keys are the names."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

APERTUS = Dialect(
    "apertus",
    call="<|tools_prefix|>{call}<|tools_suffix|>",
    args=JsonCall(listed=True, keyed=True),
    reasoning="<|inner_prefix|>{text}<|inner_suffix|>",
    begins="<|assistant_start|>",
    ends=("<|assistant_end|>", "<|user_start|>"),
    special=("<|tools_prefix|>", "<|tools_suffix|>", "<|inner_prefix|>", "<|inner_suffix|>", "<|assistant_end|>"),
    turn="<|{role}_start|>{text}<|{role}_end|>",
    results="[{text}]",
    results_role="assistant",
    signs=("<|tools_prefix|>",),
    aliases=("apertus2509",),
    models="Apertus 8B and 70B",
)
