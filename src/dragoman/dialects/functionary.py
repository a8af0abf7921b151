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
