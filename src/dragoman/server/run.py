"""Run: the application on uvicorn, from its socket to its last word."""

from __future__ import annotations

import asyncio
import gc
import math
import signal
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from ..errors import EngineError, UsageError
from .config import Config
from .connection import Connection
from .service import Service

__all__ = ["Server", "check_certificate", "listen", "run"]

_KEPT_OPEN = 75  # seconds; longer than load balancers and clients keep idle connections, so that they close first
_MARGIN = 3  # seconds between our end of a stream and uvicorn's
_GARBAGE = (25_000, 20, 50)  # new objects before a look for garbage; events that the turn log keeps are none


def listen(config: Config) -> socket.socket:
    """Open the socket.

    Raises:
        UsageError: the address cannot be used, or the certificate for it.
    """
    check_certificate(config)
    try:
        family = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((config.host, config.port), family=family, backlog=2048)
    except OSError as error:
        where = f"{config.host}:{config.port}"
        why = (error.strerror or str(error)).partition(" (while")[0]  # Python says the address once more
        raise UsageError(f"cannot listen on {where}: {why}; choose another with --host and --port") from None


def check_certificate(config: Config) -> None:
    """See whether the files for HTTPS, if they are set, can be used.

    Raises:
        UsageError: they cannot.
    """
    if not config.tls_cert and not config.tls_key:
        return
    for name, path in (("--tls-cert", config.tls_cert), ("--tls-key", config.tls_key)):
        if path and not Path(path).is_file():
            raise UsageError(f"{name}: there is no file {path!r}")
    if not config.tls_cert:
        raise UsageError("--tls-key is the key of a certificate; name that too: --tls-cert")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(config.tls_cert, config.tls_key or None)
    except OSError as error:  # those of SSL are among them
        raise UsageError(f"the certificate {config.tls_cert} cannot be used with its key: {error}") from None


def run(app: Starlette, config: Config, listener: socket.socket, ready: Callable[[Service], None]) -> None:
    """Serve until a signal, then end what runs; `ready` is called once the model is loaded.

    Raises:
        EngineError: the model could not be loaded.
    """
    with listener:
        Server(app, config, ready).run(sockets=[listener])
    failure = app.state.service.roster.failure
    if failure is not None:
        raise EngineError(f"the model could not be loaded: {failure}")


class Server(uvicorn.Server):
    """Ends its streams before uvicorn would cut them, and takes a signal for a wish, not for a failure."""

    def __init__(self, app: Starlette, config: Config, ready: Callable[[Service], None]) -> None:
        settings = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            http=Connection,
            ws="none",
            ssl_certfile=config.tls_cert or None,
            ssl_keyfile=config.tls_key or None,
            timeout_keep_alive=_KEPT_OPEN,
            timeout_graceful_shutdown=math.ceil(config.shutdown) + _MARGIN,
        )
        super().__init__(settings)
        self._service: Service = app.state.service
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and load."""
        await super().startup(sockets)
        _settle()
        if self._service.loading is not None:
            self._service.loading.add_done_callback(self._loaded)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        self._service.drain()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, _: FrameType | None) -> None:
        """The first signal ends it properly, a second Ctrl-C at once."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    def _loaded(self, loading: asyncio.Task[None]) -> None:
        if self._service.roster.ready:
            self._ready(self._service)
        elif not loading.cancelled() and self._service.roster.failure is not None:
            self.should_exit = True


def _settle() -> None:
    """What was made up to now stays, so the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
