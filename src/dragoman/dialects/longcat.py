"""LongCat: pairs of a key and a value in tags of its own."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

RESULTS = "<tool_response>\n{text}\n</tool_response>"

LONGCAT = Dialect(
    "longcat",
    call="<longcat_tool_call>{name}\n{args}</longcat_tool_call>",
    args=Params("<longcat_arg_key>{key}</longcat_arg_key>\n<longcat_arg_value>{value}</longcat_arg_value>\n"),
    apart="",
    reasoning="<longcat_think>\n{text}\n</longcat_think>\n",
    begins="ASSISTANT:",
    ends=("</longcat_s>", "</s>"),
    results=RESULTS,
    signs=("<longcat_tool_call>",),
    models="LongCat-Flash",
)
