"""Mistral: a mark, then the name and JSON arguments (v11 and later)."""

from ..syntax.codecs.json import JsonObject
from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect, Form

MISTRAL_V11 = Dialect(
    "mistral-v11",
    call="[TOOL_CALLS]{name}[ARGS]{args}",
    args=JsonObject(),
    also=(
        "[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]{args}",
        Form("[TOOL_CALLS]{call}", JsonCall()),
    ),
    reasoning="[THINK]{text}[/THINK]",
    thoughts=("<think>{text}</think>",),
    begins="[/INST]",
    ends=("</s>", "[INST]"),
    special=("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]", "</s>"),
    turn="[{role}]{text}[/{role}]",
    signs=("[TOOL_CALLS]", "[ARGS]"),
    aliases=("mistral", "ministral3", "ministral"),
    models="Mistral Small 3.2 and 4, Devstral, Magistral, Ministral 3, Mistral Large 3",
)

MISTRAL_JSON = Dialect(
    "mistral-json",
    call="[TOOL_CALLS]{call}",
    args=JsonCall(listed=True, ids="last"),
    begins="[/INST]",
    ends=("</s>", "[INST]"),
    special=("[TOOL_CALLS]", "</s>"),
    turn="[{role}]{text}[/{role}]",
    signs=("[TOOL_CALLS]",),
    models="Mistral 7B v0.3, Mixtral 8x22B, Nemo, Large 2, Small 3.1",
)
