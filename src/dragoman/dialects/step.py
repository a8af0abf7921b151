"""Step: tags with attributes in a section (3), nested tags as Qwen writes them (3.5 and later)."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS
from .qwen import BEGINS, CALL, DECLARE, JSON, PARAMS

STEP3 = Dialect(
    "step3-steptml",
    section="<｜tool_calls_begin｜>\n{calls}\n<｜tool_calls_end｜>",
    call=(
        "<｜tool_call_begin｜>{type}<｜tool_sep｜>"
        '<steptml:invoke name="{name}">\n{args}</steptml:invoke><｜tool_call_end｜>'
    ),
    args=Params('<steptml:parameter name="{key}">{value}</steptml:parameter>\n'),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|BOT|>assistant\n",
    ends=("<|EOT|>", "<|BOT|>"),
    special=(
        "<｜tool_calls_begin｜>",
        "<｜tool_calls_end｜>",
        "<｜tool_call_begin｜>",
        "<｜tool_call_end｜>",
        "<｜tool_sep｜>",
    ),
    turn="<|BOT|>{role}\n{text}<|EOT|>",
    results="{text}",
    signs=("<steptml:invoke",),
    aliases=("step3", "steptml"),
    models="Step3",
)

STEP35 = Dialect(
    "step35-xml",
    call=CALL,
    args=PARAMS,
    joint="",
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n",
    begins=BEGINS,
    ends=CHATML_ENDS,
    declare=DECLARE,
    results_role="tool_response",
    signs=("<tool_call>", "<function=", "<parameter=", "<|im_start|>tool_response"),
    aliases=("step3p5", "step5"),
    models="Step-3.5-Flash, Step-3.7, Step-5",
)
