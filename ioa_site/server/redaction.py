"""What no log may hold: tokens, links that sign in, passwords in addresses, keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings

HIDDEN = "[hidden]"
# How names of secrets end, whatever comes before: `IOA_SECRET_KEY`, `csrftoken`.
NAMES = (
    r"(?:secrets?_?key|secret|passw(?:or)?d|passphrase|token|api[_-]?key|private[_-]?key"
    r"|sessionid|signature|credentials?)"
)
NAME = re.compile(rf"(?:{NAMES}|\Aauthorization|\Acookie)\Z", re.IGNORECASE)
# A value in quotes, which may be escaped, or cut off before they close; or a word.
QUOTED = r"""b?\\*"[^"]*"?|b?\\*'[^']*'?"""
VALUE = r"""[^\s"',;&)}\]]+"""
# Each begins with something rare and goes over a text once, however long and odd that is.
PATTERNS = (
    (re.compile(r"\bioa_(agent|controller)_\w+"), rf"ioa_\1_{HIDDEN}"),
    (re.compile(r"\bwhsec_[A-Za-z0-9+/=_-]+"), f"whsec_{HIDDEN}"),
    (re.compile(r"(/sign-in/\d+/)[^/\s\"'<>?#]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(://[^\s:/?#@]*):[^\s/?#]*@"), rf"\1:{HIDDEN}@"),
    # As a header, in a dictionary, or as a pair of an ASGI scope.
    (
        re.compile(
            rf"""(authorization[\\"']*\s*[:=,]\s*)(?:{QUOTED}|(?:\w+ +)?{VALUE})""", re.IGNORECASE
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"\b(bearer) +[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1 {HIDDEN}"),
    (
        re.compile(rf"""({NAMES}[\\"']*\s*[=:]\s*)(?:{QUOTED}|{VALUE})""", re.IGNORECASE),
        rf"\1{HIDDEN}",
    ),
)
# What is shorter would hide half of what people write.
SHORTEST = 8


def redact(text: str) -> str:
    """Return a text without what nobody may read."""
    for secret in own():
        text = text.replace(secret, HIDDEN)
    for pattern, instead in PATTERNS:
        text = pattern.sub(instead, text)
    return text


def own() -> Iterator[str]:
    """Yield the secrets of this installation itself, wherever they may stand."""
    database = settings.DATABASES["default"].get("PASSWORD", "")
    redis = unquote(urlsplit(settings.REDIS_URL or "").password or "")
    known: list[Any] = [settings.SECRET_KEY, *settings.SECRETS_KEYS, settings.METRICS_TOKEN]
    for secret in (*known, database, redis):
        if secret and len(secret) >= SHORTEST:
            yield secret


def is_secret(name: str) -> bool:
    """Tell by its name that a field holds a secret."""
    return NAME.search(name) is not None
