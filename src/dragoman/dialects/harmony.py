"""Harmony: every message has a header with its channel and, if it is a call, its recipient (gpt-oss)."""

import re

from ..syntax.codecs.header import Header
from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect

HARMONY = Dialect(
    "harmony",
    call="<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{args}<|call|>",
    args=JsonObject(),
    reasoning="<|channel|>analysis<|message|>{text}<|end|>",
    content=("<|channel|>final<|message|>{text}<|end|>", "<|channel|>commentary<|message|>{text}<|end|>"),
    frame=Header(
        start="<|start|>",
        role="assistant",
        channel="<|channel|>",
        message="<|message|>",
        noise=("<|constrain|>",),
        closes=("<|end|>", "<|call|>"),
        channels={
            "analysis": ("reasoning", ""),
            "commentary": ("content", "commentary"),
            "final": ("content", "final"),
        },
        prefix="functions.",
        builtins=re.compile(r"python|browser(\.\w+)?|container(\.\w+)?"),
    ),
    begins="<|start|>assistant",
    ends=("<|return|>", "<|endoftext|>"),
    special=("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>"),
    turn="<|start|>{role}<|message|>{text}<|end|>",
    results="<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>{text}<|end|>",
    declare=(
        "# Tools\n\n## functions\n\nThese functions are on offer, given as JSON, one a line:\n{tools}\n\n"
        "Calls to these tools must go to the commentary channel: 'functions'."
    ),
    signs=("<|channel|>", "<|message|>"),
    aliases=("gpt-oss", "gpt_oss", "openai", "openai_gptoss"),
    models="gpt-oss-20b, gpt-oss-120b, gpt-oss-safeguard",
)
