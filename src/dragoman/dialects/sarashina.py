"""Sarashina: a list of calls behind a mark, each with its id first."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

SARASHINA = Dialect(
    "sarashina",
    call="<|tool_calls|>{call}",
    args=JsonCall(listed=True, ids="first"),
    begins="<|assistant|>",
    ends=("</s>", "<|user|>", "<|tool|>"),
    special=("<|tool_calls|>", "<|assistant|>", "</s>"),
    turn="<|{role}|>{text}</s>",
    results="{text}",
    signs=("<|tool_calls|>", "<|assistant|>"),
    models="Sarashina 2.2",
)
