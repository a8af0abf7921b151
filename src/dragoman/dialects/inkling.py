"""Inkling: each kind of message has a mark of its own, which ends the header."""

from ..syntax.codecs.header import Header
from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

INKLING = Dialect(
    "inkling",
    call="<|content_invoke_tool_json|>{call}<|end_message|>",
    args=JsonCall(args=("args", "arguments", "parameters", "input")),
    reasoning="<|content_thinking|>{text}<|end_message|>",
    content=("<|content_text|>{text}<|end_message|>",),
    frame=Header(
        start="<|message_model|>",
        role="",
        channel="",
        message="",
        noise=(),
        closes=("<|end_message|>",),
        channels={
            "<|content_thinking|>": ("reasoning", ""),
            "<|content_invoke_tool_json|>": ("call", ""),
            "<|content_invoke_tool_text|>": ("call", "code"),
            "<|content_tool_error|>": ("drop", ""),
            "<|content_text|>": ("content", ""),
        },
        addressed=False,
    ),
    begins="<|message_model|>",
    ends=("<|content_model_end_sampling|>", "<|message_user|>", "<|message_tool|>"),
    special=("<|message_model|>", "<|end_message|>", "<|content_text|>", "<|content_invoke_tool_json|>"),
    turn="<|message_{role}|><|content_text|>{text}<|end_message|>",
    results="<|message_tool|>{name}<|content_text|>{text}<|end_message|>",
    results_role="",
    signs=("<|message_model|>", "<|content_invoke_tool_json|>"),
    models="Inkling",
)
