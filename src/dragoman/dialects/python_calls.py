"""Calls as Python writes them."""

from ..syntax.codecs.code import Code
from ..syntax.codecs.json_call import JsonCall
from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect, Form
from .hermes import CHATML_ENDS

LFM2 = Dialect(
    "lfm2",
    call="<|tool_call_start|>{call}<|tool_call_end|>",
    args=Python(listed=True),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    special=("<|tool_call_start|>", "<|tool_call_end|>"),
    results="<|tool_response_start|>{text}<|tool_response_end|>",
    signs=("<|tool_call_start|>",),
    aliases=("lfm2-thinking",),
    models="LFM2, LFM2.5",
)

MINICPM3 = Dialect(
    "minicpm3-py",
    call="<|tool_call_start|>\n```python\n{call}\n```\n<|tool_call_end|>",
    args=Python(),
    reasoning="<|thought_start|>\n{text}\n<|thought_end|>\n",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    results="{text}",
    signs=("<|tool_call_start|>", "<|thought_start|>"),
    models="MiniCPM3",
)

OLMO3 = Dialect(
    "olmo3",
    call="<function_calls>{call}</function_calls>",
    args=Python(),
    reasoning="<think>{text}</think>",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    results="{text}",
    results_role="environment",
    signs=("<function_calls>", "<functions>"),
    aliases=("olmo3-think",),
    models="Olmo 3 and 3.1",
)

SMOLLM3_CODE = Dialect(
    "smollm3-code",
    call="<code>\n{call}\n</code>",
    args=Python(),
    gated=True,
    reasoning="<think>\n{text}\n</think>\n",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    results="{text}",
    results_role="user",
    signs=("<code>", "python_tools"),
    models="SmolLM3 with Python tools",
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
