"""The loop: what is declared and reported becomes a cycle, a judgement, events and a status."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.callers import Person, until
from tests.promises.organisation import Document, agent, budget, controller, domain, policy

pytestmark = [pytest.mark.product, pytest.mark.full]

BAD = {"errorRate": 0.5}
GOOD = {"errorRate": 0.01}


def crew(label: str, *names: str) -> list[Document]:
    """Return agents of a domain that carry a label."""
    return [domain(label), *(agent(each, label, labels={"by": label}) for each in names)]


def cycles(admin: Person, name: str) -> Any:
    return admin.items(f"controllers/{name}/cycles")


def ended(admin: Person, name: str) -> Any:
    return [each for each in cycles(admin, name) if "finishedAt" in each]


def story(admin: Person, cycle: Any) -> list[str]:
    """Return what a cycle told, in order."""
    return [each["type"] for each in admin.events(correlationId=cycle["correlationId"])]


@pytest.mark.quick
def test_labels_of_a_selector_must_all_match(admin: Person) -> None:
    """I-09 I-10 O-03 D-04"""
    both = {"matchLabels": {"by": "pick", "env": "eu"}}
    admin.apply(
        domain("pick"),
        agent("one-label", "pick", labels={"by": "pick"}),
        agent("two-labels", "pick", labels={"by": "pick", "env": "eu"}),
        controller("narrow", "Agent", targetSelector=both, enforcementMode="observe"),
        budget("purse-one", "pick", 10),
        budget("purse-two", "pick", 10),
        controller("wide", "Budget", enforcementMode="observe"),
    )
    assert admin.reconcile("narrow")["counts"]["watched"] == 1
    assert admin.drift("agent/two-labels", "narrow")
    assert not admin.drift("agent/one-label", "narrow")
    assert admin.reconcile("wide")["counts"]["watched"] == 2


def test_a_controller_says_what_it_found(admin: Person) -> None:
    """I-29 I-31 I-58 O-04 O-54"""
    admin.apply(*crew("trio", "t-one", "t-two", "t-three"), controller("of-trio", "Agent", "trio"))
    for name in ("t-one", "t-two", "t-three"):
        admin.report(f"agent/{name}", GOOD)
    first = admin.reconcile("of-trio")
    before = admin.resource("controller/of-trio")["status"]
    assert (before["healthyResources"], before["unhealthyResources"]) == (3, 0)
    assert not before["driftDetected"]
    said = admin.conditions("controller/of-trio")["Reconciling"]
    assert (said["status"], said["reason"]) == ("False", "AllHealthy")
    assert said["message"] == "All 3 agents are healthy"

    admin.report("agent/t-two", BAD)
    second = admin.reconcile("of-trio")
    after = admin.resource("controller/of-trio")["status"]
    assert (after["healthyResources"], after["unhealthyResources"]) == (2, 1)
    assert (after["driftDetected"], before.get("lastDriftAt")) == (True, None)
    assert after["reconcileCount"] - before["reconcileCount"] == second["number"] - first["number"]
    assert after["lastReconcile"] > before["lastReconcile"]
    assert second["result"]["resourcesFound"] == second["counts"]["watched"] == 3
    assert second["result"]["diffsDetected"] == 1
    assert len(second["result"]["decisions"]) == second["result"]["decisionsMade"] == 1
    assert second["result"]["durationMs"] >= 0
    assert second["result"]["executionErrors"] == []


def test_a_cycle_is_one_story_that_begins_and_ends_with_its_events(admin: Person) -> None:
    """I-62 I-87 I-88 I-91 I-100 D-07 D-45 D-48"""
    admin.apply(*crew("tale", "hero"), controller("teller", "Agent", "tale"))
    admin.reconcile("teller")
    admin.report("agent/hero", BAD)
    admin.reconcile("teller")
    found = until(lambda: admin.events(event="controller.drift-detected", subject="agent/hero"))
    assert len(found) == 1
    told = found[0]["data"]
    assert (told["targetResource"], told["threshold"]) == ("agent/hero", 0.15)
    assert told["driftScore"] >= 0.15

    admin.reconcile("teller")
    assert len(admin.events(event="controller.drift-detected", subject="agent/hero")) == 1
    # One of the cycles found it: its story has everything, in order.
    events = admin.events(correlationId=found[0]["correlationid"])
    loop = [each for each in events if each["type"].startswith("controller.reconciliation-")]
    names = [each["type"].rpartition("-")[2] for each in loop if "requested" not in each["type"]]
    assert names == ["started", "completed"]
    assert [each for each in events if each["type"].startswith("controller.")][-1] is loop[-1]
    started, completed = loop[-2]["data"], loop[-1]["data"]
    assert (started["controllerName"], started["targetKind"]) == ("teller", "Agent")
    assert started["resourceCount"] == 1
    assert completed["durationMs"] >= 0
    assert completed["driftDetected"] is True
    assert completed["actionsPerformed"] == 0
    (cycle,) = [
        each
        for each in cycles(admin, "teller")
        if each["correlationId"] == found[0]["correlationid"]
    ]
    assert list(cycle["times"]) == ["watch", "diff", "plan", "act", "report"]
    assert sum(cycle["times"].values()) <= cycle["durationMs"] + 5


def test_looking_again_changes_nothing(admin: Person) -> None:
    """F-41 F-57 A-11 D-09 D-47 I-05 I-60"""
    admin.apply(*crew("calm", "still", "off"), controller("of-calm", "Agent", "calm"))
    admin.report("agent/still", GOOD)
    admin.report("agent/off", BAD)
    admin.reconcile("of-calm")
    refs = ("agent/still", "agent/off")
    before = [admin.resource(ref) for ref in refs]
    proposed = admin.proposals("agent/off")
    seen = [admin.drift(ref, "of-calm") for ref in refs]
    flips = admin.events(event="resource.condition-changed", subject="agent/off")

    cycle = admin.reconcile("of-calm")

    assert [admin.resource(ref) for ref in refs] == before
    assert [each["metadata"]["generation"] for each in before] == [1, 1]
    assert admin.proposals("agent/off") == proposed
    assert admin.events(event="resource.condition-changed", subject="agent/off") == flips != []
    assert "changed" not in cycle["counts"]
    for ref, was in zip(refs, seen, strict=True):
        now = admin.drift(ref, "of-calm")
        assert now["lastEvaluated"] > was["lastEvaluated"]
        assert now["since"] == was["since"]


def test_a_change_is_looked_at_without_waiting_for_the_interval(admin: Person) -> None:
    """I-38 I-41 F-02 F-03"""
    admin.apply(*crew("quick", "early"), controller("of-quick", "Agent", "quick"))
    until(lambda: admin.drift("agent/early", "of-quick"))
    admin.report("agent/early", GOOD)
    admin.report("agent/early", BAD)
    until(lambda: admin.drift("agent/early", "of-quick")["drifted"])

    # What appears later is watched, too.
    admin.apply(agent("late", "quick", labels={"by": "quick"}))
    until(lambda: admin.drift("agent/late", "of-quick"))
    reasons = {reason for each in cycles(admin, "of-quick") for reason in each["reasons"]}
    assert "change" in reasons
    assert all(each.get("requestedBy") is None for each in cycles(admin, "of-quick"))


def test_many_changes_are_one_look_and_own_notes_start_none(admin: Person) -> None:
    """F-16 F-30 A-03 F-05 F-08"""
    admin.apply(*crew("burst", "busy"), controller("of-burst", "Agent", "burst"))
    admin.reconcile("of-burst")
    before = cycles(admin, "of-burst")[0]["number"]
    for number in range(30):
        admin.report("agent/busy", {"errorRate": 0.5 + number / 100})
    last = admin.resource("agent/busy")["metadata"]["resourceVersion"]
    until(lambda: int(admin.drift("agent/busy", "of-burst")["judgedVersion"]) >= int(last) - 5)
    admin.reconcile("of-burst")
    after = cycles(admin, "of-burst")[0]["number"]

    assert after - before < 15
    # Nothing is left: its own condition and proposal start nothing.
    queue = until(lambda: (f := admin.line.get("/readyz").json()["queue"])["due"] == 0 and f)
    assert queue["parked"] == 0
    assert cycles(admin, "of-burst")[0]["number"] == after


def test_the_loop_repeats_at_every_interval(admin: Person) -> None:
    """I-63 F-31 F-47 X-25"""
    admin.apply(
        *crew("beat", "steady"),
        controller("of-beat", "Agent", "beat", reconcileInterval="1s", enforcementMode="observe"),
    )
    until(lambda: len(cycles(admin, "of-beat")) >= 4)
    newest = cycles(admin, "of-beat")[0]

    assert newest["reasons"] == ["interval"]
    assert "requestedBy" not in newest


def test_within_its_interval_nothing_is_looked_at_again(admin: Person) -> None:
    """I-40"""
    admin.apply(
        *crew("rest", "rested"),
        controller("of-rest", "Agent", "rest"),
        controller("ticks", "Memory", reconcileInterval="1s", enforcementMode="observe"),
    )
    until(lambda: admin.drift("agent/rested", "of-rest"))
    admin.reconcile("of-rest")
    looked = cycles(admin, "of-rest")[0]["number"]
    begun = len(cycles(admin, "ticks"))
    until(lambda: len(cycles(admin, "ticks")) > begun + 1)

    assert cycles(admin, "of-rest")[0]["number"] == looked


def test_a_person_asks_for_a_cycle_now_or_later(admin: Person) -> None:
    """F-25 F-26"""
    admin.apply(*crew("ask", "asked"), controller("of-ask", "Agent", "ask"))
    admin.reconcile("of-ask")
    later = admin.post("controllers/of-ask/reconcile?after=2s", {"reason": "After lunch"})
    assert later.status_code == 202
    due = later.json()["request"]["runAt"]
    known = cycles(admin, "of-ask")[0]["number"]

    cycle = until(lambda: [e for e in cycles(admin, "of-ask") if e["number"] > known])[0]

    assert cycle["startedAt"] >= due
    assert (cycle["requestedBy"], cycle["reasons"]) == ("person/admin", ["interval", "manual"])
    asked = admin.events(event="controller.reconciliation-requested", subject="controller/of-ask")
    assert asked[-1]["data"]["reason"] == "After lunch"


def test_a_dry_run_plans_the_same_and_changes_nothing(admin: Person) -> None:
    """O-27 O-28"""
    admin.apply(*crew("dry", "drifter", "held"), controller("of-dry", "Agent", "dry"))
    pause = {"kind": "pause", "scope": "resource", "resource": "agent/held", "reason": "Looking."}
    assert admin.post("holds", pause).status_code == 201
    admin.report("agent/drifter", BAD)
    admin.report("agent/held", BAD)
    admin.reconcile("of-dry")
    before = admin.resource("agent/drifter"), admin.proposals("agent/drifter")

    dry = admin.post("controllers/of-dry/reconcile?dryRun=true").json()

    found = {each["resource"]: each for each in dry["resources"]}
    assert [each["operation"] for each in found["agent/drifter"]["actions"]] == ["restart"]
    assert "Paused" in str(found["agent/held"]["actions"])
    assert (admin.resource("agent/drifter"), admin.proposals("agent/drifter")) == before


def test_a_cycle_says_how_far_it_read(admin: Person) -> None:
    """I-39 D-01"""
    admin.apply(*crew("far", "reader"), controller("of-far", "Agent", "far"))
    admin.report("agent/reader", BAD)
    version = int(admin.resource("agent/reader")["metadata"]["resourceVersion"])
    cycle = admin.reconcile("of-far")

    assert int(cycle["revision"]) >= version
    found = admin.drift("agent/reader", "of-far")
    assert int(found["judgedVersion"]) >= version
    assert found["evidence"][0]["at"] <= found["evaluatedAt"].replace("Z", "+00:00")


def test_what_is_gone_leaves_the_watch_list(admin: Person) -> None:
    """I-72"""
    admin.apply(*crew("brief", "going", "staying"), controller("of-brief", "Agent", "brief"))
    admin.report("agent/going", BAD)
    assert admin.reconcile("of-brief")["counts"]["watched"] == 2
    (open_before,) = admin.proposals("agent/going", "pending")

    assert admin.call("DELETE", "resources/agent/going").status_code == 204
    cycle = admin.reconcile("of-brief")

    assert cycle["counts"]["watched"] == 1
    assert cycle["outcome"] == "converged"
    state = admin.read(f"proposals/{open_before['id']}")["state"]
    assert state not in ("pending", "approved", "executing")
    assert admin.events(event="controller.error", subject="agent/going") == []


@pytest.mark.quick
def test_dependents_are_looked_at_when_what_they_depend_on_changes(admin: Person) -> None:
    """F-32"""
    admin.apply(
        *crew("parent", "child"),
        policy("house-rules", "parent"),
        controller("of-parent", "Agent", "parent"),
    )
    admin.report("agent/child", GOOD)
    # The second runs in a later round, which first routes all that was declared until then.
    admin.reconcile("of-parent")
    known = admin.reconcile("of-parent")["number"]
    assert "security" not in admin.drift("agent/child", "of-parent")["dimensions"]

    admin.report("securitypolicy/house-rules", {"violations": 2})

    # A cycle is listed from its beginning, and concludes until it is finished.
    later = until(lambda: [e for e in ended(admin, "of-parent") if e["number"] > known])
    assert later[-1]["reasons"] == ["dependency"]
    assert admin.drift("agent/child", "of-parent")["dimensions"]["security"]["score"] == 0.5


def test_what_nobody_watches_causes_no_work(admin: Person) -> None:
    """F-27"""
    admin.apply(*crew("alone", "watched"), controller("of-alone", "Agent", "alone"))
    admin.reconcile("of-alone")
    known = cycles(admin, "of-alone")[0]["number"]
    admin.apply(agent("unwatched", "alone"))
    admin.report("agent/unwatched", BAD)

    assert admin.reconcile("of-alone")["number"] == known + 1
    assert admin.items("resources/agent/unwatched/drift?controller=of-alone") == []


def test_each_drifted_resource_has_its_plan_and_the_condition_of_its_controller(
    admin: Person,
) -> None:
    """A-13 I-59 I-13"""
    ordered = {"onDrift": [{"type": "log"}, {"type": "restart"}]}
    own = controller("of-pair", "Agent", "pair", actions=ordered)
    admin.apply(*crew("pair", "left", "right"), own)
    for name in ("left", "right"):
        admin.report(f"agent/{name}", BAD)
    admin.reconcile("of-pair")

    # The loop looks by itself, too: whichever cycle found a drift first, told of it.
    wanted = [
        (each["target"], each["type"])
        for cycle in reversed(cycles(admin, "of-pair"))
        for each in admin.read(f"controllers/of-pair/cycles/{cycle['number']}")["actions"]
    ]
    told = [kind for target, kind in wanted if target == "agent/left"]
    assert list(dict.fromkeys(told)) == ["log", "reconcile"]
    for name in ("left", "right"):
        plan = admin.drift(f"agent/{name}", "of-pair")["plan"]["actions"]
        assert [each["operation"] for each in plan] == ["restart"]
        assert len(admin.proposals(f"agent/{name}", "pending")) == 1
        said = admin.conditions(f"agent/{name}")["OfPairConverged"]
        assert (said["status"], said["observedGeneration"]) == ("False", 1)
        assert said["managedBy"] == "controller/of-pair"


def test_converged_means_settled(admin: Person) -> None:
    """D-39"""
    own = controller("of-dust", "Agent", "dust", convergence={"settlingPeriod": "1h"})
    admin.apply(*crew("dust", "shaken"), own)
    admin.report("agent/shaken", BAD)
    until(lambda: admin.drift("agent/shaken", "of-dust").get("drifted"))
    admin.report("agent/shaken", GOOD)

    until(lambda: admin.drift("agent/shaken", "of-dust")["reason"] == "Settling")
    assert admin.conditions("agent/shaken")["OfDustConverged"]["status"] == "Unknown"


def test_a_controller_says_that_it_starts_and_then_that_it_runs(admin: Person) -> None:
    """A-05"""
    admin.apply(*crew("engine", "piston"), controller("of-engine", "Agent", "engine"))

    def ready() -> list[tuple[str, str]]:
        told = admin.events(event="resource.condition-changed", subject="controller/of-engine")
        said = [each["data"] for each in told if each["data"]["type"] == "Ready"]
        return [(each["status"], each["reason"]) for each in said]

    until(lambda: ready() == [("False", "Starting"), ("True", "Running")])
