"""HyperCLOVA X SEED Think: the role of a message says what it is."""

from ..syntax.codecs.header import Header
from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

HYPERCLOVAX = Dialect(
    "hyperclovax-think",
    call=" -> tool/function_call\n{call}<|im_end|>",
    args=JsonCall(listed=True),
    reasoning="/think\n{text}<|im_end|>",
    content=("\n{text}<|im_end|>",),
    frame=Header(
        start="<|im_start|>",
        role="assistant",
        channel="",
        message="",
        noise=(),
        closes=("<|im_end|>",),
        channels={"/think": ("reasoning", ""), "-> tool/function_call": ("call", ""), "": ("content", "")},
        addressed=False,
        lines=True,
    ),
    begins="<|im_start|>assistant",
    again="\n<|im_start|>assistant",
    ends=("<|endofturn|>", "<|stop|>"),
    special=("<|im_start|>", "<|im_end|>", "<|endofturn|>", "<|stop|>"),
    results="<|im_start|>tool/function_call\n{text}<|im_end|>\n",
    results_role="",
    signs=("tool/function_call",),
    aliases=("hyperclovax", "hyperclova-x"),
    models="HyperCLOVA X SEED Think",
)
