"""Functionary 3.2: a message begins with a mark of plain text and the name of its recipient."""

from ..syntax.codecs.header import Header
from ..syntax.codecs.json import JsonObject
from ..syntax.dialect import Dialect

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
