"""GLM and its relatives: arguments as pairs of a key and a value."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

LINES = Params("<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n")
COMPACT = Params("<arg_key>{key}</arg_key><arg_value>{value}</arg_value>")
ENDS = ("<|user|>", "<|observation|>", "<|endoftext|>", "<|assistant|>")
RESULTS = "<tool_response>\n{text}\n</tool_response>"

GLM45 = Dialect(
    "glm45",
    call="<tool_call>{name}\n{args}</tool_call>",
    args=LINES,
    reasoning="<think>{text}</think>\n",
    begins="<|assistant|>\n",
    ends=ENDS,
    turn="<|{role}|>\n{text}",
    results=RESULTS,
    results_role="observation",
    signs=("<arg_key>", "<arg_value>", "[gMASK]<sop>"),
    aliases=("glm4_moe", "glm", "glm-4.5", "glm45_moe"),
    models="GLM-4.5, GLM-4.6",
)

GLM47 = Dialect(
    "glm47",
    call="<tool_call>{name}{args}</tool_call>",
    args=COMPACT,
    reasoning="<think>{text}</think>",
    begins="<|assistant|>",
    ends=ENDS,
    turn="<|{role}|>{text}",
    results="<tool_response>{text}</tool_response>",
    results_role="observation",
    signs=("<arg_key>", "<arg_value>", "[gMASK]<sop>", "<tool_response>{{"),
    aliases=("glm4_7", "glm-4.7", "glm-5", "glm47_moe"),
    models="GLM-4.7, GLM-5",
)

LING3 = Dialect(
    "ling3",
    call="<tool_call>{name}\n{args}</tool_call>",
    args=LINES,
    reasoning="<think>\n{text}\n</think>\n",
    begins="<role>ASSISTANT</role>",
    ends=("<|role_end|>", "<|endoftext|>"),
    turn="<role>{role}</role>{text}<|role_end|>",
    results=RESULTS,
    results_role="OBSERVATION",
    signs=("<arg_key>", "<arg_value>", "<role>ASSISTANT</role>"),
    models="Ling-3, Ring-3, Ring-2.6",
)

LAGUNA = Dialect(
    "laguna",
    call="<tool_call>{name}{args}</tool_call>",
    args=COMPACT,
    reasoning="<think>{text}</think>",
    begins="<assistant>\n",
    ends=("</assistant>", "<user>"),
    turn="<{role}>\n{text}\n</{role}>\n",
    results="<tool_response>{text}</tool_response>",
    results_role="user",
    signs=("<arg_key>", "<arg_value>", "<assistant>"),
    aliases=("poolside_v1", "poolside-v1"),
    models="Laguna",
)

SPARK25 = Dialect(
    "spark25",
    call="<tool_call>{name}\n{args}</tool_call>",
    args=Params("<arg_key>{key}</arg_key><arg_value>{value}</arg_value>\n"),
    reasoning="<think>\n{text}\n</think>\n",
    begins="<|assistant|>",
    ends=ENDS,
    turn="<|{role}|>{text}",
    results=RESULTS,
    models="Spark-X2.5",
)

IQUEST = Dialect(
    "iquest-q1",
    call="<iquest_tool_call>{name}{args}</iquest_tool_call>",
    args=COMPACT,
    reasoning="<think>{text}</think>\n\n",
    begins="<|iquest_assistant|>",
    ends=("<|iquest_user|>", "<|iquest_end|>", "<|endoftext|>"),
    turn="<|iquest_{role}|>{text}",
    results=RESULTS,
    signs=("<|iquest_assistant|>",),
    aliases=("iquest_q1",),
    models="IQuest-Q1",
)

LONGCAT = Dialect(
    "longcat",
    call="<longcat_tool_call>{name}\n{args}</longcat_tool_call>",
    args=Params("<longcat_arg_key>{key}</longcat_arg_key>\n<longcat_arg_value>{value}</longcat_arg_value>\n"),
    reasoning="<longcat_think>\n{text}\n</longcat_think>\n",
    begins="ASSISTANT:",
    ends=("</longcat_s>", "</s>"),
    results=RESULTS,
    signs=("<longcat_tool_call>",),
    models="LongCat-Flash",
)

K2_HORIZON = Dialect(
    "k2-horizon",
    section="<ifm|tool_calls>\n{calls}\n</ifm|tool_calls>",
    call="<ifm|tool_call>{name}\n{args}</ifm|tool_call>",
    args=Params("<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_value>{value}</ifm|arg_value>\n"),
    reasoning="<ifm|think>\n{text}\n</ifm|think>\n",
    thoughts=(
        "<ifm|think_fast>\n{text}\n</ifm|think_fast>\n",
        "<ifm|think_faster>\n{text}\n</ifm|think_faster>\n",
    ),
    begins="<|ifm|im_start|>assistant\n",
    ends=("<|ifm|im_end|>", "<|ifm|im_start|>"),
    turn="<|ifm|im_start|>{role}\n{text}<|ifm|im_end|>\n",
    results=RESULTS,
    signs=("<ifm|tool_calls>",),
    aliases=("k2_horizon",),
    models="K2-Horizon",
)

HY_V3 = Dialect(
    "hy-v3",
    section="<tool_calls>\n{calls}\n</tool_calls>",
    call="<tool_call>{name}<tool_sep>\n{args}</tool_call>",
    args=LINES,
    reasoning="<think>{text}</think>",
    begins="<｜hy_Assistant｜>",
    ends=("<｜hy_eos｜>", "<｜hy_User｜>", "<|eos|>"),
    suffix=True,
    special=("<tool_calls>", "</tool_calls>", "<tool_call>", "</tool_call>", "<tool_sep>"),
    turn="<｜hy_{role}｜>{text}",
    results=RESULTS,
    signs=("tool_sep", "arg_key", "arg_value", "<tool_calls"),
    aliases=("hy_v3", "hunyuan"),
    models="Hy3",
)

HY_V4 = Dialect(
    "hy-v4",
    section="<tool_calls>{calls}</tool_calls>",
    call="<tool_call>{name}{args}</tool_call>",
    args=COMPACT,
    reasoning="<think>{text}</think>",
    begins="<｜hy_Assistant｜>",
    ends=("<｜hy_eos｜>", "<｜hy_User｜>", "<|eos|>"),
    suffix=True,
    special=("<tool_calls>", "</tool_calls>", "<tool_call>", "</tool_call>"),
    turn="<｜hy_{role}｜>{text}",
    results=RESULTS,
    signs=("<tool_calls", "arg_key", "arg_value"),
    aliases=("hy_v4",),
    models="Hy4",
)
