"""The name in marks of its own, then JSON arguments."""

from ..syntax.codecs.code import Code
from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect, Form

FUNCTIONARY31 = Dialect(
    "functionary-v3-1",
    call="<function={name}>{args}</function>",
    args=JsonObject(),
    also=(Form("<|python_tag|>{call}", Code()),),
    begins="<|start_header_id|>assistant<|end_header_id|>\n\n",
    ends=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
    turn="<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>",
    results="{text}",
    signs=("<function=", "<|python_tag|>"),
    models="Functionary 3.1",
)

PLAMO3 = Dialect(
    "plamo3",
    section="<|plamo:begin_tool_requests:plamo|>{calls}<|plamo:end_tool_requests:plamo|>",
    call=(
        "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|>"
        "<|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{args}"
        "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>"
    ),
    args=JsonObject(),
    reasoning="<|plamo:begin_think:plamo|>{text}<|plamo:end_think:plamo|>",
    begins="<|plamo:tag|>assistant\n",
    ends=("<|plamo:tag|>", "<|plamo:eos|>"),
    special=("<|plamo:begin_tool_request:plamo|>", "<|plamo:begin_tool_requests:plamo|>"),
    turn="<|plamo:tag|>{role}\n{text}",
    results="{text}",
    signs=("<|plamo:begin_tool_request:plamo|>",),
    models="PLaMo 3",
)

MIRO = Dialect(
    "miro-mcp",
    call=(
        "<use_mcp_tool>\n<server_name>{type}</server_name>\n<tool_name>{name}</tool_name>\n"
        "<arguments>\n{args}\n</arguments>\n</use_mcp_tool>"
    ),
    args=JsonObject(),
    also=("<use_mcp_tool>\n<tool_name>{name}</tool_name>\n<arguments>\n{args}\n</arguments>\n</use_mcp_tool>",),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|im_start|>assistant\n",
    ends=("<|im_end|>", "<|im_start|>"),
    results="{text}",
    signs=("<use_mcp_tool>",),
    models="MiroThinker",
)
