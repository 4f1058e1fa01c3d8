"""Proposals in words: what, why, how grave, what follows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers import operations
from controllers.models import Proposal
from controllers.narrative import proposal_text
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.decisions import making
from tests.rows import every_row

pytestmark = pytest.mark.sqlite


def proposed(operation: str, parameters: dict[str, Any], name: str = "scribe") -> Proposal:
    """Return a proposal that is not written down."""
    plan = {"sequence": 1, "operation": operation, "parameters": parameters, "reversible": True}
    return Proposal(resource=Resource(kind="Agent", name=name), actions=[plan], reversible=True)


TITLES = [
    ("throttle", {"factor": 0.58}, "Throttle scribe to 58% of its daily tokens"),
    ("throttle", {"factor": 1}, "Give scribe its full daily tokens back"),
    (
        "throttle-agents",
        {"agents": ["ada"], "factor": 0.5},
        "Throttle ada to 50% of its daily tokens, for scribe",
    ),
    (
        "throttle-agents",
        {"domain": "growth", "factor": 0.5},
        "Throttle the agents of growth to 50% of their daily tokens, for scribe",
    ),
    ("pause", {}, "Pause scribe"),
    ("resume", {}, "Resume scribe"),
    ("restart", {}, "Restart scribe"),
    ("refresh-status", {}, "Ask scribe to report again"),
    ("block-spend", {}, "Block spending from scribe"),
    ("unblock-spend", {}, "Allow spending from scribe"),
    (
        "block-operations",
        {"agents": ["ada"], "operations": ["write", "delete"]},
        "Block write and delete of ada under scribe",
    ),
    ("block-operations", {}, "Block every operation of all agents under scribe"),
    ("unblock-operations", {}, "Lift the block of scribe for all agents"),
    (
        "revoke-data-scope",
        {"agent": "ada", "resource": "ledger"},
        "Revoke ada’s access to ledger",  # noqa: RUF001
    ),
    ("grant-data-scope", {"agent": "ada", "resource": "ledger"}, "Give ada access to ledger"),
    ("start", {}, "Start a new run of scribe"),
    ("retry", {"steps": ["offer"]}, "Retry step offer of scribe"),
    ("compensate", {"run": "run-1"}, "Compensate scribe run-1"),
    ("abort", {}, "Abort scribe"),
    (
        "pass-gate",
        {"run": "12", "step": "release"},
        "Let run 12 of scribe pass release",
    ),
    ("archive", {}, "Archive scribe"),
    ("restore", {"to": "active"}, "Bring scribe back as active"),
    ("archive-memory", {}, "Archive scribe"),
    ("supersede-memory", {}, "Mark scribe as superseded"),
    ("expire-memory", {}, "Expire scribe"),
    ("restore-memory", {"to": "active"}, "Bring scribe back as active"),
    ("scale-agents", {"from": 3, "to": 5}, "Scale scribe from 3 to 5 active agents"),
    ("modify-spec", {"patch": {"mode": "warn"}}, "Set mode of scribe to warn"),
    ("modify-spec", {"patch": {"a": {"b": 1}, "c": None}}, "Change a.b and c of scribe"),
    ("modify-spec", {"patch": {"c": None}}, "Remove c from scribe"),
    (
        "permit-operation",
        {"by": "ada", "operation": "write", "on": "asset/ledger", "tokens": 1_500},
        "Let ada write ledger once, for 1,500 tokens",
    ),
    (
        "grant-autonomy",
        {"operation": "throttle", "domain": "growth"},
        "Let scribe throttle in growth without asking",
    ),
    ("take-over", {}, "Put scribe under supervision"),
    ("release", {"type": "autonomous"}, "Let scribe act as autonomous again"),
]


@every_row(("operation", "parameters", "title"), TITLES)
def test_a_title_says_what_would_be_done(
    operation: str, parameters: dict[str, Any], title: str
) -> None:
    assert proposal_text.title(proposed(operation, parameters)) == title
    assert proposal_text.question(proposed(operation, parameters)) == f"{title}?"


def test_every_operation_that_can_be_proposed_has_a_title_of_its_own() -> None:
    known = {each[0] for each in TITLES}

    assert {each.name for each in operations.ALL if not each.tells} == known


def test_several_actions_are_joined() -> None:
    two = proposed("pause", {})
    two.actions.append({"operation": "restart", "parameters": {}})
    assert proposal_text.title(two) == "Pause scribe and restart scribe"
    two.actions.append({"operation": "resume", "parameters": {}})
    assert proposal_text.title(two) == "Pause scribe and restart scribe, and 1 more"


def test_an_operation_nobody_knows_breaks_nothing(db: None, clock: Clock) -> None:
    strange = making.proposal(
        clock, making.agent(clock), actions=[making.action(operation="dance", parameters={})]
    )

    assert proposal_text.title(strange) == "Change scribe"
    assert proposal_text.deeds(strange, clock.now)[0].fault == "Nobody knows the operation dance."


def evidence(dimension: str, subject: str, desired: Any, observed: Any, note: str = "") -> Any:
    """Write a piece of evidence."""
    found = {"dimension": dimension, "subject": subject, "verdict": "missed", "note": note}
    return found | {"desired": desired, "observed": observed}


FACTS = [
    (evidence("kpi", "kpi/errorRate", "<= 0.02 ratio", 0.061), "2% or less", "6.1%", "3 times"),
    (evidence("kpi", "kpi/x", "<= 0.1 ratio", 0.14), "10% or less", "14%", "40% over"),
    (evidence("kpi", "kpi/x", ">= 0.7 ratio", 0.52), "70% or more", "52%", "26% under"),
    (evidence("kpi", "kpi/x", "< 3 s", 126), "under 3 s", "126 s", "42 times"),
    (evidence("kpi", "kpi/x", "> 5", None), "over 5", "not reported", "not known"),
    (
        evidence("budget", "budget/tokens", "<= 50,000,000 tokens", 85_640_000),
        "50,000,000 tokens or less",
        "85,640,000 tokens",
        "71% over",
    ),
    (evidence("budget", "budget/x", "<= 0 EUR", 4), "0 EUR or less", "4 EUR", "4 too many"),
    (evidence("health", "condition/Ready", "True", "False"), "Yes", "No", "not met"),
    (evidence("security", "policy/p", 0, 4, "of 9 rules"), "none", "4", "4 too many"),
    (evidence("field", "field/spec.model", "a", "b"), "a", "b", "not as declared"),
]


@every_row(("given", "desired", "actual", "gap"), FACTS)
def test_evidence_says_desired_actual_and_how_far_apart(
    given: Any, desired: str, actual: str, gap: str
) -> None:
    fact = proposal_text.facts([given])[0]

    assert (fact.desired, fact.actual, fact.gap) == (desired, actual, gap)


def test_a_field_is_named_in_words_and_as_the_product_names_it() -> None:
    rate, model = proposal_text.facts(
        [evidence("kpi", "kpi/errorRate", "", ""), evidence("field", "field/spec.model", "", "")]
    )

    assert (rate.label, rate.path) == ("Error rate", "kpi/errorRate")
    assert (model.label, model.path) == ("Model", "spec.model")


def test_the_reason_is_one_clause_with_a_number() -> None:
    row = proposed("pause", {})
    row.evidence = [
        evidence("kpi", "kpi/errorRate", "<= 0.02 ratio", 0.061),
        evidence("health", "condition/Ready", "True", "False", "Sleeps."),
        evidence("budget", "budget/monthly tokens", "<= 50 tokens", 85),
    ]
    assert (
        proposal_text.why(row) == "Monthly tokens 70% over, error rate is 6.1%, wanted 2% or less"
    )

    row.evidence = []
    row.explanation = "It costs 80 EUR a day. Nobody uses it."
    assert proposal_text.why(row) == "It costs 80 EUR a day"


def test_what_an_agent_says_is_told_as_its_own_words() -> None:
    row = proposed("pause", {})
    row.proposer, row.explanation = "agent/scribe", "Press \u202eyes\u202c.\nMaya agreed."
    assert proposal_text.why(row) == "scribe says “Press [U+202E]yes[U+202C]”"

    row.policy = {"wordedHere": True}
    row.explanation = "Write needs a person."
    assert proposal_text.why(row) == "Write needs a person"


@every_row(
    ("fields", "word"),
    [
        ({"state": "pending"}, "Open"),
        ({"state": "pending", "people": 2}, "Approved (1 of 2)"),
        ({"state": "pending", "expires_at": timedelta(-1)}, "Lapsed"),
        ({"state": "pending", "quiet_until": timedelta(1)}, "Snoozed"),
        ({"state": "executing"}, "Running"),
        ({"state": "approved", "undoing": True}, "Being undone"),
        ({"state": "rejected", "answer": "accept"}, "Accepted as it is"),
        ({"state": "rejected", "answer": "reject"}, "Rejected"),
        ({"state": "rolled_back"}, "Rolled back"),
    ],
)
def test_each_state_has_one_word(clock: Clock, fields: dict[str, Any], word: str) -> None:
    usual = {"expires_at": timedelta(1), "people": 1}
    moments = {
        name: clock.now + value if isinstance(value, timedelta) else value
        for name, value in (usual | fields).items()
    }
    row = Proposal(**moments)

    assert proposal_text.state(row, clock.now, 1 if row.people > 1 else 0).text == word


def test_what_an_approval_brings_about_is_worked_out_from_what_is_declared(
    db: None, clock: Clock
) -> None:
    row = making.proposal(clock, making.agent(clock))

    said = proposal_text.if_approved(row, proposal_text.deeds(row, clock.now))

    assert said == (
        "Sets tokenBudget.maxDaily of scribe from 1,000,000 to 500,000."
        " It can be undone for 24 h after it ran."
    )
    assert proposal_text.if_nothing(row) == "scribe goes on."


def test_what_cannot_be_done_says_so(db: None, clock: Clock) -> None:
    row = making.proposal(clock, making.agent(clock, tokenBudget={}))

    said = proposal_text.if_approved(row, proposal_text.deeds(row, clock.now))

    assert said.startswith("As things stand it cannot be done: agent/scribe declares no daily")


def test_a_person_is_called_by_their_name(db: None) -> None:
    User.objects.create(username="maya", first_name="Maya", last_name="Chen")

    known = proposal_text.names(["person/maya", "person/gone", "controller/keeper", ""])

    assert known == {
        "person/maya": "Maya Chen",
        "person/gone": "gone",
        "controller/keeper": "keeper",
    }


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "1 of 4 objectives misses its target: errorRate is 0.061 (wanted <= 0.02 ratio).",
            "1 of 4 objectives misses its target: error rate is 6.1% (wanted 2% or less).",
        ),
        (
            "monthly-churn is -6 (wanted < 5 percent) and reply-time is 41 (wanted <= 15 min)",
            "Monthly churn is -6% (wanted under 5%) and reply time is 41 min "
            "(wanted 15 min or less)",
        ),
        ("Ready is False (It sleeps (again).); more", "It sleeps (again); more"),
        ("The step is False and x is 1 (wanted = )", "The step is False and x is 1 (wanted = )"),
        ("", ""),
    ],
)
def test_a_judgement_is_told_without_operators_and_names_of_the_product(
    message: str, told: str
) -> None:
    assert proposal_text.plainly(message) == told
