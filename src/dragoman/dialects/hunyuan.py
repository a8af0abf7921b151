"""Hunyuan: a list of JSON calls (A13B), or a name and fenced JSON between tags (the dense models)."""

from ..syntax.codecs.json import JsonObject
from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

HUNYUAN = Dialect(
    "hunyuan-a13b",
    call="<tool_calls>{call}</tool_calls>",
    args=JsonCall(listed=True),
    reasoning="<think>\n{text}\n</think>\n",
    content=("<answer>\n{text}\n</answer>",),
    drops=("助手：",),
    begins="<|extra_0|>",
    ends=("<|eos|>", "<|startoftext|>"),
    turn="<|startoftext|>{text}<|extra_4|>",
    results="<tool_response>{text}</tool_response>",
    signs=("<tool_calls>", "<answer>"),
    aliases=("hunyuan_a13b",),
    models="Hunyuan-A13B",
)

HUNYUAN_DENSE = Dialect(
    "hunyuan-dense",
    section="<tool_calls>{calls}</tool_calls>",
    call="<tool_call>{name}\n```json\n{args}\n```</tool_call>",
    args=JsonObject(),
    joint="\n",
    apart="",
    reasoning="<think>\n{text}\n</think>\n",
    drops=("<answer>", "</answer>"),
    begins="<｜hy_Assistant｜>",
    ends=("<｜hy_place▁holder▁no▁2｜>", "<｜hy_User｜>", "<|eos|>"),
    turn="<｜hy_{role}｜>{text}",
    results="<tool_responses><tool_response>{text}</tool_response></tool_responses>",
    results_role="User",
    signs=("<tool_calls>", "<tool_call>function_name", "```json"),
    models="Hunyuan 0.5B, 1.8B, 4B and 7B, Hy-Embodied",
)
