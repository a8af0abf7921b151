"""The older OpenAI Completions: read a request, write events, write a request, read a stream."""

from .chat_error import error
from .completions_answer import answer
from .completions_ask import write_request
from .completions_request import Settings, read_request
from .completions_stream import Writer
from .completions_upstream import Reader

__all__ = ["Reader", "Settings", "Writer", "answer", "error", "read_request", "write_request"]
