"""Specification, section 1: what a controller is."""

from __future__ import annotations

import pytest

from controllers.models import Judgement
from tests.conftest import Clock
from tests.controllers.making import cycles, declare, judgement, own, work
from tests.resources.making import live, made, shown
from tests.spec.organisation import (
    CONVERGED,
    DOMAINS,
    NAME,
    budget,
    domain,
    found,
    miss,
    policy,
    scaling,
    understaff,
)

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]


def test_without_controllers_resources_are_just_documents(clock: Clock) -> None:
    declare(clock, domain("product"), budget(), policy())
    miss(clock, "product", 3)

    assert work(clock) == []
    assert not Judgement.objects.exists()


def test_with_controllers_they_become_a_self_correcting_system(clock: Clock) -> None:
    """I-04 D-46"""
    found(clock, enforcementMode="enforce", approval="auto")
    understaff(clock)

    work(clock)
    before = score("product")
    clock.advance(minutes=5)
    work(clock, effects=scaling(clock))
    work(clock)

    assert (before, score("product")) == (0.2, 0.1)
    assert shown("Domain", "product")["status"]["activeAgents"] == 2


def score(name: str) -> float | None:
    found = judgement(name, NAME)
    return found.score if found else None


@pytest.mark.usefixtures("three_domains")
def test_a_controller_watches_resource_kinds(clock: Clock) -> None:
    """I-02 F-07 Each controller watches one kind; several cover several, or share one."""
    budgets = made("Controller", "budgets", {"targetKind": "Budget"})
    domains = made("Controller", "domains", {"targetKind": "Domain"})
    declare(clock, budgets, domains)

    work(clock)

    watched = [cycles(each)[0].counts["watched"] for each in (NAME, "domains", "budgets")]
    assert watched == [3, 3, 1]


@pytest.mark.usefixtures("three_domains")
def test_it_compares_spec_with_status(clock: Clock) -> None:
    """I-03 F-43"""
    miss(clock, "product", 1)
    work(clock)

    found = judgement("product", NAME)
    assert found is not None
    assert found.evidence == [
        {"dimension": "kpi", "subject": "kpi/orders", "verdict": "missed"}
        | {"desired": ">= 10", "observed": 9}
    ]
    assert shown("Domain", "product")["status"]["kpis"][0]["value"] == 9

    miss(clock, "product", 0)
    work(clock)

    found = judgement("product", NAME)
    assert found is not None
    assert (found.score, found.evidence) == (0, [])


@pytest.mark.usefixtures("three_domains")
def test_it_reports_results_by_updating_status(clock: Clock) -> None:
    """I-05 I-58 I-59"""
    specs = [shown("Domain", name)["spec"] for name in DOMAINS]
    miss(clock, "growth")

    work(clock)

    said = [own(name, CONVERGED) for name in DOMAINS]
    assert [each and each.status for each in said] == ["True", "False", "True"]
    assert shown("Controller", NAME)["status"]["unhealthyResources"] == 1
    assert [shown("Domain", name)["spec"] for name in DOMAINS] == specs
    assert {live("Domain", name).generation for name in DOMAINS} == {1}
