"""Solar Open: thinking, answer and calls each begin with a mark of their own; a call brings its id."""

from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect

SOLAR_OPEN = Dialect(
    "solar-open",
    call="<|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|>{args}<|tool_call:end|>",
    args=JsonObject(),
    section="<|tool_calls|>{calls}<|calls|>",
    reasoning="<|think|>{text}<|end|>",
    content=("<|content|>{text}<|end|>",),
    drops=("<|begin|>assistant", "<|begin|>", "<|content|>", "<|end|>", "<|flush|>"),
    begins="<|begin|>assistant",
    again="<|begin|>assistant",
    ends=("<|begin|>user", "<|begin|>tool", "<|endoftext|>"),
    special=(
        "<|begin|>", "<|end|>", "<|think|>", "<|content|>", "<|flush|>", "<|tool_calls|>", "<|calls|>",
        "<|tool_call:begin|>", "<|tool_call:name|>", "<|tool_call:args|>", "<|tool_call:end|>",
    ),
    turn="<|begin|>{role}<|content|>{text}<|end|>",
    results="<|begin|>tool<|tool_response|>{text}<|end|>",
    results_role="",
    signs=("<|tool_calls|>", "<|tool_call:begin|>"),
    aliases=("solar_open", "solar"),
    models="Solar Open",
)  # fmt: skip
