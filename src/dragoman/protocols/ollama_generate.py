"""Ollama's /api/generate: read a request, write events."""

from .ollama_answer import answer_generate as answer
from .ollama_error import error
from .ollama_request import Settings
from .ollama_request import read_generate as read_request
from .ollama_stream import GenerateWriter as Writer

__all__ = ["Settings", "Writer", "answer", "error", "read_request"]
