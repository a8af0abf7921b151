"""openPangu: a list of JSON calls."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

LISTED = JsonCall(listed=True)

OPENPANGU = Dialect(
    "openpangu",
    call="<|tool_call_start|>\n{call}\n<|tool_call_end|>",
    args=LISTED,
    also=("[unused11]{call}[unused12]",),
    reasoning="<think>{text}</think>",
    thoughts=("[unused16]{text}[unused17]",),
    begins="[unused9]助手：",
    ends=("[unused10]", "[unused9]"),
    special=("[unused11]", "[unused12]"),
    turn="[unused9]{role}：{text}[unused10]",
    results="{text}",
    signs=("[unused11]",),
    models="openPangu",
)
