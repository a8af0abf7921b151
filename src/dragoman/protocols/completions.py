"""The older OpenAI Completions: read a request, write events."""

from .chat_error import error
from .completions_answer import answer
from .completions_request import Settings, read_request
from .completions_stream import Writer

__all__ = ["Settings", "Writer", "answer", "error", "read_request"]
