"""Functionary 3.1: the name in a tag, then JSON; code behind a mark."""

from ..syntax.codecs.code import Code
from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect, Form

FUNCTIONARY31 = Dialect(
    "functionary-v3-1",
    call="<function={name}>{args}</function>",
    args=JsonObject(),
    joint="",
    also=(Form("<|python_tag|>{call}", Code()),),
    begins="<|start_header_id|>assistant<|end_header_id|>\n\n",
    ends=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
    turn="<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>",
    results="{text}",
    signs=("<function=", "<|python_tag|>"),
    models="Functionary 3.1",
)
