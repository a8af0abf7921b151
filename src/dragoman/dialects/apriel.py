"""Apriel: thoughts between phrases, a list of JSON calls between tags."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

LISTED = JsonCall(listed=True)

APRIEL = Dialect(
    "apriel",
    call="<tool_calls>{call}</tool_calls>",
    args=LISTED,
    apart="\n",
    reasoning="Here are my reasoning steps:\n{text}\n[BEGIN FINAL RESPONSE]\n",
    thoughts=("<thinking>{text}</thinking>",),
    drops=("[END FINAL RESPONSE]", "[BEGIN FINAL RESPONSE]"),
    begins="<|assistant|>\n",
    ends=("<|end|>", "<|user|>", "<|begin_assistant|>"),
    turn="<|{role}|>\n{text}\n<|end|>\n",
    results="{text}",
    signs=("[BEGIN FINAL RESPONSE]",),
    models="Apriel 1.5 and 1.6",
)
