"""Who comes in, how, and who is kept out: open pages show it as fresh ones do."""

from __future__ import annotations

from datetime import datetime

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from controllers.access import (
    deactivation,
    lockout,
    people,
    provider_groups,
    roles,
    secret_rotation,
    session_records,
)
from controllers.signin import factors
from resources.store import announcements
from tests.live.watching import World
from tests.live.watching import world as world
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

ADDRESS = "192.0.2.7"


def noted(person: User, event: str, now: datetime) -> None:
    """Write what somebody changed about their ways in, as the pages about them do."""
    with transaction.atomic():
        people.note(person, event, {}, actor=people.actor_for(person), now=now)
        announcements.announce()


def test_keeping_out_and_letting_in(world: World) -> None:
    now, tomas, admin = world.clock.now, world.person("tomas"), world.person("admin")
    pages = ["/profile", "/people", f"/people/{tomas.pk}"]
    with world.watch("person.link-made", pages):
        roles.note_link(tomas, by=admin, now=now)
    Client().force_login(tomas)
    with world.watch("person.signed-out", pages):
        session_records.end_all(tomas, by=admin, now=now)
    for _ in range(lockout.TRIES):
        lockout.attempt("tomas", ADDRESS, now)
    with world.watch("person.locked-out", pages):
        lockout.failed("tomas", ADDRESS, now)
    with world.watch("person.unlocked", pages):
        lockout.unlock(tomas, by=admin, now=now)
    with world.watch("person.connected", pages):
        provider_groups.connect(tomas, "u-7", by=admin, now=now)
    Authenticator.objects.create(user=tomas, type="totp", data={})
    with world.watch("person.factors-forgotten", pages):
        deactivation.forget_factors(tomas, by=admin, now=now)
    with world.watch("person.deactivated", pages):
        deactivation.shut_out(tomas, by=admin, now=now)
    with world.watch("person.reactivated", pages):
        deactivation.let_in(tomas, by=admin, now=now)
    with world.watch("secrets.rotated", pages):
        secret_rotation.rotate(by=admin, now=now)


def test_ways_in(world: World) -> None:
    now, maya, pages = world.clock.now, world.person(), ["/profile"]
    with world.watch("person.password-changed", pages):
        noted(maya, "person.password-changed", now)
    with world.watch("person.second-factor-added", pages):
        noted(maya, factors.AddApp.event, now)
    with world.watch("person.second-factor-removed", pages):
        noted(maya, factors.RemoveApp.event, now)
    with world.watch("person.passkey-added", pages):
        noted(maya, factors.AddPasskey.event, now)
    with world.watch("person.passkey-removed", pages):
        noted(maya, factors.RemovePasskey.event, now)
    with world.watch("person.recovery-codes-made", pages):
        noted(maya, factors.NewCodes.event, now)
