"""OpenAI Responses: read a request, write events; also as the Open Responses specification spells it."""

from .responses_answer import answer, rewrite
from .responses_items import item_list
from .responses_request import Settings, read_request
from .responses_shape import error
from .responses_stream import Writer

__all__ = ["Settings", "Writer", "answer", "error", "item_list", "read_request", "rewrite"]
