"""Ollama's /api/chat: read a request, write events."""

from .ollama_answer import answer_chat as answer
from .ollama_error import error
from .ollama_request import Settings
from .ollama_request import read_chat as read_request
from .ollama_stream import ChatWriter as Writer

__all__ = ["Settings", "Writer", "answer", "error", "read_request"]
