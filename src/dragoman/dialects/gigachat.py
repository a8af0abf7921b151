"""GigaChat 3.5: tags with attributes whose every word has a mark before it."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect
from .dsml import WORDS

GIGACHAT35 = Dialect(
    "gigachat35-gcml",
    section="<｜GCML｜tool_calls>\n{calls}\n</｜GCML｜tool_calls>",
    sections=tuple(f"<｜GCML｜{word}>{{calls}}</｜GCML｜{word}>" for word in WORDS if word != "tool_calls"),
    call='<｜GCML｜invoke name="{name}">\n{args}</｜GCML｜invoke>',
    args=Params('<｜GCML｜parameter name="{key}" string="{type}">{value}</｜GCML｜parameter>\n'),
    reasoning="<think>{text}</think>",
    begins="assistant<|role_sep|>\n",
    ends=("</s>", "<|message_sep|>"),
    turn="{role}<|role_sep|>\n{text}<|message_sep|>\n\n",
    results='<function_response name="{name}">{text}</function_response>',
    signs=("｜GCML｜",),
    aliases=("gigachat35",),
    models="GigaChat 3.5",
)
