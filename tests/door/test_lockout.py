"""Whoever guesses is kept waiting; everybody else is not."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import lockout
from controllers.access.lockout import TRIES, TRIES_OF_ALL, WINDOW
from controllers.models import Lockout
from resources.documents.problems import Problem
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.door.conftest import PASSWORD, Enter, person
from tests.problems import refuses
from tests.resources.racing import together

pytestmark = pytest.mark.servers

WRONG = "a wild guess"
HERE, THERE = "192.0.2.1", "192.0.2.2"


def guess(name: str = "maya", password: str = WRONG, address: str = HERE) -> str:
    asked = {"login": name, "password": password}
    answer = Client(REMOTE_ADDR=address).post("/sign-in/", asked)
    return answer.content.decode() if answer.status_code == 200 else "let in"


@pytest.mark.django_db
def test_after_five_wrong_tries_even_the_right_one_waits(maya: User) -> None:
    for _ in range(TRIES):
        assert "The name or the password is wrong." in guess()

    said = guess(password=PASSWORD)

    assert "Too many tries. Try again in 15 minutes" in said
    assert "ioa door unlock NAME" in said
    assert guess(password=PASSWORD, address=THERE) == "let in"
    (entry,) = LedgerEvent.objects.filter(event="person.locked-out")
    assert entry.payload == {"address": HERE, "minutes": 15}


@pytest.mark.django_db
def test_a_name_that_nobody_has_is_counted_the_same(maya: User) -> None:
    for _ in range(TRIES):
        guess("mallory")

    assert "Too many tries" in guess("Mallory ")
    assert not LedgerEvent.objects.filter(event="person.locked-out").exists()


@pytest.mark.django_db
def test_the_right_password_begins_the_count_anew(maya: User) -> None:
    for _ in range(TRIES - 1):
        guess()
    assert guess(password=PASSWORD) == "let in"

    assert "is wrong" in guess()
    assert guess(password=PASSWORD) == "let in"


@pytest.mark.django_db
def test_it_is_over_after_a_while(clock: Clock) -> None:
    for _ in range(TRIES):
        lockout.attempt("maya", HERE, clock.now)
    with refuses("too-often"):
        lockout.attempt("maya", HERE, clock.now + WINDOW - timedelta(seconds=1))

    lockout.attempt("maya", HERE, clock.now + WINDOW)

    assert Lockout.objects.get(account="maya").failures == 1


@pytest.mark.django_db
def test_tries_that_are_far_apart_lock_nobody_out(clock: Clock) -> None:
    for _ in range(3 * TRIES):
        lockout.attempt("maya", HERE, clock.advance(minutes=16))


@pytest.mark.django_db
def test_one_address_does_not_try_many_names(clock: Clock) -> None:
    for number in range(TRIES_OF_ALL):
        lockout.attempt(f"person{number}", HERE, clock.now)

    with refuses("too-often"):
        lockout.attempt("one-more", HERE, clock.now)
    lockout.attempt("one-more", THERE, clock.now)


@pytest.mark.django_db
def test_many_who_sign_in_rightly_from_one_address_lock_it_for_nobody(clock: Clock) -> None:
    for number in range(2 * TRIES_OF_ALL):
        lockout.attempt(f"person{number}", HERE, clock.now)
        lockout.succeeded(f"person{number}", HERE)


def test_many_tries_at_once_are_no_more_than_their_number(
    clock: Clock, real_database: None
) -> None:
    def heard() -> bool:
        try:
            lockout.attempt("maya", HERE, clock.now)
        except Problem:
            return False
        return True

    assert sum(together([partial(heard)] * 12)) == TRIES


@pytest.mark.django_db
def test_an_administrator_unlocks_somebody(maya: User, admin: User, clock: Clock) -> None:
    for _ in range(TRIES):
        guess()

    with refuses("forbidden"):
        lockout.unlock(maya, by=maya, now=clock.now)
    assert lockout.unlock(maya, by=admin, now=clock.now) == 1

    assert guess(password=PASSWORD) == "let in"
    (entry,) = LedgerEvent.objects.filter(event="person.unlocked")
    assert entry.actor == "person/ada"


@pytest.mark.django_db
def test_what_no_longer_counts_is_forgotten(clock: Clock) -> None:
    lockout.attempt("maya", HERE, clock.now)
    assert lockout.forget(clock.now) == 0

    assert lockout.forget(clock.now + WINDOW) == 2


@pytest.mark.django_db
def test_confirming_is_counted_too(maya: User, enter: Enter) -> None:
    client = enter("maya")
    for _ in range(TRIES):
        client.post("/sign-in/again/", {"password": "wrong"})

    answer = client.post("/sign-in/again/", {"password": PASSWORD})

    assert "Too many tries" in answer.content.decode()


@pytest.mark.django_db
def test_odd_names_are_refused_like_any_other() -> None:
    person("vera")
    for name in ("x" * 151, "\x00", "\uff2d\uff21", " ", "İ" * 80):
        assert guess(name) != "let in"
