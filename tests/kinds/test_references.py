"""The twenty-two rules about names that must exist."""

from __future__ import annotations

from typing import Any

import pytest

from resources.documents.kind import Fault
from resources.documents.validation import check, cross_check
from tests.kinds.samples import GONE, ORGANISATION, organisation, sample
from tests.rows import every_row

REFERENCES = [
    ("1", "error", "Agent", "/spec/domain", "Domain"),
    ("2", "error", "Decision", "/spec/domain", "Domain"),
    ("3", "error", "Telemetry", "/spec/source/domain", "Domain"),
    ("4", "error", "Telemetry", "/spec/source/agent", "Agent"),
    ("5", "error", "Workflow", "/spec/domainsInvolved/0", "Domain"),
    ("6", "error", "Workflow", "/spec/steps/1/agent", "Agent"),
    ("7", "error", "Governance", "/spec/domain", "Domain"),
    ("8", "warning", "Domain", "/spec/agents/1", "Agent"),
    ("9", "warning", "Domain", "/spec/budgetRef", "Budget"),
    ("10", "warning", "Domain", "/spec/securityPolicyRef", "SecurityPolicy"),
    ("11", "warning", "Memory", "/spec/sourceAgent", "Agent"),
    ("11", "warning", "Memory", "/spec/sourceDomain", "Domain"),
    ("12", "error", "Workflow", "/spec/compensation/0/agent", "Agent"),
    ("14", "error", "Governance", "/spec/extends", "Governance"),
    ("15", "warning", "Decision", "/spec/relatedWorkflow", "Workflow"),
    ("15", "warning", "Decision", "/spec/supersededBy", "Decision"),
    ("16", "info", "Agent", "/spec/governance/escalatesTo", "Agent"),
    ("17", "error", "Budget", "/spec/domain", "Domain"),
    ("17", "warning", "Budget", "/spec/agents/0/name", "Agent"),
    ("18", "warning", "SecurityPolicy", "/spec/domain", "Domain"),
    ("18", "warning", "SecurityPolicy", "/spec/dataScopes/0/allowedAgents/0", "Agent"),
    ("18", "warning", "SecurityPolicy", "/spec/dataScopes/0/resource", "asset"),
    ("19", "warning", "Memory", "/spec/references/0/name", "Decision"),
    ("19", "warning", "Memory", "/spec/supersedes", "Memory"),
    ("20", "info", "Agent", "/spec/triggers/0/event", "event"),
    ("20", "info", "Workflow", "/spec/trigger/event", "event"),
    ("20", "info", "Domain", "/spec/events/produces/0", "event"),
    ("20", "info", "Domain", "/spec/events/consumes/0", "event"),
    ("21", "info", "Telemetry", "/spec/metricsImpacted/0", "kpi"),
    ("21", "info", "Decision", "/spec/kpiImpact/0/kpi", "kpi"),
]
MESSAGES = {
    "asset": 'no Domain owns data called "ghost"',
    "event": 'no Telemetry describes the event "ghost"',
    "kpi": 'no Domain has a KPI called "ghost"',
}


def found(changed: dict[str, Any], known: set[tuple[str, str]] | None = None) -> list[Fault]:
    return cross_check(organisation(changed), known or set())[0]


def test_an_organisation_whose_names_all_resolve_has_no_problem() -> None:
    assert cross_check(ORGANISATION, set()) == [[] for _ in ORGANISATION]


@every_row(("rule", "severity", "kind", "pointer", "target"), REFERENCES)
def test_a_dangling_reference_is_reported_with_its_rule(
    rule: str, severity: Any, kind: str, pointer: str, target: str
) -> None:
    """I-101"""
    document = sample(kind, {pointer: "ghost"})

    [problem] = found(document)

    expected = MESSAGES.get(target, f'{target} "ghost" does not exist')
    if rule == "16":
        expected = '"ghost" is no Agent, so it is taken for the role of a person'
    assert problem == Fault(pointer, expected, severity, rule)


@every_row(("rule", "severity", "kind", "pointer", "target"), REFERENCES)
def test_a_name_known_outside_the_set_resolves(
    rule: str, severity: str, kind: str, pointer: str, target: str
) -> None:
    document = sample(kind, {pointer: "ghost"})

    assert found(document, {(target, "ghost")}) == []


@pytest.mark.parametrize("kind", ["Governance", "SecurityPolicy"])
def test_a_policy_may_stand_for_every_domain(kind: str) -> None:
    assert found(sample(kind, {"/spec/domain": "*"})) == []


@pytest.mark.parametrize("kind", ["Agent", "Decision", "Budget"])
def test_nothing_else_may(kind: str) -> None:
    [problem] = found(sample(kind, {"/spec/domain": "*"}))

    assert problem.message == 'Domain "*" does not exist'


