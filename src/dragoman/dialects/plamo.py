"""PLaMo 3: the name and the JSON in marks of their own."""

from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect

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
