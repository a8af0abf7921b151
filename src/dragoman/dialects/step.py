"""Step3: tags with attributes inside of calls that stand in a section."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

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
