"""Anthropic Messages: read a request, write events, write a request, read a stream."""

from .messages_api_answer import answer
from .messages_api_ask import write_request
from .messages_api_error import error
from .messages_api_request import Settings, read_request
from .messages_api_signature import recall, sign, verify
from .messages_api_stream import Writer
from .messages_api_upstream import Reader

__all__ = [
    "Reader",
    "Settings",
    "Writer",
    "answer",
    "error",
    "read_request",
    "recall",
    "sign",
    "verify",
    "write_request",
]
