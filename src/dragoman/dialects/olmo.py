"""Olmo 3: Python calls, one a line."""

from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS

OLMO3 = Dialect(
    "olmo3",
    call="<function_calls>{call}</function_calls>",
    args=Python(json=True),
    reasoning="<think>{text}</think>",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    results="{text}",
    results_role="environment",
    signs=("<function_calls>", "<functions>"),
    aliases=("olmo3-think",),
    models="Olmo 3 and 3.1",
)
