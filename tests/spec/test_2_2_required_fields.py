"""Specification, section 2.2: the fields a controller's spec must have."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.models import Proposal
from resources.documents import kinds
from tests.conftest import Clock
from tests.controllers.making import declare, judgement, work
from tests.resources.making import actions, apply, shown
from tests.spec.organisation import DOMAINS, NAME, controller, domain, understaff

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("three_domains"), pytest.mark.sqlite]

MODES = ("enforce", "warn", "advise", "observe")


def refused(clock: Clock, document: dict[str, Any]) -> list[tuple[str, str]]:
    """Apply a document that must be refused; return where and why."""
    outcome = apply(clock.now, document)
    assert actions(outcome) == ["refused"]
    return [(each.pointer, each.message) for each in outcome.results[0].problems]


def without(field: str) -> dict[str, Any]:
    document = controller(hooks={})
    del document["spec"][field]
    return document


@pytest.mark.parametrize("field", ["targetKind", "reconcileInterval"])
def test_a_required_field_is_named_when_it_is_missing(clock: Clock, field: str) -> None:
    """I-35"""
    [(pointer, message)] = refused(clock, without(field))

    assert (pointer, message) == (f"/spec/{field}", "is required")


def test_a_controller_without_a_selector_watches_the_whole_kind(clock: Clock) -> None:
    """I-10 I-35 X-01 Documents that leave it out are in use, so it is accepted."""
    declare(clock, without("targetSelector"), domain("sandbox", tier="staging"))
    work(clock)

    assert [judgement(name, NAME) is not None for name in (*DOMAINS, "sandbox")] == [True] * 4


@pytest.mark.parametrize("selector", [{}, {"matchLabels": {}}])
def test_an_empty_selector_watches_the_whole_kind(clock: Clock, selector: Any) -> None:
    """I-10"""
    declare(clock, controller(targetSelector=selector), domain("sandbox", tier="staging"))
    work(clock)

    assert judgement("sandbox", NAME) is not None


def test_a_controller_without_a_mode_warns(clock: Clock) -> None:
    """I-28 I-35 X-01"""
    declare(clock, without("enforcementMode"))
    understaff(clock)
    work(clock)

    assert [each.mode for each in Proposal.objects.all()] == ["warn"]


def test_target_kind_is_a_resource_kind_to_watch(clock: Clock) -> None:
    """I-36"""
    [(pointer, message)] = refused(clock, controller(targetKind="Harbour", hooks={}))

    assert pointer == "/spec/targetKind"
    assert all(each.name in message for each in kinds.ALL if each.targetable)


def test_no_controller_watches_controllers(clock: Clock) -> None:
    """I-36"""
    [(pointer, _)] = refused(clock, controller(targetKind="Controller", hooks={}))

    assert pointer == "/spec/targetKind"


@pytest.mark.parametrize("selector", ["tier=production", {"matchLabels": {"tier": 1}}])
def test_target_selector_is_an_object_of_labels(clock: Clock, selector: Any) -> None:
    """I-09"""
    [(pointer, _)] = refused(clock, controller(targetSelector=selector))

    assert pointer.startswith("/spec/targetSelector")


@pytest.mark.parametrize("interval", ["5 minutes", "-1m", "0s", "", 5])
def test_reconcile_interval_is_a_text_that_says_how_often(clock: Clock, interval: Any) -> None:
    """I-11"""
    [(pointer, _)] = refused(clock, controller(reconcileInterval=interval))

    assert pointer == "/spec/reconcileInterval"


@pytest.mark.parametrize("mode", MODES)
def test_enforcement_mode_is_one_of_four(clock: Clock, mode: str) -> None:
    """I-28"""
    declare(clock, controller(enforcementMode=mode, reconcileInterval="6m"))

    assert shown("Controller", NAME)["spec"]["enforcementMode"] == mode


def test_any_other_mode_is_refused(clock: Clock) -> None:
    """I-28"""
    [(pointer, message)] = refused(clock, controller(enforcementMode="strict"))

    assert pointer == "/spec/enforcementMode"
    assert all(mode in message for mode in MODES)
