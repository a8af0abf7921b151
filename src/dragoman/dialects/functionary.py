"""Functionary: a message names its recipient, which is `all` for text and else a tool."""

from ..syntax.codecs.header import Header
from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect

FUNCTIONARY_V2 = Dialect(
    "functionary-v2",
    call="{name}\n<|content|>{args}",
    args=JsonObject(),
    content=("all\n<|content|>{text}",),
    frame=Header(
        start="<|from|>",
        role="assistant",
        channel="<|recipient|>",
        message="<|content|>",
        noise=(),
        closes=(),
        channels={"all": ("content", "")},
        addressed=False,
        named=True,
        lines=True,
        code=("python",),
    ),
    begins="<|from|>assistant\n<|recipient|>",
    again="\n<|from|>assistant\n<|recipient|>",
    ends=("<|stop|>",),
    special=("<|from|>", "<|recipient|>", "<|content|>", "<|stop|>"),
    turn="<|from|>{role}\n<|recipient|>all\n<|content|>{text}\n",
    results="<|from|>{name}\n<|recipient|>all\n<|content|>{text}\n",
    results_role="",
    signs=("<|from|>", "<|recipient|>"),
    aliases=("functionary-v2.4", "functionary-v2.5"),
    models="Functionary 2",
)

FUNCTIONARY_V3_2 = Dialect(
    "functionary-v3-2",
    call="{name}\n{args}",
    args=JsonObject(),
    content=("all\n{text}",),
    frame=Header(
        start=">>>",
        role="",
        channel=">>>",
        message="",
        noise=(),
        closes=(),
        channels={"all": ("content", "")},
        addressed=False,
        named=True,
        lines=True,
        plain=True,
        code=("python",),
    ),
    begins="<|start_header_id|>assistant<|end_header_id|>\n\n>>>",
    again="\n>>>",
    ends=("<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"),
    turn="<|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>",
    results="<|start_header_id|>tool<|end_header_id|>\n\n{text}<|eot_id|>",
    results_role="",
    signs=(">>>all",),
    aliases=("functionary-v3.2", "functionary_v3_llama_3"),
    models="Functionary 3.2",
)
