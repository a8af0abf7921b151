"""Anthropic Messages: read a request, write events, write a whole answer, write errors."""

from .messages_api_answer import answer
from .messages_api_error import error
from .messages_api_request import Settings, read_request
from .messages_api_signature import recall, sign, verify
from .messages_api_stream import Writer

__all__ = ["Settings", "Writer", "answer", "error", "read_request", "recall", "sign", "verify"]
