"""What nobody answers climbs, level by level; the last is told again and again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from controllers.decisions import escalation
from controllers.decisions.escalation import Charter, Path
from controllers.models import Delivery, Proposal
from controllers.narrative import event_text
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.decisions.making import agent, controller, person, proposal
from tests.resources.making import apply, live
from tests.resources.racing import together

pytestmark = pytest.mark.django_db

LADDER = (("lead", "slack-growth", "15m"), ("duty-manager", "pagerduty", "30m"))


def paths(*levels: tuple[str, str, str]) -> list[dict[str, Any]]:
    """Write levels, the last one first: their order is by their number."""
    written = [
        {"level": number, "role": role, "channel": channel, "timeout": timeout}
        for number, (role, channel, timeout) in enumerate(levels, 1)
    ]
    return written[::-1]


def govern(
    clock: Clock, name: str, domain: str, *levels: tuple[str, str, str], **spec: Any
) -> None:
    """Declare a Governance."""
    declared = {"domain": domain, **spec}
    if levels:
        declared["escalation"] = {"paths": paths(*levels)}
    document = {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Governance",
        "metadata": {"name": name},
        "spec": declared,
    }
    assert apply(clock.now, document).written


@pytest.fixture
def waiting(clock: Clock) -> Proposal:
    """A proposal about an agent of growth, which is governed."""
    govern(clock, "growth-governance", "growth", *LADDER)
    return proposal(clock, agent(clock), controller(clock))


def told() -> list[tuple[str, str, str]]:
    """Return what was told, in order: channel, severity, title."""
    rows = Delivery.objects.order_by("pk").values_list("channel", "severity", "title")
    return list(rows)


def channels() -> list[str]:
    return [channel for channel, _, _ in told()]


def test_the_first_level_hears_of_it_at_once(clock: Clock, waiting: Proposal) -> None:
    assert escalation.sweep(clock.now) == 1
    assert escalation.sweep(clock.now) == 0

    assert told() == [
        ("slack-growth", "warning", "Waiting for lead: throttle on agent/scribe"),
    ]
    message = Delivery.objects.get()
    assert (message.proposal, message.state) == (waiting, "waiting")
    assert "scribe is beyond its limits." in message.body
    assert f"proposal/{waiting.pk}" in message.body
    waiting.refresh_from_db()
    assert (waiting.escalation, waiting.escalated_at) == (1, clock.now)


def test_silence_climbs_and_the_last_level_is_told_until_the_end(
    clock: Clock, waiting: Proposal
) -> None:
    """I-20"""
    escalation.sweep(clock.now)
    clock.advance(minutes=14)
    assert escalation.sweep(clock.now) == 0
    clock.advance(minutes=1)
    assert escalation.sweep(clock.now) == 1
    for _ in range(2):
        clock.advance(minutes=29)
        assert escalation.sweep(clock.now) == 0
        clock.advance(minutes=1)
        assert escalation.sweep(clock.now) == 1

    assert told()[1:] == [
        ("pagerduty", "error", "Escalated to duty-manager: throttle on agent/scribe"),
        ("pagerduty", "error", "Still waiting for duty-manager: throttle on agent/scribe"),
        ("pagerduty", "error", "Still waiting for duty-manager: throttle on agent/scribe"),
    ]


def test_only_that_somebody_is_asked_goes_without_saying(clock: Clock, waiting: Proposal) -> None:
    escalation.sweep(clock.now)
    escalation.sweep(clock.advance(minutes=15))

    said = LedgerEvent.objects.exclude(event_text.asked())

    climbed = said.filter(event="proposal.escalated")
    assert [each.payload["times"] for each in climbed] == [2]
    assert said.filter(event="resource.created").exists()


def test_each_step_is_in_the_ledger(clock: Clock, waiting: Proposal) -> None:
    escalation.sweep(clock.now)
    escalation.sweep(clock.advance(minutes=15))

    events = LedgerEvent.objects.filter(event="proposal.escalated").order_by("pk")
    assert [each.payload["level"] for each in events] == [1, 2]
    last = events[1]
    assert (last.stream, last.actor) == (waiting.stream, "system/ioa")
    assert (last.payload["role"], last.payload["channel"]) == ("duty-manager", "pagerduty")
    assert (last.payload["times"], last.correlation_id) == (2, "story")


def test_what_expires_unanswered_is_told_once_more(clock: Clock, waiting: Proposal) -> None:
    escalation.sweep(clock.now)
    clock.now = waiting.expires_at + timedelta(seconds=1)
    assert escalation.sweep(clock.now) == 0, "The clock has ended it, nobody can answer."
    Proposal.objects.update(state="expired", changed_at=clock.now)

    assert escalation.sweep(clock.now) == 1
    assert escalation.sweep(clock.advance(hours=1)) == 0

    assert told()[-1] == (
        "pagerduty",
        "critical",
        "Expired unanswered by duty-manager: throttle on agent/scribe",
    )


def test_a_recommendation_that_nobody_takes_up_troubles_nobody(clock: Clock) -> None:
    govern(clock, "growth-governance", "growth", *LADDER)
    row = proposal(clock, agent(clock), controller(clock), state="recommended", lane="recommend")
    escalation.sweep(clock.now)
    Proposal.objects.filter(pk=row.pk).update(state="expired", changed_at=clock.now)
    escalation.sweep(clock.now)

    assert told() == []


@pytest.mark.parametrize("state", ["approved", "rejected", "changes_requested", "converged"])
def test_an_answer_ends_it(clock: Clock, waiting: Proposal, state: str) -> None:
    escalation.sweep(clock.now)
    Proposal.objects.update(state=state)

    assert escalation.sweep(clock.advance(hours=2)) == 0
    assert channels() == ["slack-growth"]


def test_what_is_put_off_or_held_does_not_climb(clock: Clock, waiting: Proposal) -> None:
    escalation.sweep(clock.now)
    Proposal.objects.update(quiet_until=clock.now + timedelta(hours=2))
    assert escalation.sweep(clock.advance(hours=1)) == 0
    Proposal.objects.update(quiet_until=None, held="paused", held_reason="Paused by maya.")
    assert escalation.sweep(clock.advance(hours=1)) == 0
    Proposal.objects.update(held="", held_reason="")

    assert escalation.sweep(clock.now) == 1
    assert channels() == ["slack-growth", "pagerduty"]


def test_a_rest_that_somebody_asked_for_is_not_silence(clock: Clock, waiting: Proposal) -> None:
    escalation.sweep(clock.now)
    clock.advance(minutes=10)
    Proposal.objects.update(quiet_until=clock.now + timedelta(hours=2))
    clock.advance(hours=2, minutes=1)

    assert escalation.sweep(clock.now) == 0
    assert escalation.sweep(clock.advance(minutes=14)) == 1


def test_without_governance_it_stays_in_the_product(clock: Clock) -> None:
    proposal(clock, agent(clock), controller(clock))
    escalation.sweep(clock.now)
    escalation.sweep(clock.advance(days=1))

    assert told() == [("", "warning", "Waiting for people: throttle on agent/scribe")]
    assert Delivery.objects.get().state == "in_app"


def test_the_nearest_governance_that_declares_paths_counts(clock: Clock) -> None:
    govern(clock, "charter", "*", ("chief", "phone", "4h"))
    govern(clock, "base", "shared", ("keeper", "base-channel", "1h"))
    govern(clock, "growth", "growth", ("lead", "slack-growth", "1h"), extends="base")
    govern(clock, "finance", "finance", extends="base")
    govern(clock, "ring-a", "ops", extends="ring-b")
    govern(clock, "ring-b", "elsewhere", extends="ring-a")
    charter = Charter.read()

    found = {name: charter.paths(name)[0].role for name in ("growth", "finance", "ops", "other")}

    assert found == {"growth": "lead", "finance": "keeper", "ops": "chief", "other": "chief"}


def test_a_level_that_declares_no_time_waits_for_ever(clock: Clock) -> None:
    level = {"level": 1, "role": "lead", "channel": "ops"}
    govern(clock, "growth", "growth", escalation={"paths": [level]})
    proposal(clock, agent(clock), expires_at=clock.now + timedelta(days=400))
    escalation.sweep(clock.now)

    assert escalation.sweep(clock.advance(days=300)) == 0
    assert Charter.read().paths("growth") == (Path(1, "lead", "ops", ""),)


def test_many_with_one_cause_are_told_together(clock: Clock) -> None:
    govern(clock, "growth-governance", "growth", *LADDER)
    keeper = controller(clock)
    for number in range(7):
        proposal(clock, agent(clock, f"scribe-{number}"), keeper, cause="c" * 64)
    proposal(clock, agent(clock, "loner"), keeper, cause="d" * 64)

    assert escalation.sweep(clock.now) == 8

    assert [title for _, _, title in told()] == [
        "Waiting for lead: throttle on agent/scribe-0 and 6 more",
        "Waiting for lead: throttle on agent/loner",
    ]
    body = Delivery.objects.order_by("pk")[0].body
    assert "agent/scribe-4" in body
    assert "agent/scribe-5" not in body
    assert "And 2 more." in body
    assert LedgerEvent.objects.filter(event="proposal.escalated").count() == 8


def test_people_who_hold_a_role_of_that_name_are_named(clock: Clock) -> None:
    govern(clock, "growth", "growth", ("approver", "ops", "1h"))
    person(clock, "maya", "approver")
    person(clock, "tomas", "approver", domain="growth")
    person(clock, "fritz", "approver", domain="finance")
    person(clock, "vera", "viewer")
    proposal(clock, agent(clock))
    escalation.sweep(clock.now)

    assert "approver: maya, tomas" in Delivery.objects.get().body


def test_a_slow_answer_is_warned_of_once(clock: Clock) -> None:
    govern(clock, "growth", "growth", *LADDER, humanOverride={"maxResponseTime": "10m"})
    row = proposal(clock, agent(clock))
    escalation.sweep(clock.now)
    escalation.sweep(clock.advance(minutes=9))
    assert len(told()) == 1
    for _ in range(3):
        escalation.sweep(clock.advance(minutes=1))

    assert told()[1:] == [
        ("slack-growth", "warning", "Not answered within 10m: throttle on agent/scribe"),
    ]
    assert Delivery.objects.order_by("pk")[1].proposal == row


def test_slow_answers_are_warned_of_together_and_each_is_kept(clock: Clock) -> None:
    govern(clock, "growth", "growth", *LADDER, humanOverride={"maxResponseTime": "10m"})
    for number in range(3):
        proposal(clock, agent(clock, f"scribe-{number}"), cause="c" * 64)
    escalation.sweep(clock.now)
    for _ in range(2):
        escalation.sweep(clock.advance(minutes=11))

    slow = [each for each in told() if each[2].startswith("Not answered")]
    assert [channel for channel, _, _ in slow] == ["", "", "", "slack-growth"]
    assert slow[-1][2] == "Not answered within 10m: throttle on agent/scribe-0 and 2 more"


def test_a_switched_off_limit_is_none(clock: Clock) -> None:
    rule = {"enabled": False, "maxResponseTime": "10m"}
    govern(clock, "growth", "growth", humanOverride=rule)
    govern(clock, "charter", "*", humanOverride={"maxResponseTime": "1h"})

    assert Charter.read().patience("growth") == "1h"
    assert Charter.read().patience("elsewhere") == "1h"


def test_the_example_organisation_has_a_way_up_for_each_domain(clock: Clock) -> None:
    from controllers.worker import example_organisation

    example_organisation.load(clock.now)
    charter = Charter.read()

    assert [each.role for each in charter.paths("growth")] == [
        "growth-lead",
        "duty-manager",
        "chief-of-staff",
    ]
    assert charter.paths("unheard-of")[0].channel == "slack-ops"
    assert charter.patience("platform") == "5m"


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_many_workers_one_escalates(clock: Clock, waiting: Proposal) -> None:
    climbed = together([lambda: escalation.sweep(clock.now)] * 6)

    assert sum(climbed) == 1
    assert channels() == ["slack-growth"]
    assert LedgerEvent.objects.filter(event="proposal.escalated").count() == 1
    waiting.refresh_from_db()
    assert waiting.escalation == 1


def test_a_domain_answers_for_itself(clock: Clock) -> None:
    """The resource of a domain is covered by the domain's own governance."""
    from tests.resources.making import made

    assert apply(clock.now, made("Domain", "growth")).written
    govern(clock, "growth-governance", "growth", *LADDER)
    proposal(clock, live("Domain", "growth"))
    escalation.sweep(clock.now)

    assert channels() == ["slack-growth"]
