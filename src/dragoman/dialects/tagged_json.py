"""JSON calls between tags of their own, one object or a list: many small families."""

from ..syntax.codecs.code import Code
from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect, Form
from .hermes import CHATML_ENDS

THINK = "<think>\n{text}\n</think>\n\n"
LLAMA_ENDS = ("<|eot_id|>", "<|end_of_text|>", "<|eom_id|>")
LISTED = JsonCall(listed=True)
CITATIONS = ("<co>", "</co: *>", "</co>")

EXAONE = Dialect(
    "exaone",
    call="<tool_call>\n{call}\n</tool_call>",
    args=JsonCall(),
    reasoning=THINK,
    thoughts=("<thought>\n{text}\n</thought>\n\n",),
    begins="[|assistant|]",
    ends=("[|endofturn|]", "[|user|]"),
    turn="[|{role}|]{text}[|endofturn|]\n",
    results="<tool_result>{text}</tool_result>",
    signs=("<tool_call>", "[|assistant|]"),
    models="EXAONE 4, EXAONE Deep",
)

NEMOTRON_TOOLCALL = Dialect(
    "nemotron-toolcall",
    call="<TOOLCALL>{call}</TOOLCALL>",
    args=LISTED,
    reasoning=THINK,
    begins="<SPECIAL_11>Assistant\n",
    ends=("<SPECIAL_12>", "<SPECIAL_11>", *LLAMA_ENDS),
    turn="<SPECIAL_11>{role}\n{text}\n",
    results="<TOOL_RESPONSE>[{text}]</TOOL_RESPONSE>",
    signs=("<TOOLCALL>",),
    aliases=("nemotron_deci", "nemotron_nano"),
    models="Nemotron Nano v2, Llama-Nemotron Super and Ultra",
)

JAMBA = Dialect(
    "jamba",
    call="<tool_calls>{call}</tool_calls>",
    args=LISTED,
    begins="<|bom|><|assistant|>",
    ends=("<|eom|>", "<|bom|>"),
    special=("<tool_calls>", "</tool_calls>", "<|eom|>", "<|bom|>"),
    turn="<|bom|><|{role}|> {text}<|eom|>",
    results="{text}",
    signs=("<tool_calls>", "<|bom|>"),
    models="Jamba 1.5 to 1.7",
)

HUNYUAN = Dialect(
    "hunyuan-a13b",
    call="<tool_calls>{call}</tool_calls>",
    args=LISTED,
    reasoning="<think>\n{text}\n</think>\n",
    drops=("<answer>", "</answer>", "助手："),
    begins="<|extra_0|>",
    ends=("<|eos|>", "<|startoftext|>"),
    turn="<|startoftext|>{text}<|extra_4|>",
    results="<tool_response>{text}</tool_response>",
    signs=("<tool_calls>", "<answer>"),
    aliases=("hunyuan_a13b",),
    models="Hunyuan-A13B",
)

GRANITE3 = Dialect(
    "granite3",
    call="<|tool_call|>{call}",
    args=LISTED,
    also=("<tool_call>{call}",),
    reasoning="<think>{text}</think>",
    thoughts=(
        "Here is my thought process:{text}Here is my response:",
        "Here's my thought process:{text}Here's my response:",
    ),
    drops=("<response>", "</response>"),
    begins="<|start_of_role|>assistant<|end_of_role|>",
    ends=("<|end_of_text|>", "<|start_of_role|>"),
    turn="<|start_of_role|>{role}<|end_of_role|>{text}<|end_of_text|>\n",
    results="{text}",
    signs=("<|tool_call|>", "<|start_of_role|>"),
    aliases=("granite", "granite-phrases"),
    models="Granite 3.0 to 3.3",
)

GRANITE20B = Dialect(
    "granite20b-fc",
    call="<function_call> {call}",
    args=JsonCall(none=("no_function",)),
    begins="ASSISTANT: ",
    ends=("<|endoftext|>",),
    results="<function_response> {text}",
    turn="{role}: {text}\n",
    signs=("<function_call>",),
    aliases=("granite-20b-fc",),
    models="granite-20b-functioncalling",
)

PHI4_MINI = Dialect(
    "phi4-mini",
    call="functools{call}",
    args=LISTED,
    also=("<|tool_call|>{call}<|/tool_call|>",),
    begins="<|assistant|>",
    ends=("<|end|>", "<|user|>", "<|endoftext|>"),
    turn="<|{role}|>{text}<|end|>",
    results="{text}",
    signs=("<|tool_call|>", "<|/tool_call|>"),
    aliases=("phi4_mini_json", "phi4"),
    models="Phi-4-mini",
)

FIREFUNCTION = Dialect(
    "firefunction",
    call=" functools{call}",
    args=LISTED,
    begins="<|start_header_id|>assistant<|end_header_id|>\n\n",
    ends=LLAMA_ENDS,
    turn="<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>",
    results="{text}",
    signs=("functools[",),
    models="FireFunction v2",
)

