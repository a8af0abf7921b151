"""MiniCPM: Python in a fence (3), tags with attributes (5), nested tags as Qwen writes them (V)."""

from ..syntax.codecs.params import Params
from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS
from .qwen import BEGINS, CALL, DECLARE, JSON, PARAMS

MINICPM3 = Dialect(
    "minicpm3-py",
    call="<|tool_call_start|>\n```python\n{call}\n```\n<|tool_call_end|>",
    args=Python(json=True),
    reasoning="<|thought_start|>\n{text}\n<|thought_end|>\n",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    results="{text}",
    signs=("<|tool_call_start|>", "<|thought_start|>"),
    models="MiniCPM3",
)

MINICPM5 = Dialect(
    "minicpm5",
    call='<function name="{name}">{args}</function>',
    args=Params('<param name="{key}">{value}</param>', cdata=True),
    joint="\n",
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|im_start|>assistant\n",
    ends=("<|im_end|>", "<|im_start|>", "</s>"),
    results="<tool_response>\n{text}\n</tool_response>",
    signs=("<function name=", "<param name="),
    aliases=("minicpm5-xml",),
    models="MiniCPM5",
)

MINICPM_V = Dialect(
    "minicpm-v",
    call=CALL,
    args=PARAMS,
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n\n",
    noise=("<reserved_*>",),
    begins=BEGINS,
    ends=CHATML_ENDS,
    declare=DECLARE,
    results_role="user",
    aliases=("minicpmv",),
    models="MiniCPM-V 4.6",
)
