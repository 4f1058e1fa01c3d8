"""The controller of section 2.1, word for word, and a small organisation for it to watch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from controllers.engine.terms import Action, Controller, Result, Snapshot
from controllers.workqueue.cycle_effects import Effects
from resources.documents.actor import SYSTEM
from resources.documents.kind import Document
from resources.documents.yaml_text import read_yaml
from resources.usecases import statuses
from tests.conftest import Clock
from tests.controllers.making import declare
from tests.resources.making import made

CONTROLLER = """\
apiVersion: ioa.dev/v0.2
kind: Controller
metadata:
  name: domain-health-controller
  owner:
    name: "Platform Team"
    role: infrastructure
spec:
  targetKind: Domain
  targetSelector:
    matchLabels:
      tier: production
  reconcileInterval: "5m"
  driftThreshold: 0.15
  actions:
    onDrift:
      - type: alert
        severity: warning
        channels: ["slack-ops"]
      - type: reconcile
        strategy: gradual
    onError:
      - type: alert
        severity: critical
        channels: ["pagerduty"]
      - type: pause
        reason: "Manual investigation required"
    onHealthy:
      - type: log
        level: info
  hooks:
    preReconcile:
      - name: validate-budget
        action: "check budget.status.utilizationRate < 0.9"
      - name: check-security-policy
        action: "verify securityPolicy.status.violations == 0"
    postReconcile:
      - name: emit-telemetry
        event: "controller.reconciliation-completed"
      - name: update-dashboard
        action: "refresh domain.status.lastEvaluation"
  enforcementMode: warn    # enforce | warn | advise | observe
status:
  lastReconcile: "2026-02-25T10:00:00Z"
  reconcileCount: 142
  driftDetected: false
  lastDriftAt: "2026-02-24T15:30:00Z"
  actionsPerformed:
    - type: reconcile
      target: "domain/product"
      at: "2026-02-24T15:30:00Z"
      result: success
  healthyResources: 3
  unhealthyResources: 0
  conditions:
    - type: Reconciling
      status: "False"
      reason: AllHealthy
      message: "All 3 domains are healthy"
      lastTransitionTime: "2026-02-25T10:00:00Z"
"""
NAME = "domain-health-controller"
# The condition it writes on the domains it watches.
CONVERGED = "DomainHealthControllerConverged"
DOMAINS = ("product", "growth", "analytics")
KPIS = ("orders", "margin", "returns")


def controller(**spec: Any) -> Document:
    """Return the controller of the specification, with some fields of its spec replaced."""
    document: Document = read_yaml(CONTROLLER)
    document["spec"] |= spec
    return document


def domain(name: str, *, tier: str = "production", **spec: Any) -> Document:
    """Make a domain whose health, three KPIs, budget and policy are in order."""
    targets = [
        {"name": each, "target": {"operator": "gte", "value": 10, "unit": ""}} for each in KPIS
    ]
    declared = {"kpis": targets, "budgetRef": "shared-budget"} | spec
    status = {"health": "healthy", "kpis": readings(missed=0)}
    return made("Domain", name, declared, metadata={"labels": {"tier": tier}}, status=status)


def budget() -> Document:
    """Make a budget of 100 of which half is spent."""
    limits = {"cost": {"quarterly": 100, "currency": "EUR"}}
    status = {"consumed": {"cost": 50, "currency": "EUR"}, "utilizationRate": 0.5}
    return made("Budget", "shared-budget", {"domain": "product", "limits": limits}, status=status)


def policy() -> Document:
    """Make a policy of four rules for every domain, and nobody breaks them."""
    rules = {
        "agentIdentity": {"required": True, "method": "token"},
        "zeroTrust": {"enabled": True},
        "auditTrail": {"immutable": True},
        "promptInjectionDefense": {"enabled": True},
    }
    return made(
        "SecurityPolicy", "shared-policy", {"domain": "*"} | rules, status={"violations": 0}
    )


def found(clock: Clock, **spec: Any) -> None:
    """Declare the whole organisation with its controller."""
    domains = (domain(name) for name in DOMAINS)
    declare(clock, *domains, budget(), policy(), controller(**spec))


def readings(missed: int) -> list[Document]:
    """Return observations of the three KPIs, of which some miss their target."""
    return [
        {"name": name, "value": 9 if number < missed else 11} for number, name in enumerate(KPIS)
    ]


def observe(clock: Clock, kind: str, name: str, status: Document) -> None:
    """Report a status; it must be taken."""
    told = statuses.Report(kind, name, status)
    assert not statuses.observe([told], actor=SYSTEM, now=clock.now)[0].failed


def miss(clock: Clock, name: str, missed: int = 2) -> None:
    """Let a domain miss some of its three KPIs: two are a drift of 0.2."""
    observe(clock, "Domain", name, {"kpis": readings(missed)})


def understaff(clock: Clock) -> None:
    """Leave a domain with one of its two agents, and unwell."""
    agents = ["ada", "bo"]
    staff = (made("Agent", name, {"domain": "product"}) for name in agents)
    declare(clock, domain("product", agents=agents), *staff)
    observe(clock, "Domain", "product", {"activeAgents": 1, "health": "critical"})


def scaling(clock: Clock) -> Callable[[Controller], Effects]:
    """Return means that can scale agents, as nothing else can yet."""

    class Scaling(Effects):
        def perform(self, action: Action, snapshot: Snapshot) -> Result:
            if action.operation != "scale-agents":
                return super().perform(action, snapshot)
            at_work = {"activeAgents": action.parameters["to"]}
            observe(clock, "Domain", snapshot.target.name, at_work)
            return "success"

    return Scaling
