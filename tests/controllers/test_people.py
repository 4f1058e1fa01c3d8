"""People: roles made once, and sign-in links that work once."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

import pytest
from django.contrib.auth.models import Group, Permission, User

from controllers.access import people
from resources.documents.actor import SYSTEM
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.resources.racing import together


def add(clock: Clock, username: str = "vera", role: str = "Viewers") -> User:
    return people.add_person(
        username, name="Vera Maria Lind", role=role, actor=SYSTEM, now=clock.now
    )


def token_of(user: User) -> str:
    link = people.sign_in_link(user, "http://127.0.0.1:8000/")
    prefix, token = link.rstrip("/").rsplit("/", 1)
    assert prefix == f"http://127.0.0.1:8000/sign-in/{user.pk}"
    return token


def press(user_id: int, token: str, now: datetime) -> bool:
    """Do what the sign-in page does."""
    user = people.link_holder(user_id, token)
    return user is not None and people.redeem(user, now)


@pytest.mark.django_db
def test_a_person_is_added_with_a_role_and_no_password(clock: Clock) -> None:
    user = add(clock)

    assert (user.first_name, user.last_name) == ("Vera", "Maria Lind")
    assert not user.has_usable_password()
    assert not user.is_staff
    assert [each.name for each in user.groups.all()] == ["Viewers"]
    entry = LedgerEvent.objects.get()
    assert (entry.event, entry.subject, entry.payload) == (
        "person.added",
        "person/vera",
        {"role": "Viewers"},
    )


@pytest.mark.django_db
def test_a_link_works_once(clock: Clock) -> None:
    user = add(clock)
    token = token_of(user)

    assert press(user.pk, token, clock.now)
    assert not press(user.pk, token, clock.advance(seconds=5))
    signed_in = LedgerEvent.objects.filter(event="person.signed-in")
    assert [(each.actor, each.payload) for each in signed_in] == [("person/vera", {"by": "link"})]


@pytest.mark.django_db
def test_looking_at_a_link_does_not_use_it_up(clock: Clock) -> None:
    user = add(clock)
    token = token_of(user)

    for _ in range(3):
        assert people.link_holder(user.pk, token) == user
    assert press(user.pk, token, clock.now)


@pytest.mark.django_db
def test_a_later_sign_in_ends_every_link_made_before(clock: Clock) -> None:
    user = add(clock)
    first, second = token_of(user), token_of(user)
    press(user.pk, first, clock.now)

    assert people.link_holder(user.pk, second) is None


@pytest.mark.django_db
def test_a_link_works_once_even_within_one_second(clock: Clock) -> None:
    user = add(clock)
    press(user.pk, token_of(user), clock.now)
    user.refresh_from_db()
    token = token_of(user)

    assert press(user.pk, token, clock.advance(milliseconds=200))
    assert not press(user.pk, token, clock.advance(milliseconds=200))


@pytest.mark.django_db
def test_a_link_ends_after_a_day(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    user = add(clock)
    start = datetime(2026, 11, 16, 10, 0)  # noqa: DTZ001 - as Django counts
    monkeypatch.setattr(people.LinkTokens, "_now", lambda self: start)
    token = token_of(user)

    monkeypatch.setattr(people.LinkTokens, "_now", lambda self: start + timedelta(hours=24))
    assert people.link_holder(user.pk, token) == user
    late = start + timedelta(hours=24, seconds=1)
    monkeypatch.setattr(people.LinkTokens, "_now", lambda self: late)
    assert people.link_holder(user.pk, token) is None


@pytest.mark.django_db
def test_a_link_is_for_one_person_only(clock: Clock) -> None:
    vera, maya = add(clock), add(clock, "maya")

    assert people.link_holder(maya.pk, token_of(vera)) is None
    assert people.link_holder(10**9, token_of(vera)) is None
    assert people.link_holder(vera.pk, "") is None
    assert people.link_holder(vera.pk, "x-y-z") is None


@pytest.mark.django_db
def test_who_was_locked_out_cannot_use_a_link(clock: Clock) -> None:
    user = add(clock)
    token = token_of(user)
    User.objects.update(is_active=False)

    assert people.link_holder(user.pk, token) is None


def test_pressed_by_many_at_once_a_link_lets_one_in(clock: Clock, real_database: None) -> None:
    user = add(clock)
    for _ in range(3):
        user.refresh_from_db()
        token = token_of(user)
        now = clock.advance(minutes=1)
        results = together([partial(press, user.pk, token, now)] * 6)
        assert sorted(results) == [False] * 5 + [True]

    assert LedgerEvent.objects.filter(event="person.signed-in").count() == 3


@pytest.mark.django_db
def test_roles_are_made_once_and_then_left_to_the_people(clock: Clock) -> None:
    groups = people.ensure_roles()
    groups["Viewers"].permissions.clear()

    again = people.ensure_roles()

    assert again == groups
    assert Group.objects.count() == len(people.ROLES)
    assert not again["Viewers"].permissions.exists()


@pytest.mark.django_db
def test_each_role_holds_its_rights() -> None:
    groups = people.ensure_roles()

    for name, rights in people.ROLES.items():
        held = set(groups[name].permissions.values_list("codename", flat=True))
        if rights:
            assert held == set(rights)
        else:
            assert held >= {"delete_resource", "add_user"}
    assert (
        Permission.objects.filter(group=groups["Viewers"], codename="change_resource").count() == 0
    )


@pytest.mark.django_db
def test_the_first_administrator_is_made_once(clock: Clock) -> None:
    first = people.ensure_administrator(clock.now)

    again = people.ensure_administrator(clock.advance(days=1))

    assert first == again
    assert first.is_staff
    assert not first.has_usable_password()
    assert LedgerEvent.objects.filter(event="person.added").count() == 1


def test_two_processes_that_start_first_make_one_administrator(
    clock: Clock, real_database: None
) -> None:
    found = together([partial(people.ensure_administrator, clock.now)] * 3)

    assert len({each.pk for each in found}) == 1
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_the_people_of_the_example_are_made_when_missing(clock: Clock) -> None:
    first = people.ensure_samples(clock.now)
    User.objects.filter(username="maya").delete()

    again = people.ensure_samples(clock.now)

    assert [each.username for each in again] == [each.username for each in people.SAMPLES]
    assert [each.pk for each in first[1:]] == [each.pk for each in again[1:]]
