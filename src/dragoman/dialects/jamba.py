"""Jamba: a list of JSON calls between tags."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

LISTED = JsonCall(listed=True)

JAMBA = Dialect(
    "jamba",
    call="<tool_calls>{call}</tool_calls>",
    args=JsonCall(listed=True, lines="\n    "),
    begins="<|bom|><|assistant|>",
    ends=("<|eom|>", "<|bom|>"),
    special=("<tool_calls>", "</tool_calls>", "<|eom|>", "<|bom|>"),
    turn="<|bom|><|{role}|> {text}<|eom|>",
    results="{text}",
    signs=("<tool_calls>", "<|bom|>"),
    models="Jamba 1.5 to 1.7",
)
