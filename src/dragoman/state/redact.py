"""Masks secrets in what is kept: as many asterisks as the secret had characters, so that offsets stay true."""

from __future__ import annotations

import re

__all__ = ["redact"]

_SECRETS = re.compile(
    r"""
    \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}                     # keys of model services
    | \b(?:ghp|gho|ghu|ghs|ghr|github_pat)_\w{16,}        # GitHub
    | \bhf_[A-Za-z0-9]{16,}                               # Hugging Face
    | \bxox[abposr]-[A-Za-z0-9-]{10,}                     # Slack
    | \bAKIA[0-9A-Z]{16}\b                                # AWS
    | \bAIza[0-9A-Za-z_-]{30,}                            # Google
    | \beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}             # a JSON web token
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?-----END\ [A-Z ]*PRIVATE\ KEY-----
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMED = re.compile(
    r"""((?:api[_-]?key|authorization|password|passwd|secret|access[_-]?token|auth[_-]?token)\\?["']?\s*[:=]\s*\\?["']?(?:bearer\s+)?)([^\s"'\\,}]{6,})""",
    re.IGNORECASE,
)
_HINTS = re.compile(
    r"(?i)sk-|pk-|rk-|gh[pousr]_|github_pat|hf_|xox|AKIA|AIza|eyJ|PRIVATE KEY|key|authorization|passw|secret|token"
)


def redact(text: str) -> str:
    """The text with its secrets masked."""
    if not _HINTS.search(text):
        return text
    text = _SECRETS.sub(lambda match: "*" * len(match[0]), text)
    return _NAMED.sub(lambda match: match[1] + "*" * len(match[2]), text)
