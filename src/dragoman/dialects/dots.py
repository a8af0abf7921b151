"""dots: calls as tags with attributes, in a section."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

INVOKE = '<invoke name="{name}">\n{args}</invoke>'
STRIPPED = Params('<parameter name="{key}">{value}</parameter>\n', strip=True)

DOTS = Dialect(
    "dots",
    section="<dots_function_call>\n{calls}\n</dots_function_call>",
    call=INVOKE,
    args=STRIPPED,
    reasoning="<think>{text}</think>\n\n",
    begins="<|assistant|>",
    ends=("<|endofassistant|>", "<|user|>"),
    turn="<|{role}|>{text}<|endof{role}|>",
    results="{text}",
    signs=("<dots_function_call>",),
    models="dots.llm",
)
