"""Keys: who may use the server, and how much.  They are kept hashed: the file tells nobody a key.

    [[key]]
    name = "alice"
    hash = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    models = ["qwen*", "smollm2"]   # patterns of the models it may use; all without this line
    streams = 4                     # requests that may run at once
    per_minute = 60                 # requests a minute

A key is random, so that one plain hash is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import secrets
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from starlette.types import Scope

from ..errors import Busy, RequestError, UsageError
from .http import header

__all__ = ["Key", "Keys", "digest", "fresh"]

_PREFIX = "dgm_"
_KINDS = {"name": str, "hash": str, "models": list, "streams": int, "per_minute": int}


@dataclass(slots=True, eq=False)
class Key:
    """One key: what it may do, and what it has been doing.

    `name`: how logs and fairness know it; "" for a server without keys.
    `models`: patterns of the models it may use.  `streams`, `per_minute`: its limits; 0 for none.
    `running`: its requests that run now.
    """

    name: str = ""
    hash: str = field(default="", repr=False)
    models: tuple[str, ...] = ("*",)
    streams: int = 0
    per_minute: int = 0
    running: int = 0
    _room: float = -1.0
    _seen: float = 0.0

    def may_use(self, model: str) -> bool:
        """Whether a model is allowed."""
        return any(fnmatchcase(model, pattern) for pattern in self.models)

    def check_model(self, model: str) -> None:
        """Refuse a model that is not allowed.

        Raises:
            RequestError: it is not (403).
        """
        if not self.may_use(model):
            problem = f"this API key may not use the model {model!r}"
            raise RequestError(problem, param="model", code="model_not_allowed", status=403)

    def take(self, now: float) -> None:
        """Count a request.

        Args:
            now: by a clock in seconds.

        Raises:
            Busy: it is one too many (429).
        """
        if self.streams and self.running >= self.streams:
            raise _limited(f"this API key has {self.running} requests running, which is its limit", 1.0)
        if not self.per_minute:
            return
        rate = self.per_minute / 60
        full = self._room < 0
        self._room = self.per_minute if full else min(self.per_minute, self._room + (now - self._seen) * rate)
        self._seen = now
        if self._room < 1:
            raise _limited(f"this API key may send {self.per_minute} requests a minute", (1 - self._room) / rate)
        self._room -= 1


class Keys:
    """All keys of a server; without any, everybody may use it.

    Args:
        keys: those that are kept hashed.
        plain: one more, as it was given on the command line or in the environment.
    """

    def __init__(self, keys: Iterable[Key] = (), plain: str = "") -> None:
        self._known = {key.hash: key for key in keys}
        if plain:
            self._known[digest(plain.encode())] = Key("default", digest(plain.encode()))
        self._anyone = None if self._known else Key()

    def __bool__(self) -> bool:
        return bool(self._known)

    @property
    def names(self) -> set[str]:
        """Whose keys there are."""
        return {key.name for key in self._known.values()}

    @classmethod
    def read(cls, path: str, plain: str = "") -> Keys:
        """Those of a file, "" for no file.

        Raises:
            UsageError: it cannot be read or understood; the message says which key is wrong.
        """
        if not path:
            return cls(plain=plain)
        try:
            data = tomllib.loads(Path(path).expanduser().read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"the keys in {path!r} cannot be read: {error}") from None
        found = data.get("key", [])
        if not isinstance(found, list) or set(data) - {"key"}:
            raise UsageError(f"{path}: a file of keys has [[key]] tables and nothing else")
        return cls([_key(facts, f"{path}: key {number}") for number, facts in enumerate(found, 1)], plain)

    def find(self, scope: Scope) -> Key:
        """The key that a request carries.

        Raises:
            RequestError: it is missing or wrong (401).
        """
        if self._anyone is not None:
            return self._anyone
        kind, _, given = header(scope, b"authorization").partition(" ")
        offered = [given.strip()] if kind.lower() == "bearer" else []
        offered += [value for value in (header(scope, b"x-api-key"),) if value]
        for value in offered:
            # Found by its hash, so the time that the search takes tells nothing of the key.
            if found := self._known.get(digest(value.encode("latin-1"))):
                return found
        how = "send it as `Authorization: Bearer KEY` or `x-api-key: KEY`"
        problem = "the API key is wrong" if offered else "this server wants an API key"
        raise RequestError(f"{problem}; {how}", code="invalid_api_key", status=401)


def fresh() -> str:
    """A new key."""
    return _PREFIX + secrets.token_urlsafe(32)


def digest(key: bytes) -> str:
    """What is kept of a key."""
    return "sha256:" + hashlib.sha256(key).hexdigest()


def _key(facts: Any, place: str) -> Key:
    if not isinstance(facts, Mapping):
        raise UsageError(f"{place} is no table")
    for name, value in facts.items():
        if name not in _KINDS:
            raise UsageError(f"{place}: unknown entry {name!r}; known are {', '.join(_KINDS)}")
        if not isinstance(value, _KINDS[name]) or isinstance(value, bool) or (isinstance(value, int) and value < 0):
            raise UsageError(f"{place}: {name} cannot be {value!r}")
    if not facts.get("name") or not str(facts.get("hash", "")).startswith("sha256:"):
        raise UsageError(f"{place} needs a name and a hash (`dragoman keys NAME` makes one)")
    known = {item.name for item in fields(Key)}
    values: dict[str, Any] = {
        name: tuple(value) if name == "models" else value for name, value in facts.items() if name in known
    }
    return Key(**values)


def _limited(problem: str, retry: float) -> Busy:
    return Busy(f"{problem}; try again later", retry=retry, code="rate_limit_exceeded", status=429)
