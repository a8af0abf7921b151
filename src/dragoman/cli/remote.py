"""Asks a running server, for the commands that look into it."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from typing import Any

from ..errors import UsageError

__all__ = ["chunks", "fetch", "post"]

_PATIENCE = 120.0  # seconds between two pieces


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
        said = error.read(500).decode("utf-8", "replace").strip()
        raise UsageError(f"{url} answers {error.code} {error.reason}: {said}") from None
    except (ValueError, HTTPException) as error:
        raise UsageError(f"{url!r:.200} cannot be asked: {error}") from None
    except OSError as error:
        raise UsageError(
            f"nobody answers at {url}: {getattr(error, 'reason', error)}; is the server running?"
        ) from None
