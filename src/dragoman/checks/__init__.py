"""The rulebook for what goes to clients: checks on the bytes of any server, ours or another."""

from .answer import check_chat_answer, compare
from .chat import check_chat_stream, check_error
from .rules import RULES, Finding, Rule

__all__ = ["RULES", "Finding", "Rule", "check_chat_answer", "check_chat_stream", "check_error", "compare"]
