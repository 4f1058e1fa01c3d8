"""What a controller's document may say, and what the product says when it may not."""

from __future__ import annotations

from typing import Any

import pytest
from httpx import Response

from tests.journeys.product import Product
from tests.promises.callers import Person, until
from tests.promises.organisation import agent, controller, document, domain

pytestmark = [pytest.mark.product, pytest.mark.full]

SEED = """\
apiVersion: ioa.dev/v0.2
kind: Controller
metadata:
  name: domain-health-controller
  owner:
    name: Platform Team
    role: platform-engineering
  labels:
    tier: infrastructure
spec:
  targetKind: Domain
  targetSelector:
    matchLabels:
      tier: production
  reconcileInterval: 5m
  driftThreshold: 0.15
  actions:
    onDrift:
    - type: alert
      severity: warning
      channels:
      - slack-ops
    - type: reconcile
      strategy: gradual
    onError:
    - type: alert
      severity: critical
      channels:
      - pagerduty
    - type: pause
      reason: Stopped after an error
    onHealthy:
    - type: log
      level: info
  hooks:
    preReconcile:
    - name: check-budget
      action: check budget.status.utilizationRate < 0.9
    postReconcile:
    - name: tell
      event: controller.reconciliation-completed
  enforcementMode: warn
"""


def put(admin: Person, name: str, **spec: Any) -> Response:
    """Declare a controller that watches nobody."""
    return admin.call(
        "PUT", f"resources/controller/{name}", controller(name, "Agent", "x", **spec)
    )


def refused(answer: Response) -> tuple[int, str]:
    """Return how a document was refused, and where."""
    return answer.status_code, answer.json().get("pointer", "")


def test_a_controller_is_a_document_like_any_other(admin: Person, product: Product) -> None:
    """I-06 X-10"""
    said = product.run("apply", "-f", "-", text=SEED)
    assert said.returncode == 0, said.stderr

    read = admin.get("resources/controller/domain-health-controller", Accept="application/yaml")
    kept = product.run("get", "controller", "domain-health-controller", "-o", "yaml").stdout

    spec = SEED[SEED.index("spec:") :]
    for line in spec.splitlines():
        assert line.strip() in read.text, line
        assert line.strip() in kept, line
    listed = admin.items("resources/controller?labelSelector=tier%3Dinfrastructure")
    assert [each["metadata"]["name"] for each in listed] == ["domain-health-controller"]


def test_an_owner_is_a_name_or_an_object(admin: Person) -> None:
    """I-07"""
    owners: list[Any] = ["Ana", {"name": "Ana", "role": "lead"}]
    for number, owner in enumerate(owners):
        named = document("Domain", f"owned-{number}", {"purpose": "Ships."}, owner=owner)
        assert admin.call("PUT", f"resources/domain/owned-{number}", named).status_code == 201
        assert admin.resource(f"domain/owned-{number}")["metadata"]["owner"] == owner


def test_a_name_is_kebab_case_and_there_once(admin: Person) -> None:
    """I-08"""
    bad = admin.call("PUT", "resources/domain/Bad_Name", domain("Bad_Name"))
    assert bad.status_code == 400
    once = admin.call("PUT", "resources/domain/once", domain("once"), If_None_Match="*")
    again = admin.call("PUT", "resources/domain/once", domain("once"), If_None_Match="*")

    assert (once.status_code, again.status_code) == (201, 409)


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("reconcileInterval", "5 minutes", "/spec/reconcileInterval"),
        ("reconcileInterval", "-1m", "/spec/reconcileInterval"),
        ("reconcileInterval", "0s", "/spec/reconcileInterval"),
        ("driftThreshold", 1.01, "/spec/driftThreshold"),
        ("driftThreshold", -0.1, "/spec/driftThreshold"),
        ("enforcementMode", "strict", "/spec/enforcementMode"),
        ("targetKind", "Foo", "/spec/targetKind"),
    ],
)
def test_a_value_that_cannot_be_is_refused_where_it_stands(
    admin: Person, field: str, value: Any, pointer: str
) -> None:
    """I-11 I-12 I-28 I-36"""
    assert refused(put(admin, "never", **{field: value})) == (400, pointer)


def test_a_severity_is_one_of_four(admin: Person) -> None:
    """I-15"""
    fatal = put(admin, "never", actions={"onDrift": [{"type": "alert", "severity": "fatal"}]})
    assert refused(fatal) == (400, "/spec/actions/onDrift/0/severity")

    for severity in ("info", "warning", "error", "critical"):
        own = {"onDrift": [{"type": "alert", "severity": severity}]}
        assert put(admin, f"rings-{severity}", actions=own).status_code == 201


def test_intervals_thresholds_and_modes_are_taken(admin: Person) -> None:
    """I-11 I-12 I-28"""
    for interval in ("5m", "1h", "24h"):
        assert put(admin, f"every-{interval}", reconcileInterval=interval).status_code == 201
    for mode in ("enforce", "warn", "advise", "observe"):
        assert put(admin, f"mode-{mode}", enforcementMode=mode).status_code == 201


def test_known_kinds_are_named_to_whoever_targets_another(admin: Person) -> None:
    """I-36"""
    said = put(admin, "never", targetKind="Foo").json()["detail"]

    for kind in ("Domain", "Agent", "Budget", "SecurityPolicy", "Workflow", "Decision"):
        assert kind in said


@pytest.mark.quick
def test_a_controller_with_the_required_fields_alone_runs(admin: Person) -> None:
    """I-37"""
    spec = {"targetKind": "Agent", "targetSelector": {}, "reconcileInterval": "1h"}
    bare = document("Controller", "bare", {**spec, "enforcementMode": "observe"})
    admin.apply(domain("plain"), agent("first", "plain"), bare)
    admin.report("agent/first", {"errorRate": 0.01})

    assert admin.reconcile("bare")["counts"]["watched"] >= 1
    assert admin.drift("agent/first", "bare")["threshold"] == 0.15


def test_what_names_something_missing_says_so(admin: Person, product: Product) -> None:
    """I-101"""
    admin.apply(agent("stray", "nowhere"))
    said = until(lambda: admin.conditions("agent/stray").get("ReferencesResolved"))
    assert said["status"] == "False"
    assert "nowhere" in said["message"]

    text = "apiVersion: ioa.dev/v0.2\nkind: Agent\nmetadata: {name: stray}\n"
    text += "spec: {domain: nowhere, type: autonomous, purpose: Packs.}\n"
    checked = product.run("validate", "-", text=text)
    assert checked.returncode == 1
    assert "nowhere" in checked.stdout + checked.stderr
