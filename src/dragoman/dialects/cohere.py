"""Cohere Command 3 and 4: a list of JSON calls between marks, citations in the answer."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

CITATIONS = ("<co>", "</co: *>", "</co>")

COHERE_CMD3 = Dialect(
    "cohere-cmd3",
    call="<|START_ACTION|>{call}<|END_ACTION|>",
    args=JsonCall("tool_name", ("parameters", "arguments"), "tool_call_id", listed=True, lines="\n    ", ids="first"),
    reasoning="<|START_THINKING|>{text}<|END_THINKING|>",
    content=("<|START_RESPONSE|>{text}<|END_RESPONSE|>",),
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
    args=JsonCall("tool_name", ("parameters", "arguments"), "tool_call_id", listed=True, lines="\n    ", ids="first"),
    reasoning="<|START_THINKING|>{text}<|END_THINKING|>",
    content=("<|START_TEXT|>{text}<|END_TEXT|>",),
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
