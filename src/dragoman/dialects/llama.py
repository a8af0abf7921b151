"""Llama 3 and 4: bare JSON, Python behind a mark, Python in a list."""

from ..syntax.codecs.code import Code
from ..syntax.codecs.json_call import JsonCall
from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect, Form

LLAMA_BEGINS = "<|start_header_id|>assistant<|end_header_id|>\n\n"
LLAMA_ENDS = ("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>")
LLAMA_TURN = "<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>"

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

LLAMA3_TAG = Dialect(
    "llama3-python-tag",
    call="<|python_tag|>{call}",
    args=Python(),
    gated=True,
    also=(Form("<|python_tag|>{call}", JsonCall()), Form("<|python_tag|>{call}", Code())),
    begins="<|start_header_id|>assistant<|end_header_id|>\n\n",
    ends=("<|eom_id|>", "<|eot_id|>", "<|end_of_text|>"),
    special=("<|python_tag|>", "<|eom_id|>", "<|eot_id|>"),
    turn="<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>",
    results="{text}",
    results_role="ipython",
    signs=("<|python_tag|>", "brave_search"),
    models="Llama 3.1 to 3.3, built-in tools",
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
