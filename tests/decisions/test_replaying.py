"""Replay: another rule is tried on the past, and changes nothing."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.models import DriftSample, Proposal
from controllers.trust import policy_replay
from resources.tables.models import LedgerEvent, Resource
from tests.api.deciding import as_user, good, problem
from tests.cli.conftest import Run
from tests.cli.conftest import ioa as ioa
from tests.conftest import Clock
from tests.controllers.making import work
from tests.decisions.carrying import keeper, overspending
from tests.decisions.making import action, agent, proposal

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
APPROVED: dict[str, Any] = {"state": "succeeded", "answer": "approve", "decided_by": "person/maya"}
REJECTED: dict[str, Any] = {"state": "rejected", "answer": "reject", "decided_by": "person/maya"}


@pytest.fixture
def owner(clock: Clock) -> Resource:
    """A controller with the usual threshold of 0.15, which weighs only budgets."""
    return keeper(clock)


def sample(owner: Resource, row: Resource, at: datetime, budget: float, kpi: float = 0.0) -> None:
    """Keep a point of a resource's drift."""
    figures = {"budget": budget, "kpi": kpi, "health": None}
    DriftSample.objects.create(
        controller=owner,
        resource=row,
        at=at,
        score=budget,
        drifted=budget >= 0.15,
        dimensions=figures,
    )


def lived(
    clock: Clock, owner: Resource, name: str, budget: float, kpi: float = 0.0, **given: Any
) -> Proposal | None:
    """Let a resource have drifted yesterday, and perhaps a proposal have been made of it."""
    row = agent(clock, name)
    at = clock.now - DAY
    sample(owner, row, at, budget, kpi)
    if not given:
        return None
    made = proposal(clock, row, owner, actions=[action(name)], **given)
    Proposal.objects.filter(pk=made.pk).update(created_at=at + timedelta(minutes=1))
    return made


def tried(clock: Clock, owner: Resource, **given: Any) -> policy_replay.Replay:
    return policy_replay.run(owner, policy_replay.wanted(**given), clock.now)


def test_a_higher_threshold_lets_proposals_vanish_and_says_whom_that_contradicts(
    clock: Clock, owner: Resource
) -> None:
    small = lived(clock, owner, "small", 0.2, **APPROVED)
    no = lived(clock, owner, "no", 0.2, **REJECTED)
    lived(clock, owner, "large", 0.8, **APPROVED)

    found = tried(clock, owner, threshold=0.5)

    assert small is not None
    assert no is not None
    assert {each.proposal for each in found.vanishes} == {small.pk, no.pk}
    (contradicted,) = found.contradictions
    assert (contradicted.proposal, contradicted.decided_by) == (small.pk, "person/maya")
    assert "would not have been proposed" in contradicted.contradicts


def test_a_lower_threshold_lets_proposals_appear(clock: Clock, owner: Resource) -> None:
    lived(clock, owner, "quiet", 0.1)
    lived(clock, owner, "loud", 0.8, **APPROVED)

    found = tried(clock, owner, threshold=0.05)

    assert [(each.resource, each.score) for each in found.appears] == [("agent/quiet", 0.1)]
    assert found.vanishes == []


def test_one_drift_that_goes_on_appears_once(clock: Clock, owner: Resource) -> None:
    row = agent(clock, "quiet")
    for hours, score in ((30, 0.1), (20, 0.12), (10, 0.0), (5, 0.11)):
        sample(owner, row, clock.now - timedelta(hours=hours), score)

    found = tried(clock, owner, threshold=0.05)

    assert [each.score for each in found.appears] == [0.11, 0.12]


def test_another_weight_weighs_what_was_measured_anew(clock: Clock, owner: Resource) -> None:
    lived(clock, owner, "quiet", 0.0, kpi=0.6)

    found = tried(clock, owner, weights={"kpi": 1})

    assert [(each.resource, each.score) for each in found.appears] == [("agent/quiet", 0.3)]


def test_another_mode_says_what_would_have_run_against_a_no(clock: Clock, owner: Resource) -> None:
    no = lived(clock, owner, "no", 0.8, **REJECTED)
    yes = lived(clock, owner, "yes", 0.8, **APPROVED)

    found = tried(clock, owner, spec={"enforcementMode": "enforce", "approval": "auto"})

    assert no is not None
    assert yes is not None
    assert {each.proposal for each in found.unasked} == {no.pk, yes.pk}
    assert [each.proposal for each in found.contradictions] == [no.pk]


