"""How fresh a sign-in is, and what asks for a fresh one: letting something of high risk happen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User

from controllers.access import roles
from controllers.engine import proposal_lifecycle
from controllers.models import Proposal

FRESH = timedelta(minutes=10)
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
Records = Iterable[Mapping[str, Any]]


def asks_again(proposal: Proposal, verdict: str) -> bool:
    """Tell whether an answer asks for a fresh sign-in: high risk, two people, or alone.

    To stop something nobody has to prove anything twice.
    """
    if verdict == "break-glass":
        return True
    if not proposal_lifecycle.starts(verdict.replace("-", "_")):
        return False
    grave = proposal.risk == "high" or not proposal.reversible
    return grave or roles.quorum_of(proposal).people > 1


def is_stale(person: User, records: Records, now: datetime) -> bool:
    """Tell whether somebody has to sign in again; who has no way to is not asked."""
    last = max((float(each.get("at", 0)) for each in records), default=0.0)
    if now.timestamp() - last < FRESH.total_seconds():
        return False
    return can_prove(person)


def can_prove(person: User) -> bool:
    """Tell whether somebody can show again that it is them, without a new link."""
    if (person.password and person.has_usable_password()) or has_second_factor(person):
        return True
    return bool(SocialAccount.objects.filter(user=person).exists())


def has_second_factor(person: User) -> bool:
    """Tell whether somebody has an authenticator app or a passkey."""
    return bool(Authenticator.objects.filter(user=person, type__in=FACTORS).exists())


def lacks_factor(person: User, records: Records, now: datetime) -> bool:
    """Tell whether somebody has to set up a second factor before anything else.

    Who comes from the identity provider brings its second factor along.
    """
    if not settings.REQUIRE_SECOND_FACTOR:
        return False
    if any(each.get("method") in ("mfa", "socialaccount") for each in records):
        return False
    needs = roles.holds_anywhere(person, ("approver", "administrator"), now)
    return needs and not has_second_factor(person)
