"""The checker finds what it is for: breaches planted in a history that is whole."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from faults import chains, checker
from faults.facts import Decision, Event, Facts, Hold, Proposal, Step
from tests.journeys.product import ROOT
from tests.rows import every_row

PRODUCT = ("controllers", "resources", "ioa_site", "ioa_client", "tests", "django")
START = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)
MAYA = "person/maya"


class Ledger:
    """Writes entries as they have to be."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, stream: str, event: str, actor: str = "system/ioa", **payload: Any) -> None:
        """Chain an entry onto its stream."""
        before = [each for each in self.events if each.stream == stream]
        number, seq = len(self.events) + 1, len(before) + 1
        drafted = Event(
            number, stream, seq, before[-1].hash if before else "", "",
            START + timedelta(seconds=number), event, "audit", "info", actor,
            str(payload.get("resource", stream)), "story", "", chains.digest(payload), payload,
        )  # fmt: skip
        self.events.append(drafted._replace(hash=chains.hash_of(drafted)))


def asked(what: str, began: float, **line: Any) -> dict[str, Any]:
    """Write down an action of a user that went well."""
    status = line.pop("status", 200)
    tries = [{"status": status, "seconds": 0.1, "error": ""}]
    return {
        "who": "maya", "what": what, "path": what, "began": began, "ended": began + 0.1,
        "status": status, "tries": tries, "about": {}, "answer": {}, **line,
    }  # fmt: skip


def call(at: float, **line: Any) -> dict[str, Any]:
    """Write down a call that the machine outside heard."""
    usual = {"key": "k2", "fence": 1, "proposal": 2, "operation": "start", "effect": True}
    return {"at": at, **usual, **line}


def deciding(proposal: int, began: float, answer: str = "approve", **line: Any) -> dict[str, Any]:
    about = {"proposal": proposal, "revision": 1, "answer": answer}
    return asked("decide", began, about=about, **line)


def whole() -> Facts:
    """A history without a breach: one effect here, one call, one no, and one stop and its end."""
    ledger = Ledger()
    ledger.tell("p1", "proposal.approved", MAYA, proposal=1, revision=1)
    ledger.tell("p1", "proposal.executed", proposal=1, revision=1, resource="agent/unit")
    ledger.tell("r1", "resource.spec-changed", "agent/unit", resource="agent/unit")
    ledger.tell("p2", "proposal.approved", MAYA, proposal=2, revision=1)
    ledger.tell("p2", "proposal.dispatched", proposal=2, revision=1)
    stop = {"hold": 1, "kind": "stop", "scope": "organisation", "epoch": 1}
    ledger.tell("h1", "hold.placed", MAYA, **stop)
    ledger.tell("p2", "proposal.executed", proposal=2, revision=1, resource="workflow/flow")
    ledger.tell("h1", "hold.lifted", MAYA, hold=1, epoch=2)
    ledger.tell("p3", "proposal.rejected", MAYA, proposal=3, revision=1)
    by = [{"decision": 1, "actor": MAYA, "answer": "approve"}]
    also = [{"decision": 2, "actor": MAYA, "answer": "approve"}]
    return Facts(
        events=ledger.events,
        heads={each.stream: (each.seq, each.hash) for each in ledger.events},
        proposals={
            1: Proposal(1, "p1", "verifying", "", 1, START),
            2: Proposal(2, "p2", "verifying", "", 1, START),
            3: Proposal(3, "p3", "rejected", "", 1, START),
        },
        decisions={
            1: Decision(1, 1, 1, MAYA, "approve"),
            2: Decision(2, 2, 1, MAYA, "approve"),
        },
        steps=[
            Step(1, 1, "throttle", "control-plane", True, "done", "k1", 0, 1, by),
            Step(2, 2, "start", "webhook", False, "done", "k2", 0, 1, also),
        ],
        holds={1: Hold(1, "stop", "organisation", START)},
        statuses={"unit": 7},
        clients=[
            deciding(1, 1),
            deciding(2, 2),
            asked("report", 3, about={"agent": "unit", "number": 7}),
            asked("pause", 4, answer={"hold": 1, "epoch": "1", "inFlight": [2]}),
            asked("resume", 6, about={"hold": 1}),
            deciding(3, 7, "reject"),
        ],
        calls=[call(4.5)],
    )


