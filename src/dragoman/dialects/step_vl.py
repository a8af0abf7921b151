"""Step's models for pictures and sound: JSON calls in two pairs of tags, or between marks of their own."""

from ..syntax.codecs.json import JsonObject
from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS

STEP3_VL = Dialect(
    "step3-vl",
    section="\n<tool_calls>\n{calls}\n</tool_calls>",
    call="<tool_call>\n{call}\n</tool_call>",
    args=JsonCall(),
    apart="",
    reasoning="<think>\n{text}\n</think>\n",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    results_role="tool_response",
    signs=("<tool_calls>", "<tool_call>", "arguments", "<|im_start|>tool_response"),
    models="Step3-VL",
)

STEP_AUDIO = Dialect(
    "step-audio",
    call="<|CALL_START|>function\n{name}\n{args}<|CALL_END|>",
    args=JsonObject(),
    joint="",
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|BOT|>assistant\n",
    ends=("<|EOT|>", "<|BOT|>"),
    special=("<|CALL_START|>", "<|CALL_END|>"),
    turn="<|BOT|>{role}\n{text}<|EOT|>",
    results="{text}",
    signs=("<|CALL_START|>", "<|CALL_END|>"),
    models="Step-Audio-R1",
)
