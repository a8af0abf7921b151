"""MiniMax: calls as tags with attributes, in one section (M2), or JSON objects, one a line (M1)."""

from ..syntax.codecs.elements import Elements
from ..syntax.codecs.json_call import JsonCall
from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

MINIMAX_M1 = Dialect(
    "minimax-m1",
    call="<tool_calls>\n{call}\n</tool_calls>",
    args=JsonCall(lines="\n"),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<beginning_of_sentence>ai name=assistant\n",
    ends=("<end_of_sentence>", "[e~["),
    turn="<beginning_of_sentence>{role}\n{text}<end_of_sentence>\n",
    signs=("<tool_calls>", "<beginning_of_sentence>"),
    aliases=("minimax", "minimax_m1"),
    models="MiniMax-M1",
)

MINIMAX_M2 = Dialect(
    "minimax-m2",
    section="\n<minimax:tool_call>\n{calls}\n</minimax:tool_call>",
    call='<invoke name="{name}">\n{args}</invoke>',
    args=Params('<parameter name="{key}">{value}</parameter>\n'),
    apart="",
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="]~b]ai\n",
    ends=("[e~[", "]~b]"),
    special=("<minimax:tool_call>", "</minimax:tool_call>", "[e~[", "]~b]"),
    turn="]~b]{role}\n{text}[e~[\n",
    results="<response>{text}</response>",
    signs=("<minimax:tool_call>",),
    aliases=("minimax_m2", "minimax_m2_append_think", "minimax-append-think"),
    models="MiniMax-M2, M2.1, M2.5",
)

MINIMAX_M3 = Dialect(
    "minimax-m3",
    section="]<]minimax[>[<tool_call>\n{calls}\n]<]minimax[>[</tool_call>",
    call=']<]minimax[>[<invoke name="{name}">{args}]<]minimax[>[</invoke>',
    args=Elements("]<]minimax[>[<{key}>{value}]<]minimax[>[</{key}>"),
    reasoning="<mm:think>{text}</mm:think>",
    begins="]~b]ai\n",
    ends=("[e~[", "]~b]"),
    turn="]~b]{role}\n{text}[e~[\n",
    results="<response>{text}</response>",
    signs=("]<]minimax[>[", "<invoke name="),
    aliases=("minimax_m3",),
    models="MiniMax-M3",
)
