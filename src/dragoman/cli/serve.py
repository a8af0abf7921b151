"""`dragoman serve`: a model, served to every client."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from functools import partial
from socket import socket
from typing import Annotated

from cyclopts import Parameter

from .. import api
from ..server.app import create_app
from ..server.config import Config
from ..server.engine import build
from ..server.keys import Keys
from ..server.run import check_certificate, listen, run
from ..server.service import Service
from ..version import __version__
from .logs import configure

__all__ = ["serve"]

_log = logging.getLogger(__name__)
_HELLO = {"messages": [{"role": "user", "content": "Hello!"}]}


def serve(
    model: str = "",
    /,
    *,
    check_config: bool = False,
    config: Annotated[Config | None, Parameter(name="*")] = None,
) -> int:
    """Serve a model to every client: its dialect in, their protocol out.

    Every setting can be given in the environment too (--port as DRAGOMAN_PORT, and so on), and in a file (--config).
    Ctrl-C ends it; running answers get a few seconds to end by themselves.

    Args:
        model: The same as --model.
        check_config: Only say whether the settings are good.
        config: The settings.
    """
    config = config or Config()
    if model:
        config = replace(config, model=model)
    if check_config:
        return _check(config)
    configure(config.log_level, config.log_format)
    _warn(config)
    app = create_app(config)
    listener = listen(config)
    run(app, config, listener, partial(_welcome, config, _url(config, listener)))
    return 0


def _check(config: Config) -> int:
    """Say what the settings come to."""
    file = config.file
    engines = build(config)
    for name in {config.dialect, *(upstream.dialect for upstream in file.upstreams)} - {""}:
        api.get(name)
    Keys.read(config.keys, config.api_key)
    check_certificate(config)
    print(f"The settings are good: {_count(len(engines), 'engine')}, {_count(len(file.aliases), 'alias')}.")
    for upstream in file.upstreams:
        models = ", ".join(upstream.models) or "all its models"
        print(f"  {upstream.url} ({upstream.way}): {models}")
    for alias, model in file.aliases.items():
        print(f"  {alias} is {model}")
    return 0


def _count(number: int, word: str) -> str:
    plural = word + ("es" if word.endswith("s") else "s")
    return f"{number} {word if number == 1 else plural}"


def _warn(config: Config) -> None:
    """What others could do who reach this server."""
    if config.local:
        return
    if not config.api_key and not config.keys:
        _log.warning(
            "ANYBODY who can reach %s can use this server: no API key is asked for. Set --api-key or --keys.",
            config.host,
        )
    elif not config.tls_cert:
        _log.warning("API keys and answers travel unencrypted on %s; set --tls-cert, or use a proxy", config.host)


def _url(config: Config, listener: socket) -> str:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(config.host, config.host)  # noqa: S104 (not bound here)
    scheme = "https" if config.tls_cert else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def _welcome(config: Config, url: str, service: Service) -> None:
    """What to type next."""
    for served in service.roster:
        context = f", {served.info.context} tokens of context" if served.info.context else ""
        dialect = f"dialect {served.dialect.name}" if served.dialect.name else "decoded by its engine"
        print(f"dragoman {__version__} serves {served.name} ({dialect}{context}) at {url}/v1")
    key = ' -H "Authorization: Bearer $DRAGOMAN_API_KEY"' if config.api_key or config.keys else ""
    print(
        f"Try it:\n  curl {url}/v1/chat/completions{key} -H 'Content-Type: application/json' -d '{json.dumps(_HELLO)}'"
    )
    print(f"What the model writes can be watched in a browser: {url}\nCtrl-C ends it.", flush=True)
