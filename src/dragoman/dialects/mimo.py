"""MiMo: nested tags, and values without newlines around them."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS
from .qwen import BEGINS, DECLARE, JSON

MIMO = Dialect(
    "mimo-xml",
    call="<tool_call>\n<function={name}>\n{args}</function>\n</tool_call>",
    args=Params("<parameter={key}>{value}</parameter>\n", inline=True),
    also=(JSON,),
    joint="",
    reasoning="<think>{text}</think>",
    begins=BEGINS,
    ends=CHATML_ENDS,
    declare=DECLARE,
    results_role="user",
    signs=("<tool_call>", "<function=", "<parameter=example_parameter_1>value_1</parameter>"),
    aliases=("mimo",),
    models="MiMo-V2 Flash and Pro, V2.5, V2.6",
)
