"""Lines of the log: as text for people, or as JSON for machines; never with a secret in them."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ioa_site.server.redaction import HIDDEN, is_secret, redact
from resources.observability import correlation

# What every record has; anything else was said in addition.
USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}
# Objects of the server, of which the line says what matters.
OBJECTS = frozenset({"request", "server_time", "status_code"})
DEEPEST = 5


class Text(logging.Formatter):
    """A line as people read it."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record and what went wrong below it."""
        return redact(super().format(record))


class Json(logging.Formatter):
    """A line as machines read it."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one object on one line."""
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage()),
            **dict(about_story(record)),
        }
        for name, value in vars(record).items():
            if name not in USUAL and name not in OBJECTS and name not in line:
                line[name] = HIDDEN if is_secret(name) else plain(value)
        if record.exc_info:
            line["exception"] = redact(self.formatException(record.exc_info))
        if record.stack_info:
            line["stack"] = redact(self.formatStack(record.stack_info))
        return json.dumps(line)


def about_story(record: logging.LogRecord) -> Iterator[tuple[str, Any]]:
    """Say which story a line belongs to, and which request."""
    if story := correlation.current():
        yield "correlationId", story
    asked = correlation.asked.get()
    if asked is not None:
        yield "method", asked.method
        yield "path", redact(asked.path)
    status = getattr(record, "status_code", None) or (asked.status if asked else None)
    if isinstance(status, int):
        yield "status", status


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON knows it, without secrets and never deeper than anybody reads."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < DEEPEST and isinstance(value, Mapping):
        return {
            redact(str(name)): HIDDEN if is_secret(str(name)) else plain(each, depth + 1)
            for name, each in value.items()
        }
    if depth < DEEPEST and isinstance(value, list | tuple | set | frozenset):
        return [plain(each, depth + 1) for each in value]
    return redact(str(value))
