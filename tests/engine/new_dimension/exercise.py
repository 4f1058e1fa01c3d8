"""What the product makes of a dimension that is one file: run by `test_new_dimension`."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from controllers.access import people
from controllers.models import Proposal
from resources.documents.actor import SYSTEM
from resources.documents.kinds import by_name
from resources.usecases import statuses
from tests.api.conftest import Api, signed_in
from tests.conftest import Clock
from tests.controllers.making import controller, declare, judged, work
from tests.reference import dimensions
from tests.resources.making import ALICE, made

pytestmark = pytest.mark.django_db

OBJECTIVES = [{"name": "errorRate", "operator": "lte", "value": 0.5, "unit": "ratio"}]
REMEDY = {"type": "reconcile", "operation": "modify-spec", "patch": {"purpose": "Answers soon."}}


def report(clock: Clock, seconds: float, tokens: int = 1) -> None:
    """Let the agent say how long its answers take."""
    status = {"state": "running", "errorRate": 0.1, "avgLatency": f"{seconds}s"}
    told = statuses.Report("Agent", "triage", status | {"costConsumed": {"tokens": tokens}})
    assert not statuses.observe([told], actor=SYSTEM, now=clock.now)[0].failed


def looked(clock: Clock) -> float | None:
    """Return the score after the next look."""
    work(clock)
    return judged("triage", kind="Agent").score


@pytest.fixture
def watched(today: Clock) -> Clock:
    """Declare an agent that answers in time, under a controller that has judged it."""
    weights = {"latency": 1.0}
    limits = {"weights": weights, "dimensionThresholds": {"latency": 0.4}}
    declare(today, made("Domain", "harbour"))
    declare(today, made("Agent", "triage", {"domain": "harbour", "objectives": OBJECTIVES}))
    wanted: dict[str, Any] = {
        "targetKind": "Agent",
        "drift": limits,
        "actions": {"onDrift": [REMEDY]},
    }
    declare(today, controller(**wanted))
    report(today, 1.0)
    work(today)
    return today


def read(api: Api, path: str) -> Any:
    answer = api.get(path)
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_it_is_scored_over_http_and_on_the_pages(watched: Clock) -> None:
    api = signed_in("alice", "administrator")
    report(watched, 3.0)
    assert looked(watched)

    [found] = read(api, "resources/agent/triage/drift")["items"]
    assert found["dimensions"]["latency"] == {"score": 0.5, "of": 1}
    assert found["evidence"][0]["subject"] == "latency/avgLatency"
    assert found["message"].startswith("avgLatency is 3 (wanted <= 2 s)")

    proposal = Proposal.objects.get()
    browser = Client()
    browser.force_login(
        people.add_person("maya", name="M", role="Approvers", actor=ALICE, now=watched.now)
    )
    page = browser.get(f"/approvals/{proposal.pk}").content.decode()
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert re.search(r"Latency 1 of 1 not as declared, weight 1 0\.\d\d", words)
    assert 'class="key latency"' in page
    assert "latency:" in browser.get("/resources/agent/triage?view=changed").content.decode()
    assert 'name="latency"' in browser.get("/controllers/keeper/replay").content.decode()


def test_what_is_well_is_told_at_a_glance_and_what_is_not_is_found(watched: Clock) -> None:
    assert judged("triage", kind="Agent").dimensions["latency"] == {"score": 0.0, "of": 1}
    report(watched, 1.5, tokens=2)
    assert looked(watched) == 0.0

    report(watched, 4.0, tokens=3)

    assert (looked(watched) or 0) > 0


def test_its_own_limit_counts_and_lifting_it_is_seen(watched: Clock) -> None:
    report(watched, 2.9)
    looked(watched)
    assert judged("triage", kind="Agent").drifted

    kind = by_name("Controller")
    assert kind is not None
    before, after = (controller(drift={"dimensionThresholds": {"latency": n}}) for n in (0.4, 0.9))
    assert [each.pointer for each in kind.lowered(before, after)] == [
        "/spec/drift/dimensionThresholds/latency"
    ]


def test_the_description_of_the_api_and_the_reference_name_it(db: None) -> None:
    described = read(signed_in("alice", "administrator"), "openapi.json")["components"]["schemas"]

    assert "latency" in described["PreviewItem"]["properties"]["dimensions"]["properties"]
    assert "latency" in str(described["DriftItem"])
    assert "| `latency` |" in dimensions.page()
