"""Command R: a list of JSON calls in a fence, behind a word at a line start."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect, Form

COHERE_R = Dialect(
    "cohere-r",
    call="Action: ```json\n{call}\n```",
    args=JsonCall("tool_name", ("parameters", "arguments"), listed=True, none=("directly-answer", "directly_answer")),
    gated=True,
    also=(Form("Action:\n{call}", JsonCall("tool_name", ("parameters", "arguments"), listed=True)),),
    begins="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    ends=("<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
    turn="<|START_OF_TURN_TOKEN|><|{role}|>{text}<|END_OF_TURN_TOKEN|>",
    results="<results>\n{text}</results>",
    results_role="system",
    signs=("Action:", "directly-answer"),
    models="Command R and R+",
)
