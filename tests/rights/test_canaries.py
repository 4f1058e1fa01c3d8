"""Canaries: every text of a domain carries its mark, and nobody of the other ever reads it.

Whoever sees the whole organisation goes the same way and reads both: the way leads past them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from controllers.access import roles
from controllers.models import Delivery
from controllers.web import urls
from controllers.web.live import broadcast
from controllers.web.live.broadcast import Press
from controllers.web.live.subscription import Seat
from resources.documents import kinds
from resources.tables import versions, visibility
from resources.tables.models import PAGE_MODELS, Resource
from tests.conftest import given
from tests.rights import world
from tests.rights.world import HERE, KEEPER, MARKS, ROLES, STAFF, THERE, Place
from tests.tiers import quick_first

pytestmark = [pytest.mark.django_db, pytest.mark.full]

QUERIES = ("agent", "reason", "story", "placer", "flow", "why")
LISTS = (
    *("proposals", "proposals/causes", "holds", "alerts", "usage", "economics", "events"),
    *("actions", "telemetry", "admission", f"controllers/{KEEPER}/cycles"),
    *(f"controllers/{KEEPER}/cycles/1", f"controllers/{KEEPER}/record"),
    *(f"resources/{kind.path}" for kind in kinds.ALL),
)


def pages() -> Iterator[str]:
    """Yield the addresses of pages that are about nothing in particular, and of files."""
    for pattern in urls.urlpatterns:
        if not pattern.pattern.converters:
            yield reverse(str(pattern.name))
    for text in QUERIES:
        yield f"{reverse('search')}?q={text}"
    yield f"{reverse('audit')}?show=people"
    yield f"{reverse('audit-csv')}?format=json"
    yield f"{reverse('resources')}?kind=agent"
    yield f"{reverse('approvals')}?state=all"
    yield reverse("controller", args=[KEEPER])
    for action in ("run", "mode", "breaker"):
        yield reverse(f"controller-{action}", args=[KEEPER])
    yield reverse("cycle", args=[KEEPER, 1])


def things(place: Place) -> Iterator[str]:
    """Yield the addresses of what lies in a domain: pages, endpoints, and the admin's."""
    for name in ("proposal", "decide"):
        yield reverse(name, args=[place.proposal.pk])
    for name in ("hold", "hold-lift", "hold-renew"):
        yield reverse(name, args=[place.hold.pk])
    yield reverse("trace", args=[place.story])
    yield reverse("token-revoke", args=[place.token])
    yield reverse("machine-rotate", args=[place.machine])
    yield f"/api/v1/proposals/{place.proposal.pk}"
    yield f"/api/v1/holds/{place.hold.pk}"
    yield f"/api/v1/workflows/{place.mark}-flow/runs"
    yield f"/api/v1/workflows/{place.mark}-flow/runs/{place.run.pk}"
    for row in Resource.objects.filter(domain=place.mark):
        kind = row.kind.lower()
        path = next(each.path for each in kinds.ALL if each.name == row.kind)
        yield reverse("resource", args=[path, row.name])
        for rest in ("", "/status", "/revisions", "/conditions", "/drift"):
            yield f"/api/v1/resources/{path}/{row.name}{rest}"
        for action in ("change", "history", "delete"):
            yield reverse(f"admin:resources_{kind}_{action}", args=[row.pk])


def admin() -> Iterator[str]:
    """Yield the lists of the admin."""
    yield reverse("admin:index")
    for name in PAGE_MODELS:
        yield reverse(f"admin:resources_{name.lower()}_changelist")
    for name in ("ledgerevent", "resourcerevision", "agenttoken", "checkpoint"):
        yield reverse(f"admin:resources_{name}_changelist")
    for name in ("channel", "delivery", "proposal", "hold", "grant", "price"):
        yield reverse(f"admin:controllers_{name}_changelist")


