"""JSON calls in the fences of Markdown."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

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
