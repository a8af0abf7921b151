"""Calls in the fences of Markdown."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect, Form

FENCED_JSON = Dialect(
    "fenced-json",
    call="```json\n{call}\n```",
    args=JsonCall(lines="\n"),
    gated=True,
    also=("```tool_call\n{call}\n```", "```tool_code\n{call}\n```", "```\n{call}\n```"),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|im_start|>assistant\n",
    ends=("<|im_end|>", "<|im_start|>", "<|endoftext|>"),
    results="{text}",
    models="Any model told to answer in a JSON fence",
)

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