def without(facts: Facts, event: str, stream: str) -> Facts:
    """Take an entry out, and chain the rest anew so that only its absence shows."""
    ledger = Ledger()
    for each in facts.events:
        if (each.event, each.stream) != (event, stream):
            ledger.tell(each.stream, each.event, each.actor, **each.payload)
    heads = {each.stream: (each.seq, each.hash) for each in ledger.events}
    return replace(facts, events=ledger.events, heads=heads)


def told(facts: Facts, at: int, stream: str, event: str, **payload: Any) -> Facts:
    """Put an entry in before another one, and chain the rest anew."""
    ledger = Ledger()
    for number, each in enumerate(facts.events):
        if number == at:
            ledger.tell(stream, event, **payload)
        ledger.tell(each.stream, each.event, each.actor, **each.payload)
    heads = {each.stream: (each.seq, each.hash) for each in ledger.events}
    return replace(facts, events=ledger.events, heads=heads)


def states(facts: Facts, **changed: str) -> Facts:
    """Change the state of proposals."""
    rows = {key: row._replace(state=changed.get(f"p{key}", row.state))
            for key, row in facts.proposals.items()}  # fmt: skip
    return replace(facts, proposals=rows)


def step(facts: Facts, number: int, **changes: Any) -> Facts:
    """Change a step."""
    steps = list(facts.steps)
    steps[number] = steps[number]._replace(**changes)
    return replace(facts, steps=steps)


def entry(facts: Facts, number: int, **changes: Any) -> Facts:
    """Change an entry of the ledger behind everybody's back."""
    events = list(facts.events)
    events[number] = events[number]._replace(**changes)
    return replace(facts, events=events)


def clients(facts: Facts, number: int, **changes: Any) -> Facts:
    """Change what a user was told."""
    lines = list(facts.clients)
    lines[number] = {**lines[number], **changes}
    return replace(facts, clients=lines)


BREACHES: dict[str, tuple[str, Callable[[Facts], Facts]]] = {
    "an approval that is not in the ledger": (
        "decisions_are_kept",
        lambda facts: without(facts, "proposal.approved", "p1"),
    ),
    "an approval without its vote": (
        "decisions_are_kept",
        lambda facts: replace(facts, decisions={2: facts.decisions[2]}),
    ),
    "an approval that is not in force": (
        "decisions_are_kept",
        lambda facts: states(facts, p1="pending"),
    ),
    "a no that was carried out": (
        "decisions_are_kept",
        lambda facts: states(facts, p3="executing"),
    ),
    "a stop that is gone": ("holds_are_kept", lambda facts: replace(facts, holds={})),
    "a resume that did not end the stop": (
        "holds_are_kept",
        lambda facts: replace(facts, holds={1: Hold(1, "stop", "organisation", None)}),
    ),
    "a report that was lost": (
        "reports_are_kept",
        lambda facts: replace(facts, statuses={"unit": 6}),
    ),
    "a second call of what must not be repeated": (
        "effects_happen_once",
        lambda facts: replace(facts, calls=[*facts.calls, call(9, effect=False)]),
    ),
    "a second effect of one key": (
        "effects_happen_once",
        lambda facts: replace(step(facts, 1, idempotent=True), calls=[call(1), call(9)]),
    ),
    "a call that no step is behind": (
        "effects_happen_once",
        lambda facts: replace(facts, calls=[*facts.calls, call(9, key="k9")]),
    ),
    "a call that counts as done and was never made": (
        "effects_happen_once",
        lambda facts: replace(facts, calls=[]),
    ),
    "a proposal that was carried out twice": (
        "executions_end_once",
        lambda facts: told(
            facts, 2, "p1", "proposal.executed", proposal=1, revision=1, resource="agent/unit"
        ),
    ),
    "a change that nothing asked for": (
        "executions_end_once",
        lambda facts: replace(
            facts,
            events=[*facts.events, facts.events[2]._replace(stream="r9", seq=1, previous="")],
        ),
    ),
    "an effect while everything was stopped": (
        "nothing_begins_while_stopped",
        lambda facts: told(
            facts, 6, "p8", "proposal.executed", proposal=8, revision=1, resource="agent/unit"
        ),
    ),
    "a call that was permitted while everything was stopped": (
        "nothing_begins_while_stopped",
        lambda facts: told(facts, 6, "p2", "proposal.dispatched", proposal=2, revision=1),
    ),
    "a step of a stopped epoch": (
        "nothing_begins_while_stopped",
        lambda facts: step(facts, 0, epoch=1),
    ),
    "a call after the stop was acknowledged": (
        "no_call_begins_after_a_stop",
        lambda facts: clients(facts, 3, answer={"hold": 1, "epoch": "1", "inFlight": []}),
    ),
    "an effect on nobody's authority": (
        "effects_have_authority",
        lambda facts: step(facts, 0, authority=[]),
    ),
    "an effect on the authority of another's approval": (
        "effects_have_authority",
        lambda facts: step(facts, 0, authority=[{"decision": 2}]),
    ),
    "an effect before its approval": (
        "effects_have_authority",
        lambda facts: told(
            facts, 0, "p1", "proposal.dispatched", proposal=1, revision=1, resource="agent/unit"
        ),
    ),
    "a call with an old fence": (
        "fences_never_go_back",
        lambda facts: replace(facts, calls=[call(1, fence=2), call(4.5, fence=1)]),
    ),
    "an entry that was rewritten": (
        "the_ledger_is_whole",
        lambda facts: entry(facts, 0, actor="person/mallory"),
    ),
    "a payload that was rewritten": (
        "the_ledger_is_whole",
        lambda facts: entry(facts, 0, payload={"proposal": 1, "revision": 2}),
    ),
    "an entry that was taken out": (
        "the_ledger_is_whole",
        lambda facts: replace(facts, events=facts.events[1:]),
    ),
    "a last entry that was cut off": (
        "the_ledger_is_whole",
        lambda facts: replace(facts, events=facts.events[:-1]),
    ),
    "an answer that is a fault of ours": (
        "answers_are_no_faults",
        lambda facts: clients(facts, 2, tries=[{"status": 500, "seconds": 1, "error": ""}]),
    ),
}