INTERNLM2 = Dialect(
    "internlm2",
    call="<|action_start|><|plugin|>\n{call}<|action_end|>",
    args=JsonCall(args=("parameters", "arguments", "args", "input")),
    also=(Form("<|action_start|><|interpreter|>\n{call}<|action_end|>", Code()),),
    reasoning=THINK,
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    special=("<|action_start|>", "<|plugin|>", "<|action_end|>", "<|interpreter|>"),
    results="{text}",
    results_role="environment",
    signs=("<|action_start|>",),
    aliases=("internlm", "intern-s1", "interns1"),
    models="InternLM2, 2.5 and 3, Intern-S1",
)

OPENPANGU = Dialect(
    "openpangu",
    call="<|tool_call_start|>\n{call}\n<|tool_call_end|>",
    args=LISTED,
    also=("[unused11]{call}[unused12]",),
    reasoning="<think>{text}</think>",
    thoughts=("[unused16]{text}[unused17]",),
    begins="[unused9]助手：",
    ends=("[unused10]", "[unused9]"),
    turn="[unused9]{role}：{text}[unused10]",
    results="{text}",
    signs=("[unused11]",),
    models="openPangu",
)

HYMBA = Dialect(
    "hymba",
    call="<toolcall> {call} </toolcall>",
    args=JsonCall(),
    begins="<extra_id_1>Assistant\n",
    ends=("<extra_id_1>", "</s>"),
    turn="<extra_id_1>{role}\n{text}\n",
    results="{text}",
    signs=("<toolcall>",),
    models="Hymba",
)

COHERE_CMD3 = Dialect(
    "cohere-cmd3",
    call="<|START_ACTION|>{call}<|END_ACTION|>",
    args=JsonCall("tool_name", ("parameters", "arguments"), "tool_call_id", listed=True),
    reasoning="<|START_THINKING|>{text}<|END_THINKING|>",
    drops=("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    noise=CITATIONS,
    begins="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    ends=("<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
    special=(
        "<|START_ACTION|>",
        "<|END_ACTION|>",
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
    ),
    turn="<|START_OF_TURN_TOKEN|><|{role}|>{text}<|END_OF_TURN_TOKEN|>",
    results="{text}",
    signs=("<|START_ACTION|>", "<|START_RESPONSE|>"),
    aliases=("cohere_command3", "cohere", "cohere_cmd"),
    models="Command R7B, Command A",
)

COHERE_CMD4 = Dialect(
    "cohere-cmd4",
    call="<|START_ACTION|>{call}<|END_ACTION|>",
    args=JsonCall("tool_name", ("parameters", "arguments"), "tool_call_id", listed=True),
    reasoning="<|START_THINKING|>{text}<|END_THINKING|>",
    drops=("<|START_TEXT|>", "<|END_TEXT|>"),
    noise=CITATIONS,
    begins="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    ends=("<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
    special=(
        "<|START_ACTION|>",
        "<|END_ACTION|>",
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        "<|START_TEXT|>",
        "<|END_TEXT|>",
    ),
    turn="<|START_OF_TURN_TOKEN|><|{role}|>{text}<|END_OF_TURN_TOKEN|>",
    results="{text}",
    signs=("<|START_ACTION|>", "<|START_TEXT|>"),
    aliases=("cohere_command4",),
    models="Command A+, North",
)

APRIEL = Dialect(
    "apriel",
    call="<tool_calls>{call}</tool_calls>",
    args=LISTED,
    reasoning="Here are my reasoning steps:\n{text}\n[BEGIN FINAL RESPONSE]\n",
    thoughts=("<thinking>{text}</thinking>",),
    drops=("[END FINAL RESPONSE]", "[BEGIN FINAL RESPONSE]"),
    begins="<|assistant|>\n",
    ends=("<|end|>", "<|user|>", "<|begin_assistant|>"),
    turn="<|{role}|>\n{text}\n<|end|>\n",
    results="{text}",
    signs=("[BEGIN FINAL RESPONSE]",),
    models="Apriel 1.5 and 1.6",
)

APERTUS = Dialect(
    "apertus",
    call="<|tools_prefix|>{call}<|tools_suffix|>",
    args=JsonCall(listed=True, keyed=True),
    reasoning="<|inner_prefix|>{text}<|inner_suffix|>",
    begins="<|assistant_start|>",
    ends=("<|assistant_end|>", "<|user_start|>"),
    special=("<|tools_prefix|>", "<|tools_suffix|>", "<|inner_prefix|>", "<|inner_suffix|>", "<|assistant_end|>"),
    turn="<|{role}_start|>{text}<|{role}_end|>",
    results="[{text}]",
    results_role="assistant",
    signs=("<|tools_prefix|>",),
    aliases=("apertus2509",),
    models="Apertus 8B and 70B",
)
