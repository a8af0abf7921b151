"""Qwen3-Coder and Qwen3.5: calls as nested tags, one for each parameter, with raw text in them."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect, Form
from .hermes import CHATML_ENDS

CALL = "<tool_call>\n<function={name}>\n{args}</function>\n</tool_call>"
PARAMS = Params("<parameter={key}>\n{value}\n</parameter>\n")
JSON = Form("<tool_call>\n{call}\n</tool_call>", JsonCall())
BEGINS = "<|im_start|>assistant\n"
DECLARE = (
    "# Tools\n\nYou have access to the following functions:\n\n<tools>\n{tools}\n</tools>\n\n"
    "To call a function, reply in this form and add nothing behind it:\n\n"
    "<tool_call>\n<function=example_function_name>\n<parameter=example_parameter>\nvalue\n</parameter>\n"
    "</function>\n</tool_call>"
)

QWEN3_CODER = Dialect(
    "qwen3-coder-xml",
    call=CALL,
    args=PARAMS,
    apart="\n\n",
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins=BEGINS,
    ends=CHATML_ENDS,
    declare=DECLARE,
    results_role="user",
    signs=("<tool_call>", "<function=", "<parameter="),
    aliases=("qwen3_coder", "qwen3-coder", "qwen3_xml", "qwen_xml", "qwen_coder"),
    models="Qwen3-Coder, Qwen3-Coder-Next",
)

QWEN35 = Dialect(
    "qwen35-xml",
    call=CALL,
    args=PARAMS,
    apart="\n\n",
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins=BEGINS,
    ends=CHATML_ENDS,
    declare=DECLARE,
    results_role="user",
    signs=("<tool_call>", "<function=", "<parameter=", "<think>"),
    aliases=("qwen35", "qwen3.5", "nanbeige"),
    models="Qwen3.5, Qwen3.6, Qwen3.8, Nanbeige",
)
