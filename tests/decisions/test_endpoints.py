"""Endpoints are entered, given new keys and switched off by administrators only."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.common import secrets
from controllers.models import Endpoint
from controllers.operations import endpoints
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.decisions.making import person
from tests.problems import refuses

pytestmark = pytest.mark.django_db

URL = "https://hooks.example/ops"


@pytest.fixture
def ada(clock: Clock) -> User:
    """Return the administrator."""
    return person(clock, "ada", "administrator")


def register(clock: Clock, who: User, **given: Any) -> tuple[Endpoint, str]:
    options = {"name": "ops", "url": URL, "operations": ["restart"], "domain": ""} | given
    return endpoints.register(**options, person=who, now=clock.now)


def events() -> list[tuple[str, str]]:
    told = LedgerEvent.objects.filter(stream="endpoint/ops").order_by("seq")
    return [(each.event, each.actor) for each in told]


def test_an_administrator_enters_an_endpoint_and_sees_its_secret_once(
    clock: Clock, ada: User
) -> None:
    _, secret = register(clock, ada, operations=["restart", "pause", "restart"])

    stored = Endpoint.objects.get(name="ops")
    assert secret.startswith("whsec_")
    assert secret not in stored.secret
    assert secrets.decrypt(stored.secret) == secret
    assert stored.operations == ["pause", "restart"]
    assert (stored.enabled, stored.changed_by) == (True, "person/ada")
    assert events() == [("endpoint.registered", "person/ada")]
    assert secret not in str(LedgerEvent.objects.values_list("payload", flat=True))
    assert endpoints.taking("restart", "growth") == stored


def test_every_endpoint_has_a_secret_of_its_own(clock: Clock, ada: User) -> None:
    _, first = register(clock, ada)
    _, second = register(clock, ada, name="other")

    assert first != second


@pytest.mark.parametrize("role", ["viewer", "operator", "approver", "auditor"])
def test_nobody_else_enters_one(clock: Clock, role: str) -> None:
    with refuses("forbidden", match="Only an administrator of the organisation"):
        register(clock, person(clock, "mo", role))

    assert not Endpoint.objects.exists()
    assert events() == []


def test_the_administrator_of_a_domain_stays_in_it(clock: Clock, ada: User) -> None:
    local = person(clock, "lena", "administrator", domain="growth")
    register(clock, ada)

    register(clock, local, name="near", domain="growth")
    for domain in ("", "harbour"):
        with refuses("forbidden"):
            register(clock, local, name="far", domain=domain)
    with refuses("forbidden"):
        endpoints.rotate("ops", person=local, now=clock.now)
    with refuses("forbidden"):
        endpoints.switch("ops", False, person=local, now=clock.now)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": ""}, "A name starts with"),
        ({"name": "x" * 254}, "A name starts with"),
        ({"name": "a\x00"}, "A name starts with"),
        ({"domain": "Growth"}, "A name starts with"),
        ({"url": "http://hooks.example/"}, "https://"),
        ({"url": "https://" + "x" * 2000}, "at most 2000"),
        ({"operations": []}, "operations of the catalogue"),
        ({"operations": ["fly"]}, "fly is none"),
        ({"operations": ["escalate"]}, "escalate is none"),
    ],
)
def test_what_cannot_be_an_endpoint_is_refused(
    clock: Clock, ada: User, given: dict[str, Any], words: str
) -> None:
    with refuses("invalid", match=words):
        register(clock, ada, **given)

    assert not Endpoint.objects.exists()


def test_a_name_is_given_once(clock: Clock, ada: User) -> None:
    register(clock, ada)

    with refuses("refused", match="There is an endpoint ops already"):
        register(clock, ada)

    assert len(events()) == 1


def test_a_new_secret_signs_beside_the_former_one_and_replaces_the_one_before(
    clock: Clock, ada: User
) -> None:
    _, first = register(clock, ada)

    second = endpoints.rotate("ops", person=ada, now=clock.now)
    assert secrets.decrypt(Endpoint.objects.get().secret).split() == [second, first]
    third = endpoints.rotate("ops", person=ada, now=clock.now)
    assert secrets.decrypt(Endpoint.objects.get().secret).split() == [third, second]
    assert [name for name, _ in events()] == [
        "endpoint.registered",
        "endpoint.rotated",
        "endpoint.rotated",
    ]


def test_a_secret_that_cannot_be_read_any_more_is_replaced(clock: Clock, ada: User) -> None:
    register(clock, ada)
    Endpoint.objects.update(secret="unreadable")

    fresh = endpoints.rotate("ops", person=ada, now=clock.now)

    assert secrets.decrypt(Endpoint.objects.get().secret) == fresh


def test_an_endpoint_that_is_off_takes_nothing(clock: Clock, ada: User) -> None:
    register(clock, ada)

    for _ in range(2):
        endpoints.switch("ops", False, person=ada, now=clock.now)
    assert endpoints.taking("restart", "growth") is None
    endpoints.switch("ops", True, person=ada, now=clock.now)

    assert endpoints.taking("restart", "growth") is not None
    assert [name for name, _ in events()] == [
        "endpoint.registered",
        "endpoint.disabled",
        "endpoint.enabled",
    ]


def test_of_two_who_change_an_endpoint_at_once_one_is_told(clock: Clock, ada: User) -> None:
    register(clock, ada)
    read = Endpoint.objects.get()
    endpoints.rotate("ops", person=ada, now=clock.now)

    with refuses("conflict", match="Somebody else"):
        endpoints.change(read, person=ada, now=clock.now, secret="stale")


def test_an_endpoint_that_is_not_there_is_named(clock: Clock, ada: User) -> None:
    for name in ("ops", "\x00"):
        with refuses("not-found", match=f"There is no endpoint {name}"):
            endpoints.rotate(name, person=ada, now=clock.now)
