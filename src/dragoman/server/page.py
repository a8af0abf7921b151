"""The page: at / for browsers, its files below /dragoman/web.  Everything else that asks for / gets JSON as ever."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from .. import web
from ..errors import DragomanError, RequestError
from ..protocols import chat
from .endpoints import allow, refuse
from .http import header, start

__all__ = ["Front", "routes"]

# Nothing but our own files, no inline script, no frame around it, no form that goes elsewhere.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


def routes() -> list[Route]:
    """The files of the page."""
    return [Route("/dragoman/web/{name}", _file)]


class Front:
    """What stands at /: the page for a browser, what there is for everybody else.

    Args:
        others: answers everybody else.
    """

    def __init__(self, others: Any) -> None:
        self.others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        if scope["method"] in ("GET", "HEAD") and "text/html" in header(scope, b"accept"):
            await _send(scope, send, "index.html")
        else:
            await self.others(scope, receive, send)


class _Files:
    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        try:
            allow(scope, "GET", "HEAD")
            await _send(scope, send, scope["path_params"]["name"])
        except DragomanError as error:
            await refuse(scope, send, chat, error)


_file = _Files()


async def _send(scope: Scope, send: Send, name: str) -> None:
    body = web.read(name)
    if body is None:
        raise RequestError(f"the page has no file {name!r:.80}", code="unknown_url", status=404)
    tag = f'"{sha256(body).hexdigest()[:20]}"'
    facts = {"content-type": web.KINDS[name[name.rindex(".") :]], "etag": tag, "vary": "accept", **_HEADERS}
    if header(scope, b"if-none-match") == tag:
        await send(start(304, facts))
        body = b""
    else:
        await send(start(200, {**facts, "content-length": str(len(body))}))
    await send({"type": "http.response.body", "body": body})