def test_a_whole_history_has_no_breach() -> None:
    assert checker.safety(whole()) == []
    assert checker.unsettled(whole()) == []
    assert list(checker.failed_actions(whole().clients)) == []


@every_row("planted", BREACHES)
def test_a_breach_that_is_planted_is_found(planted: str) -> None:
    rule, plant = BREACHES[planted]

    assert rule in {each.rule for each in checker.safety(plant(whole()))}


def test_every_rule_has_a_breach_that_shows_it() -> None:
    assert {rule for rule, _ in BREACHES.values()} == {each.__name__ for each in checker.RULES}


@pytest.mark.parametrize("name", ["checker", "chains", "facts"])
def test_the_checker_knows_nothing_of_the_product(name: str) -> None:
    tree = ast.parse((ROOT / "faults" / f"{name}.py").read_text("utf-8"))
    found = {each.module or "" for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    found |= {one.name for each in ast.walk(tree) if isinstance(each, ast.Import)
              for one in each.names}  # fmt: skip

    own = {each.partition(".")[2] for each in found if each.partition(".")[0] == "faults"}
    assert own <= {"", "chains", "facts", "checker"}
    assert not {each.partition(".")[0] for each in found} & set(PRODUCT)


def test_an_approval_that_people_were_asked_about_again_is_not_lost() -> None:
    facts = told(whole(), 9 - 1, "p1", "proposal.revised", proposal=1, revision=2)

    assert checker.safety(states(facts, p1="pending")) == []


def test_what_was_stopped_and_revised_is_begun_again_on_a_new_approval() -> None:
    facts = told(whole(), 0, "p1", "proposal.revised", proposal=1, revision=1)
    facts = told(facts, 0, "p1", "proposal.stopped", proposal=1, revision=0)
    facts = told(facts, 0, "p1", "proposal.dispatched", proposal=1, revision=0)

    assert checker.safety(facts) == []


@pytest.mark.parametrize("state", ["approved", "executing"])
def test_what_stays_in_a_machines_hands_is_stuck(state: str) -> None:
    assert [breach.rule for _, breach in checker.unsettled(states(whole(), p1=state))] == [
        "nothing_is_stuck"
    ]


def test_what_a_standing_hold_keeps_back_waits_for_a_person() -> None:
    facts = whole()
    held = {1: facts.proposals[1]._replace(state="approved", held="Overridden")}
    standing = {2: Hold(2, "override", "field", None)}

    assert checker.unsettled(replace(facts, proposals=held, holds=standing)) == []
    assert len(checker.unsettled(replace(facts, proposals=held))) == 1


def test_an_open_cycle_is_stuck() -> None:
    assert len(checker.unsettled(replace(whole(), cycles=[START]))) == 1


def test_an_action_that_failed_twice_is_a_failed_action() -> None:
    facts = clients(whole(), 0, status=503)

    assert len(list(checker.failed_actions(facts.clients))) == 1
