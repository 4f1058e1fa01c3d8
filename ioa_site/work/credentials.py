"""The tokens of agents and outside controllers from the command line."""

from __future__ import annotations

from datetime import datetime, timedelta

from ioa_site.commands import Stop
from ioa_site.server.terminal import shown
from ioa_site.work import caller
from ioa_site.work.names import ago
from resources.documents.durations import DURATION_HINT, parse_duration
from resources.tables.ledger import instant
from resources.tables.models import AgentToken
from resources.usecases import tokens
from resources.usecases.tokens import Issued

DEFAULT_SCOPES = ("resources:read", "status:write")
HEADS = ("ID", "OF", "SCOPES", "STATE", "EXPIRES", "LAST USED")


def create(agent: str, *, scopes: list[str], expires: str) -> Issued:
    """Issue a token."""
    outside = tokens.named(agent)[0] == "controller"
    usual = tuple(tokens.CONTROLLER_SCOPES) if outside else DEFAULT_SCOPES
    wanted = [scope for text in scopes for scope in text.split(",")] or usual
    lifetime = lifetime_called(expires)
    now = caller.now()
    return tokens.issue(agent, scopes=wanted, lifetime=lifetime, actor=caller.person(), now=now)


def lifetime_called(text: str) -> timedelta:
    """Read how long a token lasts."""
    lifetime = parse_duration(text)
    if lifetime is None:
        raise Stop(f"--expires {DURATION_HINT}, not {shown(text, 40)!r}.")
    return lifetime


def revoke(key_id: str) -> AgentToken:
    """Make a token worthless."""
    return tokens.revoke(key_id, actor=caller.person(), now=caller.now())


def listed(agent: str | None) -> list[tuple[str, ...]]:
    """Return a table of tokens, the newest first; secrets are not known here."""
    found = AgentToken.objects.select_related("agent").order_by("-created_at", "-pk")
    now = caller.now()
    if agent:
        bearer, name = tokens.named(agent)
        found = found.filter(agent__kind=tokens.BEARERS[bearer], agent__name=name)
    return [cells(each, now) for each in found]


def cells(token: AgentToken, now: datetime) -> tuple[str, ...]:
    """Return the cells of one token."""
    return (
        token.key_id,
        str(token.agent),
        ", ".join(token.scopes),
        tokens.state_of(token, now).replace(tokens.WORKS, "live"),
        instant(token.expires_at.replace(microsecond=0)),
        f"{ago(token.last_used_at, now)} ago" if token.last_used_at else "never",
    )
