"""All tables of fields, by the name of their protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .vocabulary import Field
from .vocabulary_embeddings import EMBEDDINGS, OLLAMA_EMBED, OLLAMA_EMBEDDINGS
from .vocabulary_openai import CHAT, COMPLETIONS, RESPONSES
from .vocabulary_others import GENERATE, MESSAGES, OLLAMA, OLLAMA_OPTIONS

__all__ = ["VOCABULARY"]

VOCABULARY: Mapping[str, Sequence[Field]] = {
    "Chat Completions": CHAT,
    "Responses": RESPONSES,
    "Messages": MESSAGES,
    "Completions": COMPLETIONS,
    "Embeddings": EMBEDDINGS,
    "Ollama, /api/chat": OLLAMA,
    "Ollama, /api/generate": GENERATE,
    "Ollama, the options of both": OLLAMA_OPTIONS,
    "Ollama, /api/embed": OLLAMA_EMBED,
    "Ollama, /api/embeddings": OLLAMA_EMBEDDINGS,
}
