"""Calls without any mark: JSON or Python as the whole turn, which counts for declared tools only."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS

THINK = "<think>\n{text}\n</think>\n\n"
LLAMA_BEGINS = "<|start_header_id|>assistant<|end_header_id|>\n\n"
LLAMA_ENDS = ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>")
LLAMA_TURN = "<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>"
GEMMA_ENDS = ("<end_of_turn>", "<start_of_turn>", "<eos>")
GEMMA_TURN = "<start_of_turn>{role}\n{text}<end_of_turn>\n"

LLAMA3_JSON = Dialect(
    "llama3-json",
    call="{call}",
    args=JsonCall(args=("parameters", "arguments", "args", "input"), lines="; "),
    also=("<|python_tag|>{call}",),
    begins=LLAMA_BEGINS,
    ends=LLAMA_ENDS,
    turn=LLAMA_TURN,
    results="{text}",
    results_role="ipython",
    signs=("<|python_tag|>", "ipython"),
    aliases=("llama3_json", "llama3", "llama4_json", "llama"),
    models="Llama 3.1 to 3.3",
)

XLAM = Dialect(
    "xlam",
    call="{call}",
    args=JsonCall(listed=True),
    reasoning=THINK,
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS + LLAMA_ENDS,
    results="{text}",
    models="xLAM 1 and 2",
)

GENERIC_JSON = Dialect(
    "generic-json",
    call="{call}",
    args=JsonCall(lines="\n"),
    reasoning=THINK,
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    results="{text}",
    aliases=("json",),
    models="Any model told to answer in JSON",
)

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

PYTHONIC = Dialect(
    "pythonic-list",
    call="{call}",
    args=Python(listed=True),
    begins=LLAMA_BEGINS,
    ends=LLAMA_ENDS,
    turn=LLAMA_TURN,
    results="{text}",
    results_role="ipython",
    aliases=("pythonic",),
    models="Llama 3.2 1B and 3B, ToolACE",
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

LLAMA4 = Dialect(
    "llama4-pythonic",
    call="<|python_start|>{call}<|python_end|>",
    args=Python(listed=True),
    begins="<|header_start|>assistant<|header_end|>\n\n",
    ends=("<|eot|>", "<|eom|>", "<|header_start|>"),
    special=("<|python_start|>", "<|python_end|>", "<|eot|>"),
    turn="<|header_start|>{role}<|header_end|>\n\n{text}<|eot|>",
    results="{text}",
    results_role="ipython",
    signs=("<|python_start|>",),
    aliases=("llama4_pythonic",),
    models="Llama 4 Scout and Maverick",
)
