"""Two people for lowering a guard: one alone may raise it, and say that it should be lower."""

from __future__ import annotations

from typing import Any

import pytest

from resources.documents import kinds
from resources.documents.actor import SYSTEM, Actor
from resources.documents.differences import merge
from resources.documents.kind import Document
from resources.usecases import deletion, specs
from resources.usecases.specs import Applied, DesiredDocument
from tests.conftest import Clock
from tests.problems import refuses
from tests.resources.making import ALICE, ROBIN, everything, live, made, shown
from tests.rows import every_row

ALERT: Document = {"type": "alert", "severity": "error", "channels": ["slack-ops", "email-cto"]}
REPAIR = {"type": "reconcile", "operation": "scale-agents"}
PAUSE = {"type": "pause"}
CONTROLLER: Document = {
    "enforcementMode": "warn",
    "driftThreshold": 0.3,
    "approval": "required",
    "drift": {"dimensionThresholds": {"security": 0.5}},
    "actions": {"onDrift": [ALERT, REPAIR], "onError": [PAUSE], "onHealthy": [{"type": "log"}]},
}
BUDGET: Document = {
    "enforcement": "warn",
    "limits": {"tokens": {"daily": 100}},
    "alerts": [{"threshold": 0.8, "severity": "warning", "channels": ["slack-ops"]}],
}
POLICY: Document = {
    "enforcementMode": "warn",
    "agentIdentity": {"method": "token"},
    "zeroTrust": {"enabled": True, "verifyOnEveryCall": True},
    "promptInjectionDefense": {"onDetection": "warn"},
}
PATH: Document = {"level": 1, "role": "manager", "channel": "slack-ops", "timeout": "1h"}
BOARD: Document = {
    "name": "payments",
    "match": {"risks": ["medium", "high"], "reversible": False},
    "people": 2,
    "group": "board",
}
GOVERNANCE: Document = {
    "domain": "harbour",
    "audit": {"enabled": True, "level": "summary"},
    "humanOverride": {"enabled": True},
    "escalation": {"paths": [PATH]},
    "extends": "charter",
    "approvalPolicies": [BOARD],
}
TELEMETRY: Document = {
    "event": "harbour.ship_arrived",
    "category": "alert",
    "enforcementMode": "enforce",
}
# Whose documents need no more than this.
WHOLE = ("Governance", "Telemetry")
GUARDED: dict[str, Document] = {
    "Controller": CONTROLLER,
    "Budget": BUDGET,
    "SecurityPolicy": POLICY,
    "Governance": GOVERNANCE,
    "Telemetry": TELEMETRY,
}
Case = tuple[str, Document, str]


def within(name: str, *rules: Document) -> Document:
    return {"actions": {name: list(rules)}}


def approvals(**changes: Any) -> Document:
    """Declare the one policy with something else in it."""
    return {"approvalPolicies": [merge(BOARD, changes)]}


