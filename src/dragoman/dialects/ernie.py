"""ERNIE 4.5: JSON calls between tags, the answer in a wrapper."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

ERNIE45 = Dialect(
    "ernie45",
    call="<tool_call>\n{call}\n</tool_call>",
    args=JsonCall(),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|im_start|>assistant\n",
    drops=("<response>", "</response>"),
    ends=("</s>", "<|im_end|>"),
    signs=("<tool_call>", "<response>"),
    models="ERNIE-4.5 Thinking",
)
