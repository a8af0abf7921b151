"""Calls as tags with attributes, in a section: the layout that Claude made known."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

PARAMS = Params('<parameter name="{key}">{value}</parameter>\n')
STRIPPED = Params('<parameter name="{key}">{value}</parameter>\n', strip=True)
INVOKE = '<invoke name="{name}">\n{args}</invoke>'

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

CLAUDE_XML = Dialect(
    "claude-xml",
    section="<function_calls>\n{calls}\n</function_calls>",
    call=INVOKE,
    args=PARAMS,
    reasoning="<thinking>\n{text}\n</thinking>\n\n",
    begins="assistant: ",
    ends=("</s>", "<|im_end|>"),
    turn="{role}: {text}\n\n",
    results="<function_results>\n{text}\n</function_results>",
    signs=("<function_calls>", "<invoke name="),
    models="Models tuned on Claude's transcripts",
)

MINICPM5 = Dialect(
    "minicpm5",
    call='<function name="{name}">{args}</function>',
    args=Params('<param name="{key}">{value}</param>', cdata=True),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|im_start|>assistant\n",
    ends=("<|im_end|>", "<|im_start|>", "</s>"),
    results="<tool_response>\n{text}\n</tool_response>",
    signs=("<function name=", "<param name="),
    aliases=("minicpm5-xml",),
    models="MiniCPM5",
)
