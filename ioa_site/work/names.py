"""Kinds and times as people type them."""

from __future__ import annotations

import difflib
import re
from datetime import UTC, datetime

from ioa_site.commands import Stop
from ioa_site.server.terminal import shown
from resources.documents import kinds
from resources.documents.kind import Kind


def kind_called(text: str) -> Kind:
    """Return the kind behind any usual spelling: agent, agents, Agent, security-policy."""
    spellings = {word: kind for kind in kinds.ALL for word in spellings_of(kind)}
    found = spellings.get(folded(text))
    if found is not None:
        return found
    near = difflib.get_close_matches(folded(text), spellings, n=1)
    hint = f"Did you mean {spellings[near[0]].path}?" if near else ""
    known = f"Known: {', '.join(kind.path for kind in kinds.ALL)}."
    raise Stop(f"There is no kind {shown(text, 40)!r}. {hint or known}")


def spellings_of(kind: Kind) -> list[str]:
    """Return the folded words that stand for a kind."""
    words = (kind.name, kind.title, kind.plural, kind.folder, kind.path, f"{kind.path}s")
    return [folded(word) for word in words]


def folded(text: str) -> str:
    """Take case, hyphens and spaces out of a word."""
    return re.sub(r"[-_\s]", "", text.lower())


def time_called(text: str) -> datetime:
    """Read a date or a time; without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        example = "2026-02-25T10:00:00Z or 2026-02-25"
        raise Stop(f"{shown(text, 40)!r} is no time such as {example}.") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def ago(at: datetime, now: datetime) -> str:
    """Say how long ago something was: `12s`, `5m`, `3h`, `8d`."""
    seconds = max(0, int((now - at).total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
