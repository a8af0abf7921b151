"""Hermes: JSON calls between tags, the most common dialect."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect, Form

CHATML_ENDS = ("<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>")

HERMES = Dialect(
    "hermes-json",
    call="<tool_call>\n{call}\n</tool_call>",
    args=JsonCall(),
    also=(
        Form(
            "<tool_call>\n<function={name}>\n{args}</function>\n</tool_call>",
            Params("<parameter={key}>\n{value}\n</parameter>\n"),
        ),
    ),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    declare=(
        "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
        "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n{tools}\n</tools>\n\n"
        "For each function call, return a json object with function name and arguments within "
        "<tool_call></tool_call> XML tags:\n<tool_call>\n"
        '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
    ),
    results_role="user",
    signs=("<tool_call>", "arguments"),
    aliases=(
        "hermes",
        "qwen25",
        "qwen",
        "qwen3_json",
        "json_tools",
        "granite4",
        "granite4-json",
        "smollm3",
        "trinity",
        "falcon",
        "qwen3",
        "qwen3-thinking",
        "holo2",
        "qwen3-vl-instruct",
        "qwen3-vl-thinking",
    ),
    models="Hermes 2 Pro to 4, Qwen2.5, QwQ, Qwen3, MiMo-7B, Granite 4.0 and 4.1, SmolLM3, Jamba Reasoning, Trinity, Falcon 3",
)