LOWERED: list[Case] = [
    ("Controller", {"enforcementMode": "advise"}, "/spec/enforcementMode"),
    ("Controller", {"enforcementMode": "observe"}, "/spec/enforcementMode"),
    ("Controller", {"driftThreshold": 0.31}, "/spec/driftThreshold"),
    ("Controller", {"approval": "auto"}, "/spec/approval"),
    (
        "Controller",
        {"drift": {"dimensionThresholds": {"security": 0.6}}},
        "/spec/drift/dimensionThresholds/security",
    ),
    ("Controller", {"drift": None}, "/spec/drift/dimensionThresholds/security"),
    ("Controller", {"actions": None}, "/spec/actions/onDrift"),
    ("Controller", within("onDrift", REPAIR), "/spec/actions/onDrift"),
    ("Controller", within("onDrift", ALERT | {"severity": "info"}), "/spec/actions/onDrift"),
    (
        "Controller",
        within("onDrift", ALERT | {"channels": ["slack-ops"]}),
        "/spec/actions/onDrift",
    ),
    ("Controller", within("onDrift", ALERT | {"type": "log"}), "/spec/actions/onDrift"),
    ("Controller", within("onError"), "/spec/actions/onError"),
    ("Budget", {"enforcement": "observe"}, "/spec/enforcement"),
    ("Budget", {"alerts": []}, "/spec/alerts"),
    ("Budget", {"alerts": [BUDGET["alerts"][0] | {"threshold": 0.9}]}, "/spec/alerts"),
    ("Budget", {"alerts": [BUDGET["alerts"][0] | {"severity": "info"}]}, "/spec/alerts"),
    ("SecurityPolicy", {"enforcementMode": "observe"}, "/spec/enforcementMode"),
    ("SecurityPolicy", {"agentIdentity": {"required": False}}, "/spec/agentIdentity/required"),
    ("SecurityPolicy", {"auditTrail": {"immutable": False}}, "/spec/auditTrail/immutable"),
    ("SecurityPolicy", {"zeroTrust": {"enabled": False}}, "/spec/zeroTrust/enabled"),
    (
        "SecurityPolicy",
        {"zeroTrust": {"verifyOnEveryCall": None}},
        "/spec/zeroTrust/verifyOnEveryCall",
    ),
    (
        "SecurityPolicy",
        {"promptInjectionDefense": {"enabled": False}},
        "/spec/promptInjectionDefense/enabled",
    ),
    (
        "SecurityPolicy",
        {"promptInjectionDefense": {"onDetection": "log"}},
        "/spec/promptInjectionDefense/onDetection",
    ),
    ("Telemetry", {"enforcementMode": "warn"}, "/spec/enforcementMode"),
    ("Telemetry", {"enforcementMode": None}, "/spec/enforcementMode"),
    ("Governance", {"audit": {"enabled": False}}, "/spec/audit/enabled"),
    ("Governance", {"audit": {"level": "none"}}, "/spec/audit/level"),
    ("Governance", {"humanOverride": None}, "/spec/humanOverride/enabled"),
    ("Governance", {"escalation": {"paths": []}}, "/spec/escalation/paths"),
    ("Governance", {"escalation": {"paths": [PATH | {"level": 2}]}}, "/spec/escalation/paths"),
    ("Governance", {"escalation": {"paths": [PATH | {"role": "cto"}]}}, "/spec/escalation/paths"),
    (
        "Governance",
        {"escalation": {"paths": [PATH | {"timeout": "2h"}]}},
        "/spec/escalation/paths",
    ),
    ("Governance", {"approvalPolicies": None}, "/spec/approvalPolicies"),
    ("Governance", approvals(people=1), "/spec/approvalPolicies"),
    ("Governance", approvals(people=None), "/spec/approvalPolicies"),
    ("Governance", approvals(people=3, group=None), "/spec/approvalPolicies"),
    ("Governance", approvals(group="friends"), "/spec/approvalPolicies"),
    ("Governance", approvals(match={"risks": ["high"]}), "/spec/approvalPolicies"),
    ("Governance", approvals(match={"kinds": ["Agent"]}), "/spec/approvalPolicies"),
    ("Governance", approvals(match={"reversible": True}), "/spec/approvalPolicies"),
    ("Governance", {"domain": "depot"}, "/spec/domain"),
    ("Governance", {"extends": "lax"}, "/spec/extends"),
    ("Governance", {"extends": None}, "/spec/extends"),
]
KEPT: list[tuple[str, Document]] = [
    ("Controller", {"enforcementMode": "enforce"}),
    ("Controller", {"driftThreshold": 0.2}),
    ("Controller", {"driftThreshold": None}),
    ("Controller", {"approval": None}),
    ("Controller", {"enforcementMode": None}),
    ("Controller", {"drift": {"dimensionThresholds": {"security": 0.4, "kpi": 0.9}}}),
    ("Controller", within("onDrift", ALERT)),
    ("Controller", within("onDrift", REPAIR, ALERT | {"severity": "critical"})),
    ("Controller", within("onDrift", ALERT | {"channels": [*ALERT["channels"], "pagerduty"]})),
    ("Controller", within("onHealthy")),
    ("Controller", {"reconcileInterval": "1m"}),
    ("Budget", {"enforcement": "enforce"}),
    ("Budget", {"limits": {"tokens": {"daily": 200}}}),
    ("Budget", {"alerts": [BUDGET["alerts"][0] | {"threshold": 0.5}]}),
    ("SecurityPolicy", {"enforcementMode": "enforce"}),
    ("SecurityPolicy", {"promptInjectionDefense": {"onDetection": "block"}}),
    ("SecurityPolicy", {"auditInterval": "7d"}),
    ("Governance", {"audit": {"level": "full"}}),
    ("Governance", {"domain": "*"}),
    ("Governance", approvals(name="money", people=3)),
    ("Governance", approvals(match=None)),
    ("Governance", approvals(match={"risks": ["low", "medium", "high"]})),
    ("Governance", {"approvalPolicies": [{"name": "all"}, BOARD]}),
    ("Governance", {"escalation": {"paths": [PATH | {"timeout": "30m"}, PATH | {"level": 2}]}}),
]


def document(kind: str, patch: Document | None = None) -> Document:
    """Make a document with every guard, and what a merge patch makes of its spec."""
    base = GUARDED[kind] if kind in WHOLE else made(kind, "guard", GUARDED[kind])["spec"]
    return {
        "apiVersion": "ioa.dev/v0.2",
        "kind": kind,
        "metadata": {"name": "guard"},
        "spec": merge(base, patch or {}),
    }


def write(clock: Clock, wanted: Document, by: Actor = ALICE, **options: Any) -> Applied:
    return specs.apply([DesiredDocument(wanted, **options)], actor=by, now=clock.now).results[0]


