"""Rows that are created many at once are as if each had been saved."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db.models import Model

from controllers.common import bulk_insert
from controllers.models import Alert, Delivery, Proposal
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.controllers.making import declare, domain

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def alert(clock: Clock, resource: int, number: int) -> Alert:
    return Alert(
        controller_id=resource,
        resource_id=resource,
        reason=f"Drift {number}",
        channel="ops",
        severity="warning",
        message="Größer als “erlaubt”: 100 %.",
        correlation_id=uuid.uuid4().hex,
        raised_at=clock.now,
    )


def proposal(clock: Clock, resource: int, digest: str) -> Proposal:
    times = dict.fromkeys(("created_at", "changed_at", "confirmed_at", "expires_at"), clock.now)
    return Proposal(
        resource_id=resource,
        proposer="agent/robin",
        state="pending",
        actions=[{"operation": "restart", "parameters": {"deep": [1, 2.5, None, True, "ü"]}}],
        action_digest=digest,
        basis={"generation": 1},
        basis_digest="b",
        lane="ask",
        risk="low",
        reversible=True,
        score=0.25,
        correlation_id="story",
        **times,
    )


def columns(row: Model) -> dict[str, Any]:
    kept: Any = type(row)._default_manager.values().get(pk=row.pk)
    return {name: value for name, value in kept.items() if name not in ("id", "uid")}


def test_a_created_row_is_the_saved_row(clock: Clock) -> None:
    declare(clock, domain("growth"))
    key = Resource.objects.get(kind="Domain").pk
    saved, created = (proposal(clock, key, digest) for digest in "ac")

    saved.save()
    bulk_insert.create([created])

    assert columns(saved) | {"action_digest": "c"} == columns(created)
    again = Proposal.objects.get(uid=created.uid)
    assert (again.pk, again.actions) == (created.pk, saved.actions)


def test_keys_go_on_where_others_left_off(clock: Clock) -> None:
    declare(clock, domain("growth"))
    key = Resource.objects.get(kind="Domain").pk
    first, *many = [alert(clock, key, number) for number in range(5)]
    first.save()

    bulk_insert.create(many)
    last = alert(clock, key, 9)
    last.save()

    keys = [each.pk for each in (first, *many, last)]
    assert keys == sorted(set(keys))
    assert Alert.objects.count() == 6
    many[0].message = "Changed."
    many[0].save()
    assert Alert.objects.get(pk=many[0].pk).message == "Changed."


def test_what_exists_stays_as_it_is(clock: Clock) -> None:
    def message(title: str, key: str) -> Delivery:
        return Delivery(
            key=key,
            channel="ops",
            severity="info",
            title=title,
            body="",
            state="waiting",
            run_at=clock.now,
            created_at=clock.now,
        )

    bulk_insert.create_missing([message("first", "a")])
    bulk_insert.create_missing([message("second", "a"), message("other", "b")])

    assert sorted(Delivery.objects.values_list("key", "title")) == [("a", "first"), ("b", "other")]


def test_nothing_is_nothing(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        bulk_insert.create([])
        bulk_insert.create_missing([])
