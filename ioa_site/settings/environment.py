"""Environment variables, read once at start; a bad value stops the start with a sentence."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured

from ioa_site.settings import variables

KNOWN = {each.name for each in variables.ALL if each.name.startswith("IOA_")}

# What a header can carry as a bearer's token.
TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
SHORTEST_TOKEN = 16


def refuse_unknown() -> None:
    """Stop when a variable is misspelt: silence would hide it."""
    for name in sorted(os.environ):
        if name.startswith("IOA_") and name not in KNOWN:
            raise ImproperlyConfigured(
                f"{name} is not a variable IOA Control knows. Known: {', '.join(sorted(KNOWN))}."
            )


def env_bool(name: str) -> bool:
    """Read a switch; absent is off."""
    value = os.environ.get(name, "").strip().lower()
    if value in {"", "0", "false", "no", "off"}:
        return False
    if value in {"1", "true", "yes", "on"}:
        return True
    raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}.")


def env_list(name: str, default: list[str]) -> list[str]:
    """Read a list separated by commas."""
    text = os.environ.get(name, "")
    return [item.strip() for item in text.split(",") if item.strip()] or default


def env_number(name: str, default: int) -> int:
    """Read a whole number above nothing."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and int(text[:9]) > 0 and len(text) < 9):
        raise ImproperlyConfigured(f"{name} must be a whole number above 0, not {text[:40]!r}.")
    return int(text)


def env_uuid(name: str) -> UUID | None:
    """Read an id; absent is none."""
    text = os.environ.get(name, "").strip()
    try:
        return UUID(text) if text else None
    except ValueError:
        example = "0b8f9f5e-6a5e-4d0c-9f6f-3c1f4f5f6a7b"
        raise ImproperlyConfigured(f"{name} must be a UUID such as {example}.") from None


def env_choice(name: str, choices: tuple[str, ...]) -> str:
    """Read one of some words; absent is the first."""
    value = os.environ.get(name, "").strip().lower() or choices[0]
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be {' or '.join(choices)}, not {value[:40]!r}.")
    return value


def env_token(name: str) -> str:
    """Read what callers have to send; absent is none."""
    value = os.environ.get(name, "").strip()
    if value and not (TOKEN.fullmatch(value) and len(value) >= SHORTEST_TOKEN):
        raise ImproperlyConfigured(
            f"{name} must have at least {SHORTEST_TOKEN} characters, all of them letters, digits"
            " or -._~+/=."
        )
    return value


def env_url(name: str, schemes: set[str]) -> str | None:
    """Read an address with one of the given schemes."""
    value = os.environ.get(name, "").strip()
    if not value:
        return None
    if urlsplit(value).scheme not in schemes:
        raise ImproperlyConfigured(f"{name} must begin with {' or '.join(sorted(schemes))}://.")
    return value


def env_secret(name: str, file: Path) -> str:
    """Read a secret; when absent, make one and keep it in `file` for the next start."""
    value = os.environ.get(name, "")
    if value:
        if len(value) < 32:
            raise ImproperlyConfigured(f"{name} must have at least 32 characters.")
        return value
    try:
        keep_secret(file)
    except OSError as error:
        raise ImproperlyConfigured(f"Cannot keep a secret key: {error}. Set {name}.") from None
    return file.read_text(encoding="ascii")


def env_secrets(name: str, file: Path) -> list[str]:
    """Read secrets separated by commas, the one in use first; when absent, as `env_secret`."""
    given = env_list(name, [])
    if any(len(each) < 32 for each in given):
        raise ImproperlyConfigured(f"Each key of {name} must have at least 32 characters.")
    return given or [env_secret(name, file)]


def keep_secret(file: Path) -> None:
    """Write a new secret only its owner can read; whoever comes first wins."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(secrets.token_urlsafe(48))
    with contextlib.suppress(FileExistsError):
        # Linked, not written in place: nobody ever reads half a key.
        os.link(draft, file)
    os.unlink(draft)


def env_database(name: str, default: Path) -> dict[str, Any]:
    """Read `postgres://…` or `sqlite:///…` into Django's form; absent is SQLite at `default`."""
    address = env_url(name, {"postgres", "postgresql", "sqlite"})
    if address is None:
        return sqlite(default)
    parts = urlsplit(address)
    if parts.scheme == "sqlite":
        if parts.netloc or not parts.path.strip("/"):
            raise ImproperlyConfigured(f"{name} must look like sqlite:///folder/file.sqlite3.")
        return sqlite(Path(unquote(parts.path.removeprefix("/"))))
    options = dict(parse_qsl(parts.query))
    try:
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured(f"{name} has a port that is not a number.") from None
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.removeprefix("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", None) or unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        # A session that the server ended is noticed before a request is given it.
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options
        | {
            # Without a pool every request under ASGI opens a session of its own.
            "pool": {"min_size": 0, "max_size": 20, "timeout": 10},
            "options": "-c lock_timeout=10000 -c statement_timeout=60000"
            " -c idle_in_transaction_session_timeout=60000",
        },
    }


def sqlite(file: Path) -> dict[str, Any]:
    """Describe an SQLite file that survives power loss and never deadlocks on upgrade."""
    file.parent.mkdir(parents=True, exist_ok=True)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
            # Room for what one chunk of a cycle reads and writes: it is gone through three times.
            "PRAGMA foreign_keys=ON; PRAGMA cache_size=-16000;",
        },
    }
