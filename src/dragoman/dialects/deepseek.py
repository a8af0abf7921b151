"""DeepSeek: calls in a section, the name before the JSON; V3 puts a type before the name and a fence around the JSON."""

from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect

SECTION = "<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>"
FENCED = "<｜tool▁call▁begin｜>{type}<｜tool▁sep｜>{name}\n```json\n{args}\n```<｜tool▁call▁end｜>"
PLAIN = "<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{args}<｜tool▁call▁end｜>"
ENDS = ("<｜end▁of▁sentence｜>", "<｜User｜>")
SPECIAL = (
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁sep｜>",
    "<｜end▁of▁sentence｜>",
)
TURN = "<｜{role}｜>{text}"
RESULTS = "<｜tool▁output▁begin｜>{text}<｜tool▁output▁end｜>"

DEEPSEEK_V3 = Dialect(
    "deepseek-v3",
    section=SECTION,
    call=FENCED,
    args=JsonObject(),
    apart="",
    also=(PLAIN,),
    reasoning="<think>\n{text}\n</think>\n\n",
    begins="<｜Assistant｜>",
    ends=ENDS,
    special=SPECIAL,
    turn=TURN,
    results=RESULTS,
    signs=("<｜tool▁calls▁begin｜>", "```json"),
    aliases=("deepseek_v3", "deepseekv3", "deepseek-r1", "deepseek_r1", "deepseek", "deepseek3", "cogito"),
    models="DeepSeek-R1, V3, V3-0324",
)

DEEPSEEK_V31 = Dialect(
    "deepseek-v31",
    section=SECTION,
    call=PLAIN,
    args=JsonObject(),
    also=(FENCED,),
    reasoning="<think>{text}</think>",
    begins="<｜Assistant｜>",
    ends=ENDS,
    special=SPECIAL,
    turn=TURN,
    results=RESULTS,
    signs=("<｜tool▁calls▁begin｜>",),
    aliases=("deepseek_v31", "deepseekv31", "deepseek_v3_1", "deepseek31"),
    models="DeepSeek-V3.1, V3.1-Terminus, V3.2-Exp",
)
