"""OpenAI Chat Completions: read a request, write events, write a request, read a stream."""

from .chat_answer import answer
from .chat_ask import write_request
from .chat_error import error, read_error
from .chat_request import Settings, read_request
from .chat_stream import Writer
from .chat_upstream import Reader, TokenLogprob

__all__ = [
    "Reader",
    "Settings",
    "TokenLogprob",
    "Writer",
    "answer",
    "error",
    "read_error",
    "read_request",
    "write_request",
]
