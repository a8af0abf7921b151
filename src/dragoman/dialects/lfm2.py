"""LFM2: Python calls between marks."""

from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS

LFM2 = Dialect(
    "lfm2",
    call="<|tool_call_start|>{call}<|tool_call_end|>",
    args=Python(listed=True),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    special=("<|tool_call_start|>", "<|tool_call_end|>"),
    results="<|tool_response_start|>{text}<|tool_response_end|>",
    signs=("<|tool_call_start|>",),
    aliases=("lfm2-thinking",),
    models="LFM2, LFM2.5",
)
