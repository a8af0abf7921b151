"""Calls as tags with attributes, in a section: the layout that Claude made known."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

INVOKE = '<invoke name="{name}">\n{args}</invoke>'
PARAMS = Params('<parameter name="{key}">{value}</parameter>\n')

CLAUDE_XML = Dialect(
    "claude-xml",
    section="<function_calls>\n{calls}\n</function_calls>",
    call=INVOKE,
    args=PARAMS,
    reasoning="<thinking>\n{text}\n</thinking>\n\n",
    begins="assistant: ",
    ends=("</s>", "<|im_end|>"),
    turn="{role}: {text}\n\n",
    results="<function_results>\n{text}\n</function_results>",
    signs=("<function_calls>", "<invoke name="),
    models="Models tuned on Claude's transcripts",
)
