"""Agents' bearer tokens: shown once, kept as an HMAC, scoped, expiring, revocable."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from resources import ledger
from resources.actor import Actor
from resources.models import AgentToken, Resource

PREFIX = "ioa_agent"
ALPHABET = string.ascii_letters + string.digits
KEY_LENGTH = 8
SECRET_LENGTH = 43
FORM = re.compile(
    rf"{PREFIX}_(?P<key>[A-Za-z0-9]{{{KEY_LENGTH}}})_(?P<secret>[A-Za-z0-9]{{{SECRET_LENGTH}}})"
    r"_[0-9a-f]{8}"
)
DEFAULT_LIFETIME = timedelta(days=30)
LONGEST_LIFETIME = timedelta(days=90)
USE_NOTED_EVERY = timedelta(minutes=1)
SCOPES = {
    "resources:read": "Read the resources of its own domain and of the whole organisation.",
    "status:write": "Report its own status.",
    "proposals:write": "Propose changes in its own domain; it never decides.",
    "events:read": "Read the ledger's entries about what it may read.",
}


class Refused(ValueError):
    """The token cannot be issued as asked."""


class NotFound(LookupError):
    """No token has this id."""


@dataclass(frozen=True)
class Issued:
    """A new token and its text, which nobody can show again."""

    token: AgentToken
    text: str


def issue(
    agent: str, *, scopes: Sequence[str], lifetime: timedelta, actor: Actor, now: datetime
) -> Issued:
    """Make a token for a live agent."""
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        raise Refused(f"Choose scopes from: {', '.join(SCOPES)}.")
    if not timedelta(0) < lifetime <= LONGEST_LIFETIME:
        raise Refused(f"A token lasts at most {LONGEST_LIFETIME.days} days.")
    bound = Resource.objects.filter(kind="Agent", name=agent, deleted_at=None).first()
    if bound is None:
        raise Refused(f"There is no agent/{agent}.")
    key_id, secret = random_text(KEY_LENGTH), random_text(SECRET_LENGTH)
    token = AgentToken(
        key_id=key_id,
        secret_hmac=seal(secret),
        agent=bound,
        scopes=sorted(set(scopes)),
        created_at=now,
        created_by=str(actor),
        expires_at=now + lifetime,
    )
    with transaction.atomic():
        token.save(force_insert=True)
        note(token, "token.issued", actor=actor, now=now)
    return Issued(token, spell(key_id, secret))


def revoke(key_id: str, *, actor: Actor, now: datetime) -> AgentToken:
    """Make a token worthless at once; a second call changes nothing."""
    with transaction.atomic():
        open_tokens = AgentToken.objects.filter(key_id=key_id, revoked_at=None)
        revoked = open_tokens.update(revoked_at=now)
        token = AgentToken.objects.select_related("agent").filter(key_id=key_id).first()
        if token is None:
            raise NotFound(f"No token has the id {key_id}.")
        if revoked:
            note(token, "token.revoked", actor=actor, now=now)
    return token


def note(token: AgentToken, event: str, *, actor: Actor, now: datetime) -> None:
    """Write what happened to a token into its agent's chain; never its secret."""
    expiry = ledger.instant(token.expires_at)
    payload = {"token": token.key_id, "scopes": token.scopes, "expiresAt": expiry}
    stream = f"resource/{token.agent.uid}"
    entry = ledger.Entry(stream=stream, event=event, subject=str(token.agent), payload=payload)
    ledger.append([entry], actor=actor, now=now)


def authenticate(text: str, *, now: datetime) -> AgentToken | None:
    """Return the living token this text stands for; nothing for anything else."""
    parts = FORM.fullmatch(text)
    if parts is None or spell(parts["key"], parts["secret"]) != text:
        return None
    found = AgentToken.objects.select_related("agent").filter(
        key_id=parts["key"], revoked_at=None, expires_at__gt=now, agent__deleted_at=None
    )
    token = found.first()
    if token is None or not hmac.compare_digest(token.secret_hmac, seal(parts["secret"])):
        return None
    note_use(token, now)
    return token


def note_use(token: AgentToken, now: datetime) -> None:
    """Remember when a token was last used, at most once a minute."""
    if token.last_used_at is None or token.last_used_at <= now - USE_NOTED_EVERY:
        long_ago = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
        AgentToken.objects.filter(long_ago, pk=token.pk).update(last_used_at=now)


def spell(key_id: str, secret: str) -> str:
    """Write a token; its checksum lets scanners and typing errors be told apart."""
    body = f"{PREFIX}_{key_id}_{secret}"
    return f"{body}_{zlib.crc32(body.encode()):08x}"


def seal(secret: str) -> str:
    """Return what is kept of a secret."""
    pepper = hashlib.sha256(b"ioa agent tokens:" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(pepper, secret.encode(), hashlib.sha256).hexdigest()


def random_text(length: int) -> str:
    """Return unguessable letters and digits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