@pytest.mark.django_db
@every_row(("kind", "patch", "pointer"), LOWERED, rolled_back=True)
def test_nobody_lowers_a_guard_alone(
    clock: Clock, kind: str, patch: Document, pointer: str
) -> None:
    """I-92"""
    assert write(clock, document(kind)).action == "created"
    before = everything()

    result = write(clock, document(kind, patch))

    assert result.action == "refused"
    assert pointer in [each.pointer for each in result.problems]
    for problem in result.problems:
        assert problem.severity == "error"
        assert problem.message.endswith(
            ": that lowers a guard, so a second person has to approve it; propose it instead."
        )
    assert everything() == before


@pytest.mark.django_db
@every_row(("kind", "patch"), KEPT, rolled_back=True)
def test_one_person_may_raise_a_guard_and_change_what_is_none(
    clock: Clock, kind: str, patch: Document
) -> None:
    write(clock, document(kind))

    result = write(clock, document(kind, patch))

    assert (result.action, result.problems) == (
        "unchanged" if patch == {"enforcementMode": None} else "changed",
        (),
    )


@pytest.mark.django_db
@every_row(("kind", "patch", "pointer"), LOWERED, rolled_back=True)
def test_what_enough_people_approved_is_written(
    clock: Clock, kind: str, patch: Document, pointer: str
) -> None:
    write(clock, document(kind))

    assert write(clock, document(kind, patch), authorised=True).action == "changed"


@pytest.mark.django_db
@pytest.mark.parametrize("by", [ALICE, ROBIN, Actor("controller", "x"), Actor("policy", "x")])
def test_only_the_product_itself_needs_nobody(clock: Clock, by: Actor) -> None:
    write(clock, document("Controller"))
    lower = document("Controller", {"enforcementMode": "observe"})

    assert write(clock, lower, by).action == "refused"
    assert live("Controller", "guard").generation == 1
    assert write(clock, lower, SYSTEM).action == "changed"


@pytest.mark.django_db
def test_the_sentence_says_what_would_fall(clock: Clock) -> None:
    write(clock, document("Controller"))

    result = write(
        clock, document("Controller", {"enforcementMode": "advise", "driftThreshold": 0.5})
    )

    said = {each.pointer: each.message.partition(":")[0] for each in result.problems}
    assert said == {
        "/spec/enforcementMode": 'spec.enforcementMode would go from "warn" to "advise"',
        "/spec/driftThreshold": "spec.driftThreshold would go from 0.3 to 0.5",
    }


@pytest.mark.django_db
def test_a_new_resource_may_be_as_lenient_as_it_likes(clock: Clock) -> None:
    lenient = document("Controller", {"enforcementMode": "observe", "driftThreshold": 1})

    assert write(clock, lenient).action == "created"


@pytest.mark.django_db
def test_what_is_usual_counts_where_nothing_was_said(clock: Clock) -> None:
    bare = made("Controller", "guard")
    write(clock, bare)

    for patch, pointer in (
        ({"driftThreshold": 0.16}, "/spec/driftThreshold"),
        ({"enforcementMode": "advise"}, "/spec/enforcementMode"),
        ({"approval": "auto"}, "/spec/approval"),
    ):
        result = write(clock, made("Controller", "guard", patch))
        assert [each.pointer for each in result.problems] == [pointer]
    assert write(clock, made("Controller", "guard", {"driftThreshold": 0.15})).action == "changed"


@pytest.mark.django_db
def test_a_dry_run_says_so_too_and_the_rest_of_a_set_waits_or_goes_on(clock: Clock) -> None:
    write(clock, document("Controller"))
    wishes = [
        DesiredDocument(document("Controller", {"enforcementMode": "observe"})),
        DesiredDocument(made("Domain", "harbour")),
    ]

    dry = specs.apply(wishes, actor=ALICE, now=clock.now, dry_run=True)
    whole = specs.apply(wishes, actor=ALICE, now=clock.now)
    rest = specs.apply(wishes, actor=ALICE, now=clock.now, keep_going=True)

    assert [each.action for each in dry.results] == ["refused", "created"]
    assert (whole.written, rest.written) == (False, True)
    assert shown("Controller", "guard")["spec"]["enforcementMode"] == "warn"
    assert live("Domain", "harbour")


@pytest.mark.parametrize("kind", [kind for kind in kinds.ALL if kind.name not in GUARDED])
def test_other_kinds_have_no_guards(kind: Any) -> None:
    assert list(kind.lowered({"spec": {"enforcementMode": "enforce"}}, {"spec": {}})) == []


@pytest.mark.django_db
def test_deleting_is_no_way_around_an_approval_policy(clock: Clock) -> None:
    assert write(clock, document("Governance")).action == "created"

    with refuses("blocked", match=r"spec.approvalPolicies of governance/guard"):
        deletion.delete("Governance", "guard", actor=ALICE, now=clock.now)

    without = document("Governance", {"approvalPolicies": None})
    assert write(clock, without, authorised=True).action == "changed"
    assert deletion.delete("Governance", "guard", actor=ALICE, now=clock.now)
