"""Ollama's /api/chat: read a request, write events, write a request, read a stream."""

from .ollama_answer import answer_chat as answer
from .ollama_ask import write_request
from .ollama_error import error
from .ollama_request import Settings
from .ollama_request import read_chat as read_request
from .ollama_stream import ChatWriter as Writer
from .ollama_upstream import Reader

__all__ = ["Reader", "Settings", "Writer", "answer", "error", "read_request", "write_request"]
