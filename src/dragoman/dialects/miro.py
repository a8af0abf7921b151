"""MiroThinker: the name and the JSON in tags of their own."""

from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect

MIRO = Dialect(
    "miro-mcp",
    call=(
        "<use_mcp_tool>\n<server_name>{type}</server_name>\n<tool_name>{name}</tool_name>\n"
        "<arguments>\n{args}\n</arguments>\n</use_mcp_tool>"
    ),
    args=JsonObject(),
    also=("<use_mcp_tool>\n<tool_name>{name}</tool_name>\n<arguments>\n{args}\n</arguments>\n</use_mcp_tool>",),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<|im_start|>assistant\n",
    ends=("<|im_end|>", "<|im_start|>"),
    results="{text}",
    signs=("<use_mcp_tool>",),
    models="MiroThinker",
)
