"""The rulebook for what goes to clients: checks on the bytes of any server, ours or another."""

from .answer import check_chat_answer, compare
from .chat import check_chat_stream, check_error
from .completions import check_completions_answer, check_completions_stream, compare_completions
from .cures import CURES
from .messages_answer import check_messages_answer, compare_messages
from .messages_stream import check_messages_error, check_messages_stream
from .ollama import check_ollama_answer, check_ollama_error, check_ollama_stream, compare_ollama
from .response import check_response
from .responses import check_responses_stream, compare_responses
from .rules import RULES, Finding, Rule

__all__ = [
    "CURES",
    "RULES",
    "Finding",
    "Rule",
    "check_chat_answer",
    "check_chat_stream",
    "check_completions_answer",
    "check_completions_stream",
    "check_error",
    "check_messages_answer",
    "check_messages_error",
    "check_messages_stream",
    "check_ollama_answer",
    "check_ollama_error",
    "check_ollama_stream",
    "check_response",
    "check_responses_stream",
    "compare",
    "compare_completions",
    "compare_messages",
    "compare_ollama",
    "compare_responses",
]
