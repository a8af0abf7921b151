"""Cohere Command 5: nested elements that tell their types."""

from ..syntax.codecs.elements import Elements
from ..syntax.dialect import Dialect

COHERE_CMD5 = Dialect(
    "cohere-cmd5",
    section="<cofl:tool_calls>{calls}</cofl:tool_calls>",
    call='<cofl:tool_call id="{index}" name="{name}">{args}</cofl:tool_call>',
    args=Elements('<cofl:value name="{key}" type="{type}">{value}</cofl:value>'),
    reasoning="<|START_THINKING|>{text}<|END_THINKING|>",
    drops=("<|START_TEXT|>", "<|END_TEXT|>"),
    noise=("<co>", "</co: *>", "</co>"),
    begins="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    ends=("<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
    special=("<|START_THINKING|>", "<|END_THINKING|>", "<|START_TEXT|>", "<|END_TEXT|>"),
    turn="<|START_OF_TURN_TOKEN|><|{role}|>{text}<|END_OF_TURN_TOKEN|>",
    results="{text}",
    signs=("<cofl:tool_call",),
    aliases=("cmd5", "cohere_command5"),
    models="Command 5",
)
