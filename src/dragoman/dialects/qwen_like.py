"""Nested tags as Qwen3-Coder writes them, in the turns of other families."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS
from .qwen import BEGINS, CALL, DECLARE, JSON, PARAMS

NEMOTRON3 = Dialect(
    "nemotron3-xml",
    call=CALL,
    args=PARAMS,
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n",
    begins=BEGINS,
    ends=(*CHATML_ENDS, "</s>"),
    declare=DECLARE,
    results_role="user",
    signs=("<tool_call>", "<function=", "<parameter=", "truncate_history_thinking"),
    aliases=("nemotron_v3", "nemotron_3", "nano_v3", "nemotron-3-nano"),
    models="Nemotron 3 Nano, Super and Ultra, 3.5 Lightning",
)

STEP35 = Dialect(
    "step35-xml",
    call=CALL,
    args=PARAMS,
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n",
    begins=BEGINS,
    ends=CHATML_ENDS,
    declare=DECLARE,
    results_role="tool_response",
    signs=("<tool_call>", "<function=", "<parameter=", "<|im_start|>tool_response"),
    aliases=("step3p5", "step5"),
    models="Step-3.5-Flash, Step-3.7, Step-5",
)

GRANITE42 = Dialect(
    "granite42-xml",
    call=CALL,
    args=PARAMS,
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n",
    begins="<|start_of_role|>assistant<|end_of_role|>",
    ends=("<|end_of_text|>", "<|start_of_role|>"),
    turn="<|start_of_role|>{role}<|end_of_role|>{text}<|end_of_text|>\n",
    declare=DECLARE,
    results_role="user",
    signs=("<tool_call>", "<function=", "<parameter=", "<|start_of_role|>"),
    aliases=("granite_thinking_parser",),
    models="Granite 4.2",
)

SEED_OSS = Dialect(
    "seed-oss-xml",
    call="<seed:tool_call>\n<function={name}>\n{args}</function>\n</seed:tool_call>",
    args=Params("<parameter={key}>{value}</parameter>\n"),
    reasoning="<seed:think>{text}</seed:think>",
    begins="<seed:bos>assistant\n",
    ends=("<seed:eos>", "<seed:bos>"),
    special=("<seed:think>", "</seed:think>", "<seed:tool_call>", "</seed:tool_call>", "<seed:eos>", "<seed:bos>"),
    turn="<seed:bos>{role}\n{text}<seed:eos>",
    results="{text}",
    declare=DECLARE.replace("<tool_call>", "<seed:tool_call>").replace("</tool_call>", "</seed:tool_call>"),
    signs=("<seed:tool_call>",),
    aliases=("seed_oss", "seed-oss"),
    models="Seed-OSS-36B",
)

MIMO = Dialect(
    "mimo-xml",
    call="<tool_call><function={name}>{args}</function></tool_call>",
    args=Params("<parameter={key}>{value}</parameter>"),
    also=(JSON,),
    reasoning="<think>{text}</think>",
    begins=BEGINS,
    ends=CHATML_ENDS,
    declare=DECLARE,
    results_role="user",
    signs=("<tool_call><function=", "<parameter=", "</parameter></function>"),
    aliases=("mimo",),
    models="MiMo-V2 Flash and Pro, V2.5, V2.6",
)

MINICPM_V = Dialect(
    "minicpm-v",
    call=CALL,
    args=PARAMS,
    also=(JSON,),
    reasoning="<think>\n{text}\n</think>\n\n",
    noise=("<reserved_*>",),
    begins=BEGINS,
    ends=CHATML_ENDS,
    declare=DECLARE,
    results_role="user",
    aliases=("minicpmv",),
    models="MiniCPM-V 4.6",
)
