"""Bearer tokens of agents and outside controllers: shown once, kept as an HMAC, revocable."""

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

from resources.documents.actor import Actor
from resources.documents.problems import forbidden, invalid, missing, refused
from resources.store import announcements
from resources.tables import ledger, visibility
from resources.tables.models import AgentToken, Resource
from resources.tables.visibility import Scope

# Whom tokens are made for, as their texts name them.
BEARERS = {"agent": "Agent", "controller": "Controller"}
ALPHABET = string.ascii_letters + string.digits
KEY_LENGTH = 8
SECRET_LENGTH = 43
FORM = re.compile(
    rf"ioa_(?P<bearer>{'|'.join(BEARERS)})_(?P<key>[A-Za-z0-9]{{{KEY_LENGTH}}})"
    rf"_(?P<secret>[A-Za-z0-9]{{{SECRET_LENGTH}}})_[0-9a-f]{{8}}"
)
# Who looks after the tokens of a domain.
KEEPERS = ("administrator",)
WORKS = "works"
DEFAULT_LIFETIME = timedelta(days=30)
LONGEST_LIFETIME = timedelta(days=90)
USE_NOTED_EVERY = timedelta(minutes=1)
SCOPES = {
    "resources:read": "Read the resources of its own domain and of the whole organisation.",
    "status:write": "Report its own status.",
    "proposals:write": "Propose changes in its own domain; it never decides.",
    "actions:write": "Claim the work that is offered to it, and report on it.",
    "telemetry:write": "Tell events of its own; nobody tells another's.",
    "runs:write": "Start runs of workflows it sees, and report the steps that are its own.",
    "admission:ask": "Ask whether it may do something, and redeem the permits it gets.",
    "usage:write": "Report what it has spent.",
    "events:read": "Read the ledger's entries about what it may read.",
}
CONTROLLER_SCOPES = {
    "resources:read": "Read what it looks after, and what belongs to the whole organisation.",
    "cycles:write": "Run the controller it is made for: cycles, findings, heartbeats.",
    "actions:write": SCOPES["actions:write"],
}


@dataclass(frozen=True)
class Issued:
    """A new token and its text, which nobody can show again."""

    token: AgentToken
    text: str


def issue(
    agent: str,
    *,
    scopes: Sequence[str],
    lifetime: timedelta,
    actor: Actor,
    now: datetime,
    scope: Scope | None = None,
) -> Issued:
    """Make a token for a live agent, or for what is named as `controller/NAME`.

    A person makes one only where they look after tokens: their `scope` says where.
    """
    bearer, name = named(agent)
    known = CONTROLLER_SCOPES if bearer == "controller" else SCOPES
    unknown = [scope for scope in scopes if scope not in known]
    if unknown or not scopes:
        raise invalid(f"Choose scopes from: {', '.join(known)}.")
    if not timedelta(0) < lifetime <= LONGEST_LIFETIME:
        raise invalid(f"A token lasts at most {LONGEST_LIFETIME.days} days.")
    bound = bound_to(bearer, name, scope)
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
        announcements.announce()
    return Issued(token, spell(key_id, secret, bearer))


def named(reference: str) -> tuple[str, str]:
    """Read whom a token is for: `controller/NAME`, or the name of an agent."""
    bearer, mark, name = reference.partition("/")
    return (bearer, name) if mark and bearer in BEARERS else ("agent", reference)


def bound_to(bearer: str, name: str, scope: Scope | None = None) -> Resource:
    """Return whom a token is for; a controller that the loop runs itself needs none."""
    with visibility.within(scope):
        live = Resource.objects.filter(kind=BEARERS[bearer], name=name, deleted_at=None)
    bound = live.first()
    if bound is None:
        raise invalid(f"There is no {bearer}/{name}.")
    check_keeper(bound, scope)
    if bearer == "controller" and bound.spec.get("runner") != "external":
        raise refused(f"{bound} is not run outside: declare spec.runner external first.")
    return bound


def check_keeper(bearer: Resource, scope: Scope | None) -> None:
    """Raise unless somebody looks after the tokens of an agent or a controller."""
    if scope is not None and not scope.holds(KEEPERS, bearer.domain):
        raise forbidden(
            f"Only an administrator of {bearer.domain or 'the organisation'} does this."
        )


def revoke(key_id: str, *, actor: Actor, now: datetime, scope: Scope | None = None) -> AgentToken:
    """Make a token worthless at once; a second call changes nothing.

    A person revokes one only where they look after tokens: their `scope` says where.
    """
    with transaction.atomic():
        open_tokens = AgentToken.objects.filter(key_id=key_id, revoked_at=None)
        revoked = open_tokens.update(revoked_at=now)
        with visibility.within(scope):
            seen = AgentToken.objects.select_related("agent").filter(key_id=key_id)
        token = seen.first()
        if token is None:
            raise missing(f"No token has the id {key_id}.")
        check_keeper(token.agent, scope)
        if revoked:
            note(token, "token.revoked", actor=actor, now=now)
            announcements.announce()
    return token


def state_of(token: AgentToken, now: datetime) -> str:
    """Say whether a token works, and if not why."""
    if token.revoked_at is not None:
        return "revoked"
    if token.agent.deleted_at is not None:
        return f"{token.agent.kind.lower()} deleted"
    return "expired" if token.expires_at <= now else WORKS


def note(token: AgentToken, event: str, *, actor: Actor, now: datetime) -> None:
    """Write what happened to a token into its bearer's chain; never its secret."""
    expiry = ledger.instant(token.expires_at)
    payload = {"token": token.key_id, "scopes": token.scopes, "expiresAt": expiry}
    stream = f"resource/{token.agent.uid}"
    entry = ledger.Entry(stream=stream, event=event, subject=str(token.agent), payload=payload)
    ledger.append([entry], actor=actor, now=now)


def note_refused(
    token: AgentToken, tried: str, reason: str, *, actor: Actor, now: datetime
) -> None:
    """Write into its bearer's chain what a token tried to do and may not."""
    bearer = token.agent
    payload = {"token": token.key_id, "tried": tried, "reason": reason[:500]}
    entry = ledger.Entry(
        f"resource/{bearer.uid}", "token.refused", str(bearer), payload, severity="warning"
    )
    with transaction.atomic():
        ledger.append([entry], actor=actor, now=now)
        announcements.announce()


def authenticate(text: str, *, now: datetime) -> AgentToken | None:
    """Return the living token this text stands for; nothing for anything else."""
    parts = FORM.fullmatch(text)
    if parts is None or spell(parts["key"], parts["secret"], parts["bearer"]) != text:
        return None
    # A token is its bearer's, whoever is signed in where it is used.
    with visibility.everything():
        tokens = AgentToken.objects.select_related("agent")
    found = tokens.filter(
        key_id=parts["key"],
        revoked_at=None,
        expires_at__gt=now,
        agent__deleted_at=None,
        agent__kind=BEARERS[parts["bearer"]],
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


def spell(key_id: str, secret: str, bearer: str = "agent") -> str:
    """Write a token; its checksum lets scanners and typing errors be told apart."""
    body = f"ioa_{bearer}_{key_id}_{secret}"
    return f"{body}_{zlib.crc32(body.encode()):08x}"


def seal(secret: str) -> str:
    """Return what is kept of a secret."""
    pepper = hashlib.sha256(b"ioa agent tokens:" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(pepper, secret.encode(), hashlib.sha256).hexdigest()


def random_text(length: int) -> str:
    """Return unguessable letters and digits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
