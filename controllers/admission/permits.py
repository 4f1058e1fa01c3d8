"""Permits: signed, short, for one agent, one content and one epoch of the holds."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.core import signing

from controllers.models import Admission

# How long a permit waits to be used; one that a person approved waits for its agent to come back.
LASTS = timedelta(seconds=60)
APPROVED_LASTS = timedelta(minutes=15)
# After this a call that was never reported is one nobody knows the end of.
SETTLED_WITHIN = timedelta(hours=1)
LONGEST = 1_000
SIGNER = signing.Signer(salt="controllers.admission.permits")


class Permit(NamedTuple):
    """What a permit says."""

    admission: str
    agent: str
    digest: str
    epoch: int
    issued: int
    expires: str


def text_of(admission: Admission) -> str:
    """Write the permit of an admission; the same one as long as it stands."""
    return SIGNER.sign_object(list(permit_of(admission)))


def permit_of(admission: Admission) -> Permit:
    """Return what the permit of an admission says."""
    ends = admission.expires_at or admission.changed_at
    return Permit(
        str(admission.uid),
        str(admission.agent.uid),
        admission.digest,
        admission.epoch,
        admission.issued,
        ends.isoformat(),
    )


def read(text: str) -> Permit | None:
    """Return what a permit says, if it is one of ours."""
    if len(text) > LONGEST:
        return None
    try:
        found = SIGNER.unsign_object(text)
        return Permit(*found)
    except (signing.BadSignature, TypeError, ValueError):
        return None


def stands(admission: Admission, epoch: int, now: datetime) -> bool:
    """Tell whether a permit can still be used."""
    running = admission.state == Admission.State.ALLOWED and admission.expires_at is not None
    return running and admission.expires_at > now and admission.epoch == epoch  # type: ignore[operator]
