"""What waits for people: bound to what they saw, answered once, carried out, and verified."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.callers import Caller, Person, Tokens, until
from tests.promises.organisation import agent, controller, domain

pytestmark = [pytest.mark.product, pytest.mark.full]

BAD = {"errorRate": 0.5}


def proposed(admin: Person, name: str, **spec: Any) -> Any:
    """Let an agent drift, and return what its controller proposes."""
    own = controller(f"of-{name}", "Agent", name, **spec)
    admin.apply(domain(f"in-{name}"), agent(name, f"in-{name}", labels={"by": name}), own)
    admin.report(f"agent/{name}", BAD)
    (found,) = until(lambda: admin.proposals(f"agent/{name}", "pending"))
    return found


def state(admin: Person, number: int) -> str:
    return str(admin.read(f"proposals/{number}")["state"])


def work(line: Caller, outcome: str = "success") -> list[str]:
    """Let an agent do what it is offered, and return the operations."""
    done = []
    for each in line.items("actions?state=claimable"):
        claim = line.post(f"actions/{each['id']}/claim")
        assert claim.status_code == 200, claim.text
        said = {"fence": claim.json()["fence"], "outcome": outcome}
        assert line.post(f"actions/{each['id']}/result", said).status_code == 200
        done.append(each["operation"])
    return done


def file(line: Caller, ref: str, *operations: str, **more: Any) -> Any:
    """Propose something, as an agent or a person does."""
    plan = [{"operation": each, "parameters": {}} for each in operations]
    filed = line.post(
        "proposals", {"resource": ref, "actions": plan, "why": "It is slow.", **more}
    )
    assert filed.status_code == 201, filed.text
    return filed.json()


@pytest.mark.quick
def test_an_approved_plan_is_carried_out_and_closes_the_gap(admin: Person, token: Tokens) -> None:
    """I-04 F-01 O-23 D-20 D-34 D-35 O-48"""
    found = proposed(admin, "mended")
    number = found["id"]
    (action,) = admin.read(f"proposals/{number}")["actions"]
    assert (action["operation"], action["target"]) == ("restart", "agent/mended")
    assert action["touches"] == ["status.state"]
    assert "restart" in admin.page(f"/approvals/{number}").lower()

    assert admin.answer(number, "approve", reason="Go on.").status_code == 200
    line = token("mended")
    assert until(lambda: work(line)) == ["restart"]
    line.report("agent/mended", {"errorRate": 0.01, "state": "running"})
    admin.reconcile("of-mended")
    until(lambda: state(admin, number) == "succeeded")

    ended = admin.read(f"proposals/{number}")
    assert [each["state"] for each in ended["steps"]] == ["done"]
    assert ended["correlationId"]
    assert not admin.drift("agent/mended", "of-mended")["drifted"]
    told = [each["type"] for each in admin.events(subject=f"proposal/{number}")]
    assert [each for each in told if each in KEPT] == list(KEPT)


KEPT = (
    "proposal.created",
    "proposal.approved",
    "proposal.begun",
    "proposal.offered",
    "proposal.claimed",
    "proposal.executed",
    "proposal.verified",
)


def test_an_approval_is_bound_to_what_was_seen(admin: Person, bo: Person, token: Tokens) -> None:
    """A-35 D-26"""
    admin.apply(domain("sight"), agent("seen", "sight", type="supervised"))
    line = token("seen")
    first = file(line, "agent/seen", "restart")
    path = f"proposals/{first['id']}"
    assert bo.post(f"{path}/approve", {"reason": ""}).status_code == 428

    asked = bo.answer(first["id"], "request-changes", reason="Look first.")
    assert asked.status_code == 200, asked.text
    plan = [{"operation": "refresh-status", "parameters": {}}]
    assert line.call("PUT", path, {"actions": plan, "why": "Better so."}).status_code == 200
    late = bo.post(f"{path}/approve", {"reason": ""}, If_Match=f'"{first["tag"]}"')
    assert (late.status_code, state(admin, first["id"])) == (409, "pending")
    assert admin.call("PATCH", path, {"state": "approved"}).status_code == 405
    told = [each["data"] for each in admin.events(subject=f"proposal/{first['id']}")]
    digests = [each["actionDigest"] for each in told if "actionDigest" in each]
    assert digests[0] == first["actionDigest"]
    assert digests[-1] == admin.read(path)["actionDigest"] != first["actionDigest"]


def test_a_rejected_plan_is_not_proposed_again_while_nothing_changes(admin: Person) -> None:
    """F-41"""
    number = proposed(admin, "refused")["id"]
    without = admin.answer(number, "reject")
    assert without.status_code == 400
    assert admin.answer(number, "reject", reason="It is Sunday.").status_code == 200

    admin.reconcile("of-refused")

    assert [each["state"] for each in admin.proposals("agent/refused")] == ["rejected"]
    again = admin.answer(number, "approve", reason="Yes.")
    assert again.status_code == 409


def test_a_persons_override_keeps_both_decisions_and_why(admin: Person) -> None:
    """I-96"""
    number = proposed(admin, "held")["id"]
    without = admin.answer(number, "override", path="spec.state", value="paused")
    assert without.status_code == 400
    said = {"reason": "It rests instead.", "path": "spec.state", "value": "paused"}
    assert admin.answer(number, "override", **said).status_code == 200

    kept = admin.read(f"proposals/{number}")
    assert (kept["state"], kept["reason"]) == ("overridden", "It rests instead.")
    assert kept["operations"] == ["restart"]
    (hold,) = [e for e in admin.items("holds?standing=true") if e.get("proposal") == number]
    assert (hold["path"], hold["value"], hold["author"]) == (
        "spec.state",
        "paused",
        "person/admin",
    )
    (told,) = admin.events(event="proposal.overridden", subject=f"proposal/{number}")
    assert (told["data"]["path"], told["data"]["value"]) == ("spec.state", "paused")
    assert (told["data"]["reason"], told["actor"]) == ("It rests instead.", "person/admin")


@pytest.mark.quick
def test_a_pause_keeps_everything_from_beginning_until_it_is_lifted(
    admin: Person, token: Tokens
) -> None:
    number = proposed(admin, "still")["id"]
    line = token("still")
    pause = {"kind": "pause", "scope": "resource", "resource": "agent/still", "reason": "Wait."}
    hold = admin.post("holds", pause).json()["hold"]["id"]
    assert admin.answer(number, "approve", reason="Later.").status_code == 200
    assert admin.read(f"proposals/{number}")["held"]["code"] == "Paused"
    assert line.items("actions?state=claimable") == []
    assert admin.drift("agent/still", "of-still")["drifted"]

    assert line.post(f"holds/{hold}/lift", {"reason": "I want to."}).status_code == 403
    assert admin.post(f"holds/{hold}/lift", {"reason": "Looked at."}).status_code == 200
    until(lambda: line.items("actions?state=claimable"))


def test_what_has_mended_itself_is_not_done(admin: Person) -> None:
    """F-42 O-64 D-21"""
    number = proposed(admin, "healed")["id"]
    pause = {"kind": "pause", "scope": "resource", "resource": "agent/healed", "reason": "Wait."}
    hold = admin.post("holds", pause).json()["hold"]["id"]
    assert admin.answer(number, "approve", reason="Yes.").status_code == 200
    admin.report("agent/healed", {"errorRate": 0.0, "state": "running"})
    admin.post(f"holds/{hold}/lift", {"reason": "Looked at."})

    until(lambda: state(admin, number) not in ("pending", "approved"))
    assert state(admin, number) != "executing"
    assert admin.events(event="proposal.begun", subject=f"proposal/{number}") == []


def test_what_is_approved_waits_for_its_window(admin: Person) -> None:
    """O-57"""
    window = {"cron": "0 3 29 2 *", "timezone": "UTC", "duration": "1m"}
    number = proposed(admin, "nightly", maintenanceWindow=window)["id"]

    assert admin.answer(number, "approve", reason="At night.").status_code == 200
    waiting = admin.read(f"proposals/{number}")
    assert (waiting["state"], waiting["held"]["code"]) == ("approved", "OutsideWindow")


def test_nobody_approves_their_own_proposal(admin: Person, bo: Person) -> None:
    """I-106"""
    admin.apply(domain("fair"), agent("judged", "fair", type="supervised"))
    number = file(admin, "agent/judged", "pause")["id"]

    own = admin.answer(number, "approve", reason="Mine.")
    assert (own.status_code, own.json()["code"]) == (403, "Proposer")
    assert bo.answer(number, "approve", reason="Fine.").status_code == 200


def test_a_plan_numbers_its_actions_and_a_failure_leaves_out_the_rest(
    admin: Person, bo: Person, token: Tokens
) -> None:
    """D-16 D-25 D-30 O-46"""
    admin.apply(domain("steps"), agent("stepper", "steps", type="supervised"))
    line = token("stepper")
    unknown = [{"operation": "explode", "parameters": {}}]
    refused = {"resource": "agent/stepper", "actions": unknown, "why": "Why not."}
    assert admin.post("proposals", refused).status_code == 400
    number = file(admin, "agent/stepper", "refresh-status", "restart")["id"]
    plan = admin.read(f"proposals/{number}")["actions"]
    assert [each["sequence"] for each in plan] == [1, 2]

    assert bo.answer(number, "approve", reason="Both.").status_code == 200
    (offer,) = until(lambda: line.items("actions?state=claimable"))
    assert offer["operation"] == "refresh-status"
    claim = line.post(f"actions/{offer['id']}/claim").json()
    why = {"class": "permanent", "detail": "The belt tore."}
    said = {"fence": claim["fence"], "outcome": "failure", **why}
    told = line.post(f"actions/{offer['id']}/result", said)
    assert told.status_code == 200, told.text
    until(lambda: state(admin, number) == "failed")
    assert line.items("actions?state=claimable") == []
    steps = admin.read(f"proposals/{number}")["steps"]
    assert [each["operation"] for each in steps if each["state"] == "done"] == []
    (event,) = admin.events(event="proposal.failed", subject=f"proposal/{number}")
    assert "The belt tore." in str(event["data"])


def test_a_change_of_the_spec_waits_for_people(admin: Person) -> None:
    """I-104"""
    admin.apply(domain("gentle"), agent("fragile", "gentle", type="supervised"))
    plan = [{"operation": "modify-spec", "parameters": {"patch": {"purpose": "X."}}}]
    body = {"resource": "agent/fragile", "actions": plan, "why": "Rename."}
    filed = admin.post("proposals", body)
    assert filed.status_code == 201, filed.text
    assert (filed.json()["state"], filed.json()["people"]) == ("pending", 2)
    assert admin.resource("agent/fragile")["spec"]["purpose"] == "Packs."


def test_actions_follow_one_state_machine(admin: Person) -> None:
    """O-63"""
    found = proposed(admin, "ordered")
    number = found["id"]
    allowed = admin.read(f"proposals/{number}")["allowed"]
    assert "approve" in allowed
    assert "undo" not in allowed
    assert admin.answer(number, "undo", reason="What?").status_code == 409
    assert admin.answer(number, "withdraw", reason="Enough.").status_code == 200
    assert admin.answer(number, "approve", reason="Yes.").status_code == 409
    assert state(admin, number) == "withdrawn"


def test_a_claim_lasts_its_term_and_only_its_holder_speaks_for_it(
    admin: Person, bo: Person, token: Tokens
) -> None:
    """O-34 O-35 O-39 D-28"""
    admin.apply(domain("claims"), agent("claimer", "claims"), agent("rival", "claims"))
    line, rival = token("claimer"), token("rival")
    file(line, "agent/claimer", "refresh-status")
    (offer,) = until(lambda: line.items("actions?state=claimable"))

    assert rival.post(f"actions/{offer['id']}/claim").status_code in (403, 404)
    claim = line.post(f"actions/{offer['id']}/claim").json()
    assert claim["ttlSeconds"] > 0
    assert claim["deadline"] > offer["startedAt"]
    (held,) = [e for e in admin.items("actions?state=claimed") if e["id"] == offer["id"]]
    assert (held["for"], held["target"]) == ("agent/claimer", "agent/claimer")
    forged = {"fence": "999", "outcome": "success"}
    assert line.post(f"actions/{offer['id']}/result", forged).status_code == 409
    beat = {"fence": claim["fence"], "epoch": claim["epoch"]}
    assert line.post(f"actions/{offer['id']}/heartbeat", beat).status_code == 200
    half = {**beat, "percent": 50, "note": "Halfway."}
    assert line.post(f"actions/{offer['id']}/progress", half).status_code == 200
    (shown,) = [e for e in admin.items("actions?state=claimed") if e["id"] == offer["id"]]
    assert (shown["percent"], shown["note"]) == (50, "Halfway.")
    done = {"fence": claim["fence"], "outcome": "success"}
    assert line.post(f"actions/{offer['id']}/result", done).status_code == 200
    assert [e for e in admin.items("actions?state=claimed") if e["id"] == offer["id"]] == []


def test_a_request_that_is_sent_twice_is_taken_once(admin: Person, token: Tokens) -> None:
    admin.apply(domain("once"), agent("asker", "once", type="supervised"))
    line = token("asker")
    plan = [{"operation": "restart", "parameters": {}}]
    body = {"resource": "agent/asker", "actions": plan, "why": "Memory."}
    first = line.post("proposals", body, Idempotency_Key="once-1")
    again = line.post("proposals", body, Idempotency_Key="once-1")
    other = line.post("proposals", {**body, "why": "Else."}, Idempotency_Key="once-1")

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert other.status_code in (409, 422)
    assert line.post(f"proposals/{first.json()['id']}/approve").status_code == 403
