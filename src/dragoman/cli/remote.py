"""Asks a running server, for the commands that look into it."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPException
from typing import Any

from ..errors import UsageError

__all__ = ["chunks", "fetch", "post"]

_PATIENCE = 120.0  # seconds between two pieces
_MOST = 64 * 1024  # bytes of a refusal


def fetch(url: str, key: str = "") -> str:
    """The text behind a URL.

    Raises:
        UsageError: there is nobody, or it refuses.
    """
    with _open(url, key, None) as answer:
        return str(answer.read().decode("utf-8", "surrogateescape"))


def post(url: str, body: str, key: str = "") -> Iterator[str]:
    """The lines of the answer to a JSON request, as they come.

    Raises:
        UsageError: there is nobody, or it refuses.
    """
    with _open(url, key, body.encode()) as answer:
        for line in answer:
            yield line.decode("utf-8", "surrogateescape")


def chunks(url: str, body: str, key: str = "") -> Iterator[bytes]:
    """The bytes of the answer to a JSON request, as they come; one that breaks off just ends.

    Raises:
        UsageError: there is nobody, or it refuses.
    """
    with _open(url, key, body.encode()) as answer, suppress(OSError, HTTPException):
        while data := answer.read1(65536):
            yield data


def _open(url: str, key: str, body: bytes | None) -> Any:
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{url!r} is no URL: it begins with http:// or https://")
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
    try:
        asked = urllib.request.Request(url, body, headers)  # noqa: S310 (checked above)
        return urllib.request.urlopen(asked, timeout=_PATIENCE)  # noqa: S310 (checked above)
    except urllib.error.HTTPError as error:
        raise UsageError(f"{url} answers {error.code} {error.reason}: {_said(error)}") from None
    except (ValueError, HTTPException) as error:
        raise UsageError(f"{url!r:.200} cannot be asked: {error}") from None
    except OSError as error:
        why = getattr(error, "reason", error)
        if isinstance(why, ssl.SSLError):
            told = f"no secure connection to {url}: {why}; SSL_CERT_FILE names a file of certificates to trust"
            raise UsageError(told) from None
        raise UsageError(f"nobody answers at {url}: {why}; is the server running?") from None


def _said(error: urllib.error.HTTPError) -> str:
    """The message of a refusal, without the JSON around it, and what to do where that is known."""
    if error.code == HTTPStatus.UNAUTHORIZED:
        return "it wants another API key; give it with --api-key, or in DRAGOMAN_API_KEY"
    text: str = error.read(_MOST).decode("utf-8", "replace").strip()
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(text)["error"]["message"])
    return text[:500]
