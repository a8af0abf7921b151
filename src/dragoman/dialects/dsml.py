"""DSML and GCML: tags with attributes whose every word has a mark before it; an attribute tells strings from JSON."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect
from .deepseek import ENDS, TURN

WORDS = ("function_calls", "tool_calls", "calls", "toolcalls", "tool")  # models mix the words of all versions
RESULTS = "<function_results>\n<result>{text}</result>\n</function_results>"
DSML_CALL = '<｜DSML｜invoke name="{name}">\n{args}</｜DSML｜invoke>'
DSML_PARAMS = Params('<｜DSML｜parameter name="{key}" string="{type}">{value}</｜DSML｜parameter>\n')

DEEPSEEK_V32 = Dialect(
    "deepseek-v32-dsml",
    section="\n\n<｜DSML｜function_calls>\n{calls}\n</｜DSML｜function_calls>",
    sections=tuple(f"<｜DSML｜{word}>{{calls}}</｜DSML｜{word}>" for word in WORDS[1:]),
    call=DSML_CALL,
    args=DSML_PARAMS,
    apart="",
    reasoning="<think>{text}</think>",
    begins="<｜Assistant｜>",
    ends=ENDS,
    turn=TURN,
    results=RESULTS,
    signs=("｜DSML｜", "function_calls>"),
    aliases=("deepseek_v32", "deepseekv32", "deepseek_v3_2", "deepseek32"),
    models="DeepSeek-V3.2",
)

DEEPSEEK_V4 = Dialect(
    "deepseek-v4-dsml",
    section="\n\n<｜DSML｜tool_calls>\n{calls}\n</｜DSML｜tool_calls>",
    sections=tuple(f"<｜DSML｜{word}>{{calls}}</｜DSML｜{word}>" for word in WORDS if word != "tool_calls"),
    call=DSML_CALL,
    args=DSML_PARAMS,
    apart="",
    reasoning="<think>{text}</think>",
    begins="<｜Assistant｜>",
    ends=ENDS,
    turn=TURN,
    results="<result>{text}</result>",
    signs=("｜DSML｜", "tool_calls>"),
    aliases=("deepseek_v4", "deepseekv4", "deepseek-v4"),
    models="DeepSeek-V4",
)