@pytest.mark.parametrize("event", ["harbour.ship-berthed", "harbour.ship_berthed"])
def test_event_names_match_with_hyphens_and_with_underscores(event: str) -> None:
    """X-11"""
    assert found(sample("Agent", {"/spec/triggers/0/event": event})) == []


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({}, []),
        (
            {"/spec/compensation/0/step": "ghost"},
            [
                (
                    "/spec/compensation/0/step",
                    "12",
                    'must name a step of this workflow; "ghost" is none',
                )
            ],
        ),
        (
            {"/spec/steps/2/dependsOn/1": "ghost"},
            [
                (
                    "/spec/steps/2/dependsOn/1",
                    "13",
                    'must name a step of this workflow; "ghost" is none',
                )
            ],
        ),
        (
            {"/spec/steps/1/dependsOn": ["record"]},
            [
                (
                    "/spec/steps/1/dependsOn",
                    "13",
                    "must not go round in a circle: the step never runs",
                ),
                (
                    "/spec/steps/2/dependsOn",
                    "13",
                    "must not go round in a circle: the step never runs",
                ),
            ],
        ),
        (
            {"/spec/steps/1/dependsOn": ["berth"], "/spec/steps/2/dependsOn": ["plan"]},
            [
                (
                    "/spec/steps/1/dependsOn",
                    "13",
                    "must not go round in a circle: the step never runs",
                )
            ],
        ),
        (
            {"/spec/steps/0/dependsOn": ["record"]},
            [
                ("/spec/steps", "13", "must have a step that depends on no other"),
                (
                    "/spec/steps/0/dependsOn",
                    "13",
                    "must not go round in a circle: the step never runs",
                ),
                (
                    "/spec/steps/1/dependsOn",
                    "13",
                    "must not go round in a circle: the step never runs",
                ),
                (
                    "/spec/steps/2/dependsOn",
                    "13",
                    "must not go round in a circle: the step never runs",
                ),
            ],
        ),
        (
            {"/spec/steps/0/name": "record"},
            [
                (
                    "/spec/steps/1/dependsOn/0",
                    "13",
                    'must name a step of this workflow; "plan" is none',
                ),
                (
                    "/spec/steps/2/dependsOn/0",
                    "13",
                    'must name a step of this workflow; "plan" is none',
                ),
                ("/spec/steps/2/name", "13", 'must be unique: another step is "record"'),
            ],
        ),
    ],
)
def test_steps_form_a_graph_that_can_run(
    changes: dict[str, Any], problems: list[tuple[str, str, str]]
) -> None:
    document = sample("Workflow", changes)

    assert check(document) == [
        Fault(pointer, message, rule=rule) for pointer, rule, message in problems
    ]


def test_a_long_chain_of_steps_is_fine() -> None:
    steps = [
        {
            "name": f"step-{number}",
            "agent": "pilot",
            "action": "go",
            "dependsOn": [f"step-{number - 1}"],
        }
        for number in range(3000)
    ]
    del steps[0]["dependsOn"]

    assert check(sample("Workflow", {"/spec/steps": steps, "/spec/compensation": GONE})) == []


@pytest.mark.parametrize(
    ("shares", "fits"),
    [
        ([0.7, 0.3], True),
        ([0.1] * 10, True),
        ([0.7, 0.3000001], False),
        ([1, 0.5], False),
        ([], True),
    ],
)
def test_a_budget_shares_out_at_most_the_whole(shares: list[float], fits: bool) -> None:
    agents = [{"name": "pilot", "allocation": share} for share in shares]

    problems = check(sample("Budget", {"/spec/agents": agents}))

    assert [(each.pointer, each.rule) for each in problems] == (
        [] if fits else [("/spec/agents", "17")]
    )


def test_governance_may_not_extend_itself_through_others() -> None:
    rules = {
        name: sample("Governance", {"/metadata/name": name, "/spec/extends": extends})
        for name, extends in [("a", "b"), ("b", "c"), ("c", "b"), ("d", "d"), ("e", "outside")]
    }

    problems = cross_check([*rules.values(), *ORGANISATION], {("Governance", "outside")})

    def circle(parent: str) -> list[Fault]:
        message = f'must not lead back here, as it does through "{parent}"'
        return [Fault("/spec/extends", message, rule="14")]

    assert problems[:5] == [[], circle("c"), circle("b"), circle("d"), []]


def test_a_long_line_of_governance_is_fine() -> None:
    rules = [
        sample("Governance", {"/metadata/name": f"r-{number}", "/spec/extends": f"r-{number - 1}"})
        for number in range(2000)
    ]
    del rules[0]["spec"]["extends"]

    assert not any(cross_check([*rules, *ORGANISATION], set()))


def test_a_name_used_twice_in_the_set_is_an_error() -> None:
    """I-08"""
    twin = sample("Agent")

    problems = cross_check([*ORGANISATION, twin], set())

    message = "must be unique: another Agent here has this name"
    assert problems[-1] == [Fault("/metadata/name", message)]
    assert not any(problems[:-1])


def test_kinds_may_share_a_name() -> None:
    agent = sample("Agent", {"/metadata/name": "harbour"})

    assert cross_check([agent, *ORGANISATION], set())[0] == []


def test_documents_may_come_in_any_order() -> None:
    assert cross_check(ORGANISATION[::-1], set()) == [[] for _ in ORGANISATION]


@pytest.mark.parametrize("value", [None, [], 3, {}, {"kind": []}, {"kind": "Agent", "spec": "x"}])
def test_crossing_never_fails_on_what_is_no_document(value: Any) -> None:
    assert cross_check([value], set()) == [[]]
