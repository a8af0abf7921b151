"""The input of a Responses request with what it refers to: the response that it follows, and items by their id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ..errors import RequestError
from ..messages import Request
from ..protocols import responses
from ..protocols.responses import Settings, item_list
from ..state.store import Record
from .shelf import Shelf

__all__ = ["Input"]


@dataclass(slots=True)
class Input:
    """A request's JSON, the items that came with it, and those before them."""

    data: Mapping[str, Any]
    own: Any
    before: Sequence[Any] = ()

    @classmethod
    async def read(cls, shelf: Shelf, data: Mapping[str, Any], key: str = "") -> Self:
        """Look up what a request of a key refers to.

        Raises:
            RequestError: it is not here (404).
        """
        own, previous = data.get("input"), data.get("previous_response_id")
        before = await _before(shelf, previous, key) if isinstance(previous, str) and previous else ()
        if isinstance(own, list):
            own = [await _resolved(shelf, key, item, index) for index, item in enumerate(own)]
        return cls(data, own, before)

    def request(self, defaults: Settings) -> tuple[Request, Settings]:
        """The request that the protocol reads.

        Raises:
            RequestError: it cannot be read.
        """
        own = self.own
        if self.before and isinstance(own, str | list):
            own = [*self.before, *item_list(own)]
        try:
            return responses.read_request({**self.data, "input": own}, defaults)
        except RequestError as error:
            error.param = _shifted(error.param, len(self.before))
            raise


async def _before(shelf: Shelf, response_id: str, key: str) -> list[Any]:
    """All that was said before: for each response its input, then its output."""
    records = await shelf.chain(response_id, key)
    return [item for record in records for item in (*record.input, *record.response.get("output", ()))]


async def _resolved(shelf: Shelf, key: str, item: Any, index: int) -> Any:
    """An item that is named by its id, as it was."""
    if not isinstance(item, Mapping) or item.get("type") != "item_reference":
        return item
    item_id = str(item.get("id"))
    # The id of an item begins with that of its response.
    record = await _record(shelf, "resp_" + item_id.rpartition("_")[2][:-4], key)
    items = (*record.input, *record.response.get("output", ())) if record else ()
    found = next((known for known in items if known.get("id") == item_id), None)
    if found is None:
        problem = f"there is no item {item_id!r:.80} here: its response was not stored, was deleted, or has expired"
        raise RequestError(problem, param=f"input[{index}].id", code="item_not_found", status=404)
    return found


async def _record(shelf: Shelf, response_id: str, key: str) -> Record | None:
    try:
        return await shelf.find(response_id, key)
    except RequestError:
        return None


def _shifted(param: str | None, by: int) -> str | None:
    """The path of a field as the client knows it, who did not send the items before."""
    if not by or param is None or not param.startswith("input["):
        return param
    index, _, rest = param.removeprefix("input[").partition("]")
    return f"input[{int(index) - by}]{rest}" if int(index) >= by else "previous_response_id"
