"""GigaChat 3: a message mark, the role of who speaks, and a mark behind it; a call is a role of its own."""

from ..syntax.codecs.header import Header
from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

GIGACHAT3 = Dialect(
    "gigachat3",
    call="<|message_sep|>\n\nfunction call<|role_sep|>\n{call}",
    args=JsonCall(),
    content=("{text}",),
    frame=Header(
        start="<|message_sep|>",
        role="assistant",
        channel="",
        message="<|role_sep|>",
        noise=(),
        closes=(),
        channels={
            "function call": ("call", ""),
            "<|function_call|>": ("call", ""),
            "assistant": ("content", ""),
        },
        addressed=False,
    ),
    begins="assistant<|role_sep|>\n",
    again="<|message_sep|>\n\nassistant<|role_sep|>\n",
    ends=("</s>",),
    special=("<|message_sep|>", "<|role_sep|>"),
    turn="{role}<|role_sep|>\n{text}<|message_sep|>\n\n",
    results="function result<|role_sep|>\n{text}<|message_sep|>\n\n",
    results_role="",
    signs=("<|message_sep|>", "<|role_sep|>"),
    models="GigaChat 3",
)
