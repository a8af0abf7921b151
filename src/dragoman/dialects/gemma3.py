"""Gemma 3 has no calls of its own: what prompts ask it for is JSON, Python, or a fence of tool_code."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect

GEMMA_ENDS = ("<end_of_turn>", "<start_of_turn>", "<eos>")
GEMMA_TURN = "<start_of_turn>{role}\n{text}<end_of_turn>\n"

GEMMA3_JSON = Dialect(
    "gemma3-json",
    call="{call}",
    args=JsonCall(args=("parameters", "arguments", "args", "input"), lines="\n"),
    begins="<start_of_turn>model\n",
    ends=GEMMA_ENDS,
    turn=GEMMA_TURN,
    results="{text}",
    results_role="user",
    models="Gemma 3 and 3n told to write JSON",
)

GEMMA3_PYTHONIC = Dialect(
    "gemma3-pythonic",
    call="{call}",
    args=Python(listed=True),
    begins="<start_of_turn>model\n",
    ends=GEMMA_ENDS,
    turn=GEMMA_TURN,
    results_role="user",
    models="Gemma 3 told to write Python",
)

GEMMA3_TOOLCODE = Dialect(
    "gemma3-toolcode",
    call="```tool_code\n{call}\n```",
    args=Python(),
    gated=True,
    also=("```python\n{call}\n```",),
    begins="<start_of_turn>model\n",
    ends=("<end_of_turn>", "<start_of_turn>", "<eos>"),
    turn="<start_of_turn>{role}\n{text}<end_of_turn>\n",
    results="```tool_output\n{text}\n```",
    results_role="user",
    signs=("```tool_code",),
    models="Gemma 3 told to write tool_code",
)
