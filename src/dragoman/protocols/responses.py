"""OpenAI Responses: read a request, write events, write a request, read a stream; also as the Open Responses specification spells it."""

from .responses_answer import answer, rewrite
from .responses_ask import write_request
from .responses_items import item_list
from .responses_request import Settings, read_request
from .responses_shape import error
from .responses_stream import Writer
from .responses_upstream import Reader

__all__ = ["Reader", "Settings", "Writer", "answer", "error", "item_list", "read_request", "rewrite", "write_request"]
