"""Specification, section 7: what a controller may do, and how it is held to account."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection

from controllers.models import Cycle, Proposal
from resources.store import evidence
from tests.conftest import Clock
from tests.controllers.making import declare, told, work
from tests.resources.making import made, shown
from tests.spec.organisation import NAME, budget, miss

pytestmark = pytest.mark.sqlite

BLOCK = {"type": "block", "operation": "block-spend"}


@pytest.mark.django_db
@pytest.mark.usefixtures("three_domains")
@pytest.mark.parametrize(
    ("mode", "lanes"), [("enforce", ["run"]), ("warn", []), ("advise", []), ("observe", [])]
)
def test_only_controllers_that_enforce_can_block_operations(
    clock: Clock, mode: str, lanes: list[str]
) -> None:
    """I-52 I-54 I-55 I-56"""
    spec = {"targetKind": "Budget", "enforcementMode": mode, "actions": {"onDrift": [BLOCK]}}
    declare(clock, made("Controller", "treasurer", spec))
    overspent = budget() | {"metadata": {"name": "overspent"}}
    declare(clock, overspent | {"status": {"consumed": {"cost": 150, "currency": "EUR"}}})
    work(clock)

    [cycle] = Cycle.objects.filter(controller__name="treasurer")
    assert [each["operation"] for each in cycle.actions] == ["block-spend"]
    assert [each.lane for each in Proposal.objects.filter(controller__name="treasurer")] == lanes


@pytest.mark.django_db(transaction=True)
def test_all_controller_actions_are_auditable(clock: Clock) -> None:
    """I-94"""
    declare(clock, made("Controller", "keeper", {"actions": {"onDrift": [{"type": "alert"}]}}))
    declare(clock, made("Domain", "harbour", {}, status={"health": "critical"}))
    work(clock)

    [performed] = told("controller.action-performed")
    assert performed.actor == "controller/keeper"
    for statement in ("UPDATE resources_ledgerevent SET actor = ''", "DELETE FROM {}"):
        with pytest.raises(DatabaseError, match="append-only"), connection.cursor() as cursor:
            cursor.execute(statement.format("resources_ledgerevent"))
    assert evidence.verify().ok


@pytest.mark.django_db
@pytest.mark.usefixtures("three_domains")
def test_what_a_person_declared_is_never_changed_by_a_controller(clock: Clock) -> None:
    """I-05 I-95"""
    before = {name: shown("Domain", name)["spec"] for name in ("product", "growth")}
    miss(clock, "product", 3)
    miss(clock, "growth", 3)
    for _ in range(3):
        work(clock)
        clock.advance(minutes=5)

    assert {name: shown("Domain", name)["spec"] for name in before} == before
    assert shown("Controller", NAME)["spec"]["enforcementMode"] == "warn"
