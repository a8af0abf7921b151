"""K2-Horizon: pairs of a key and a value in a section, thinking in three strengths."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

RESULTS = "<tool_response>\n{text}\n</tool_response>"

K2_HORIZON = Dialect(
    "k2-horizon",
    section="<ifm|tool_calls>\n{calls}\n</ifm|tool_calls>",
    call="<ifm|tool_call>{name}\n{args}</ifm|tool_call>",
    args=Params(
        "<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_value>{value}</ifm|arg_value>\n",
        typed="<ifm|arg_type>{type}</ifm|arg_type>",
    ),
    reasoning="<ifm|think>\n{text}\n</ifm|think>\n",
    thoughts=(
        "<ifm|think_fast>\n{text}\n</ifm|think_fast>\n",
        "<ifm|think_faster>\n{text}\n</ifm|think_faster>\n",
    ),
    begins="<|ifm|im_start|>assistant\n",
    ends=("<|ifm|im_end|>", "<|ifm|im_start|>"),
    turn="<|ifm|im_start|>{role}\n{text}<|ifm|im_end|>\n",
    results=RESULTS,
    signs=("<ifm|tool_calls>",),
    aliases=("k2_horizon",),
    models="K2-Horizon",
)