def test_it_says_how_far_back_it_reaches_and_what_it_could_not_replay(
    clock: Clock, owner: Resource
) -> None:
    lived(clock, owner, "large", 0.8, **APPROVED)
    proposal(clock, agent(clock, "forgotten"), owner, **APPROVED)

    found = tried(clock, owner, threshold=0.5, spec={"maxActionsPerCycle": 3})

    assert found.since == clock.now - DAY
    said = " ".join(found.limits)
    assert "spec.maxActionsPerCycle is not replayed" in said
    assert "Of 1 proposals the drift they rest on is no longer kept" in said


def test_it_is_bounded_and_says_so(
    clock: Clock, owner: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy_replay, "MOST_POINTS", 3)
    row = agent(clock)
    for hours in range(9):
        sample(owner, row, clock.now - timedelta(hours=hours), 0.1)

    found = tried(clock, owner, threshold=0.05)

    assert (found.points, found.since) == (3, clock.now - timedelta(hours=2))
    assert "Only the latest 3 points were gone through." in found.limits


def test_it_ends_in_time(clock: Clock, owner: Resource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_replay, "SECONDS", -1.0)
    lived(clock, owner, "large", 0.8, **APPROVED)

    found = tried(clock, owner, threshold=0.5)

    assert (found.points, found.proposals) == (0, 0)
    assert len(found.limits) == 3


def test_what_a_real_look_kept_comes_out_the_same_under_its_own_rule(
    clock: Clock, owner: Resource
) -> None:
    overspending(clock)
    work(clock)

    unchanged = tried(clock, owner, spec={"approval": "required", "timeout": "9m"})
    higher = tried(clock, owner, threshold=1)
    point = DriftSample.objects.get()

    assert (unchanged.points, unchanged.vanishes, unchanged.appears) == (1, [], [])
    assert point.score is not None
    assert len(higher.vanishes) == (0 if point.score >= 1 else 1)


def test_nothing_is_changed(clock: Clock, owner: Resource) -> None:
    lived(clock, owner, "large", 0.2, **APPROVED)
    before = (LedgerEvent.objects.count(), Proposal.objects.count(), owner.resource_version)

    tried(clock, owner, threshold=0.5)

    owner.refresh_from_db()
    after = (LedgerEvent.objects.count(), Proposal.objects.count(), owner.resource_version)
    assert before == after


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"threshold": 0.5}, 200),
        ({"threshold": "high"}, 400),
        ({"threshold": 7}, 400),
        ({"weights": {"kpi": -1}}, 400),
        ({"weights": [1]}, 400),
        ({"weights": {"kpi": 1}, "spec": {"drift": {"weights": [1]}}}, 200),
        ({"spec": {"drift": []}}, 400),
        ({"spec": {"targetKind": None}}, 400),
        ({}, 400),
        ({"what": 1}, 400),
    ],
)
def test_the_api_tries_what_fits_and_says_what_does_not(
    clock: Clock, owner: Resource, vera: User, body: dict[str, Any], status: int
) -> None:
    lived(clock, owner, "small", 0.2, **APPROVED)

    answer = as_user(vera).post("controllers/keeper/replay", body)

    if status == 200:
        assert good(answer, "Replay")["counts"]["points"] == 1
    else:
        problem(answer, status, "invalid")


def test_the_page_tries_a_rule_and_keeps_what_was_typed(
    clock: Clock, owner: Resource, vera: User
) -> None:
    lived(clock, owner, "small", 0.2, **APPROVED)
    browser = Client()
    browser.force_login(vera)
    where = "/controllers/keeper/replay"

    blank = browser.get(where).content.decode()
    tried = browser.get(where, {"threshold": "0.5", "kpi": "", "mode": "warn"}).content.decode()
    wrong = browser.get(where, {"threshold": "much", "mode": "warn"})

    assert "What would have been different" not in blank
    assert "A person approved it; it would not have been proposed." in tried
    assert wrong.status_code == 400
    assert "“much” is not a number." in wrong.content.decode()
    assert 'value="much"' in wrong.content.decode()


def test_the_command_prints_what_would_have_been_different(
    clock: Clock, owner: Resource, ioa: Run, tmp_path: Path
) -> None:
    lived(clock, owner, "small", 0.2, **APPROVED)
    document = {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Controller",
        "metadata": {"name": "keeper"},
        "spec": owner.spec | {"driftThreshold": 0.5},
    }
    file = tmp_path / "keeper.json"
    file.write_text(json.dumps(document))

    ran = ioa("replay", "keeper", "--threshold", "0.5")
    from_file = ioa("replay", "keeper", "--file", str(file))

    assert (ran.code, from_file.code) == (0, 0)
    assert "Would vanish: 1" in ran.out
    assert "it would not have been proposed" in ran.out
    assert from_file.out == ran.out
    assert ioa("replay", "keeper", "--weight", "kpi").code == 1
    assert ioa("replay", "nobody", "--threshold", "1").code == 1