def read(client: Client, address: str) -> str:
    """Return everything that an answer says, but for what was asked."""
    with transaction.atomic():
        answer: Any = client.get(address)
        text = b"".join(answer.streaming_content) if answer.streaming else answer.content
        transaction.set_rollback(True)
    assert answer.status_code < 500, address
    said = text.decode() + str(dict(answer.headers))
    # A refusal may repeat what somebody asked for, and nothing else.
    for part in re.split(r"[/?=&]", address):
        said = said.replace(part, "") if part.startswith(tuple(MARKS)) else said
    return said


def marks(text: str, mark: str) -> set[str]:
    """Return the texts of a domain that something holds."""
    return set(re.findall(rf"{mark}[\w-]*", text))


def crawl(client: Client, there: dict[str, Place], *, far: bool = True) -> dict[str, str]:
    """Go everywhere, or everywhere but to each thing of one's own; return what was read."""
    every = [*pages(), *(f"/api/v1/{each}" for each in LISTS), *admin()]
    places = there.values() if far else [there[THERE]]
    every += [each for place in places for each in things(place)]
    return {address: read(client, address) for address in every}


def pushed(person: User, addresses: list[str]) -> str:
    """Return what open pages of somebody are told first."""
    scope = roles.scope_at(person, timezone.now())
    news = broadcast.read([0], versions.horizon())
    seats = {Seat(each, 0).seen_with(scope) for each in addresses}
    narrow = next(iter(seats)).scope
    return "\n".join(broadcast.printed(Press(news, timezone.now()), seats, narrow).values())


def somebody(role: str, domain: str) -> tuple[User, Client]:
    """Return somebody of a role, and their browser."""
    user = User.objects.create(username=f"reader-{role}-{domain}", is_staff=role in STAFF)
    given(user, role, domain=domain)
    return user, world.signed_in(user)


@pytest.mark.parametrize("role", quick_first(ROLES))
def test_nobody_reads_what_lies_in_another_domain(role: str) -> None:
    there = world.build()
    _, client = somebody(role, HERE)

    said = crawl(client, there, far=role in ("viewer", "administrator"))

    leaks = {address: found for address, text in said.items() if (found := marks(text, THERE))}
    assert leaks == {}
    assert len(set().union(*(marks(text, HERE) for text in said.values()))) > 10


@pytest.mark.full
def test_who_sees_everything_meets_every_mark_on_the_same_way() -> None:
    there = world.build()
    _, client = somebody("viewer", "")

    said = crawl(client, there)

    for mark in MARKS:
        met = [address for address, text in said.items() if marks(text, mark)]
        assert len(met) > 30, met


@pytest.mark.django_db(transaction=True)
def test_open_pages_are_told_nothing_of_another_domain() -> None:
    world.build()
    open_pages = [reverse("start"), reverse("audit"), reverse("approvals"), reverse("overrides")]
    open_pages += [reverse("controller", args=[KEEPER]), reverse("cycle", args=[KEEPER, 1])]
    reader, _ = somebody("approver", HERE)
    everybody, _ = somebody("approver", "")

    assert marks(pushed(reader, open_pages), THERE) == set()
    assert marks(pushed(reader, open_pages), HERE)
    assert marks(pushed(everybody, open_pages), THERE)


def test_who_holds_no_role_reads_nothing_at_all() -> None:
    there = world.build()
    client = world.signed_in(User.objects.create(username="newcomer"))

    said = crawl(client, there, far=False)

    assert {mark for text in said.values() for mark in MARKS if mark in text} == set()
    assert "You have no role yet" in said[reverse("start")]


def test_messages_without_a_subject_stay_with_the_organisation() -> None:
    now = timezone.now()
    Delivery.objects.create(
        key="k",
        severity="info",
        title="Restored",
        body="",
        state="in_app",
        run_at=now,
        created_at=now,
    )
    narrow = visibility.Scope("x", frozenset({("viewer", HERE)}))

    with visibility.within(narrow):
        assert not Delivery.objects.exists()
    assert Delivery.objects.exists()
