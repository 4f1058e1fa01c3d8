"""Short ways to people with roles, and to what the API says of proposals and holds."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from controllers.models import Hold, Proposal
from resources.tables.models import LedgerEvent
from tests.api.conftest import Answer, Api, assert_fits
from tests.conftest import Clock
from tests.decisions.making import person

WHY = "Because it is so."
THROTTLE = {"operation": "throttle", "parameters": {"factor": 0.5}}
FILING = {"resource": "agent/scribe", "actions": [THROTTLE], "why": "It spends too much."}


def as_person(clock: Clock, name: str, role: str, **given: str) -> Api:
    """Return the client of somebody who holds one role."""
    return as_user(person(clock, name, role, **given))


def as_user(user: User, **options: Any) -> Api:
    """Return the client of a person."""
    client = Client(**options)
    client.force_login(user)
    return Api(client)


def say(who: Api, row: Proposal, answer: str, tag: str = "", **body: Any) -> Answer:
    """Give an answer to what is there now, or to what a tag names."""
    body = {"reason": WHY} | body
    return who.post(f"proposals/{row.pk}/{answer}", body, if_match=f'"{tag or row.tag}"')


def good(answer: Answer, schema: str, status: int = 200) -> Any:
    """Return the body of an answer that is what the description says."""
    assert answer.status_code == status, answer.content
    assert_fits(answer.json(), schema)
    return answer.json()


def problem(answer: Answer, status: int, slug: str) -> Any:
    """Return a problem of a kind."""
    found = (answer.status_code, answer.json().get("type"))
    assert found == (status, f"/problems/{slug}"), answer.content
    assert_fits(answer.json(), "Problem")
    return answer.json()


def traces() -> tuple[Any, ...]:
    """Return everything that a write would change; that a token was refused is written anyway."""
    rows = Proposal.objects.order_by("pk").values_list("pk", "lock", "state", "revision")
    holds = Hold.objects.order_by("pk").values_list("pk", "epoch", "ends_at", "ended_at")
    told = LedgerEvent.objects.exclude(event__in=("token.refused", "person.refused"))
    return (*rows, *holds, told.count())
