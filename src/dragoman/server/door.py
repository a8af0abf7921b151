"""Door: which web pages may use the server.  Programs are asked for a key; a page in a browser is a stranger inside the house.

Any page that somebody looks at can send requests to this machine.  It is kept from reading the answers as long as no CORS
header lets it; that is why there are none by default.  Two ways around that are closed here:

- a page sends a request that does something and does not care for the answer: its browser tells the page's origin;
- a page's own name suddenly means this machine (DNS rebinding): then the request asks for a name that is not ours.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import RequestError
from ..protocols import chat, messages_api, ollama
from .config import Config
from .http import header, send_json
from .wire import Fails, refusal

__all__ = ["Door", "words"]

_HARMLESS = ("GET", "HEAD", "OPTIONS")
_PRIVATE = (".localhost", ".local", ".internal", ".home.arpa")  # nobody can own one of these in public


class Door:
    """Refuses strangers, and passes on everybody else.

    Args:
        app: what stands behind it.
        config: `cors_origins` and `hosts`.
    """

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self.app = app
        self._origins = config.cors_origins.split()
        self._hosts = config.hosts.lower().split()
        self._guarded = config.local and not (config.api_key or config.keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on, or refuse it."""
        if scope["type"] == "http" and (problem := self._problem(scope)):
            status, body = refusal(words(scope), RequestError(problem, code="forbidden", status=403))
            await send_json(send, status, body)
        else:
            await self.app(scope, receive, send)

    def _problem(self, scope: Scope) -> str:
        host = header(scope, b"host").lower()
        if not self._is_ours(_name(host)):
            return f"this server is not asked for as {host[:100]!r}; --hosts allows names"
        origin = header(scope, b"origin").lower()
        if origin and scope["method"] not in _HARMLESS and not self._may_post(origin, host):
            return f"pages of {origin[:100]!r} may not use this server; --cors-origins allows them"
        return ""

    def _is_ours(self, name: str) -> bool:
        if self._hosts:
            return name in self._hosts
        return not self._guarded or _is_private(name)

    def _may_post(self, origin: str, host: str) -> bool:
        if "*" in self._origins or origin in map(str.lower, self._origins):
            return True
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https", ""):
            return True  # a program that shows pages of its own (app://, tauri://)
        return bool(parts.netloc) and parts.netloc == host


def words(scope: Scope) -> Fails:
    """The protocol of a client that is told something before its endpoint is known."""
    if scope["path"].startswith("/api/"):
        return ollama
    return messages_api if header(scope, b"anthropic-version") else chat


def _name(host: str) -> str:
    """The name in a `Host` header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _is_private(name: str, suffixes: Collection[str] = _PRIVATE) -> bool:
    """Whether no public name can be meant: a single word, an address, or a name that is kept for private use."""
    name = name.rstrip(".")
    if "." not in name or name.endswith(tuple(suffixes)):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
