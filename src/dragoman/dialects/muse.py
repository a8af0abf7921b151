"""Muse: every message is addressed: to the model itself, to the user, or to a tool."""

from ..syntax.codecs.header import Header
from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

MUSE = Dialect(
    "muse-atem",
    call=(
        ' to={name}<|message|><atem:function_calls>\n<atem:invoke name="{name}">\n{args}</atem:invoke>\n'
        "</atem:function_calls><|eom|>"
    ),
    args=Params('<atem:parameter name="{key}">{value}</atem:parameter>\n'),
    reasoning=" to=self<|message|>{text}<|eom|>",
    content=(" to=user<|message|>{text}<|eom|>", " to=commentary<|message|>{text}<|eom|>"),
    frame=Header(
        start="<|start|>",
        role="assistant",
        channel="",
        message="<|message|>",
        noise=(),
        closes=("<|eom|>",),
        channels={
            "self": ("reasoning", ""),
            "commentary": ("content", "commentary"),
            "developer": ("content", "commentary"),
            "user": ("content", "final"),
        },
    ),
    begins="<|start|>assistant",
    ends=("<|eot|>",),
    special=("<|start|>", "<|message|>", "<|eom|>", "<|eot|>"),
    turn="<|start|>{role}<|message|>{text}<|eot|>",
    results='<|start|>tool {name}<|message|><tool_output name="{name}">\n{text}\n</tool_output><|eot|>',
    results_role="",
    signs=("<atem:function_calls>",),
    aliases=("muse", "muse_glimmer", "muse_spark", "musespark1x"),
    models="Muse Spark, Muse Glimmer",
)
