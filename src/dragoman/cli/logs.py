"""How log lines look: for people, or one JSON object a line for programs."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

__all__ = ["configure"]


def configure(level: str, form: str) -> None:
    """Log to standard error from this level on, as `text` or `json`."""
    lines = logging.StreamHandler()
    lines.setFormatter(
        _Json() if form == "json" else logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    )
    logging.basicConfig(level=level.upper(), handlers=[lines])


class _Json(logging.Formatter):
    """A JSON object: time, level, where, the message, and the facts of a turn if it is one."""

    def format(self, record: logging.LogRecord) -> str:
        """As in `logging.Formatter`."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            **getattr(record, "facts", {"message": record.getMessage()}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True)
