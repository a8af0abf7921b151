"""EXAONE: JSON calls between tags."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

THINK = "<think>\n{text}\n</think>\n\n"

EXAONE = Dialect(
    "exaone",
    call="<tool_call>{call}</tool_call>",
    args=JsonCall(),
    reasoning=THINK,
    thoughts=("<thought>\n{text}\n</thought>\n\n",),
    begins="[|assistant|]",
    ends=("[|endofturn|]", "[|user|]"),
    turn="[|{role}|]{text}[|endofturn|]\n",
    results="<tool_result>{text}</tool_result>",
    signs=("<tool_call>", "[|assistant|]"),
    models="EXAONE 4, EXAONE Deep",
)
