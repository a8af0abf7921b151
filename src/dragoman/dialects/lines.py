"""Words at the beginning of a line instead of marks: ReAct and NexusRaven."""

from ..syntax.codecs.json import JsonObject
from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect, Form

REACT = Dialect(
    "react-text",
    call="Action: {name}\nAction Input: {args}",
    args=JsonObject(free_text=True),
    gated=True,
    also=(Form("Action: {call}", Python()),),
    reasoning="Thought: {text}\n",
    content=("Final Answer: {text}",),
    begins="<|im_start|>assistant\n",
    ends=("<|im_end|>", "<|im_start|>", "<|endoftext|>", "Observation:"),
    results="Observation: {text}",
    results_role="user",
    signs=("Action Input:", "Final Answer:"),
    aliases=("react",),
    models="Any model told to write ReAct",
)

NEXUSRAVEN = Dialect(
    "nexusraven",
    call="Call: {call}<bot_end>",
    args=Python(),
    gated=True,
    reasoning="Thought: {text}\n",
    content=("Final Answer: {text}",),
    begins="<human_end>",
    ends=("</s>",),
    turn="{role}: {text}<{role}_end>\n",
    results="{text}",
    signs=("<human_end>",),
    models="NexusRaven V2",
)
