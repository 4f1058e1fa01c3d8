"""The independent checker: what was promised, against what a run left behind.

It reads tables, the receiver's log and the clients' history, and knows nothing of the product's
code. Each rule yields one sentence for each breach.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from math import inf
from typing import NamedTuple

from faults import chains
from faults.facts import Event, Facts, Line, Step

Rule = Callable[[Facts], Iterator[str]]

TOLD = {"approve": "approved", "reject": "rejected", "override": "overridden"}
UNDECIDED = ("pending", "recommended")
# Something begins: inside here, or by a call.
BEGUN = ("proposal.dispatched", "proposal.executed")


class Breach(NamedTuple):
    """A promise that was broken."""

    rule: str
    sentence: str


def safety(facts: Facts) -> list[Breach]:
    """Return every breach of what must never happen, not even while something is broken."""
    return [Breach(rule.__name__, said) for rule in RULES for said in rule(facts)]


def acknowledged(facts: Facts, what: str) -> Iterator[Line]:
    """Yield what users asked for and were told is done."""
    return (each for each in facts.clients if each["what"] == what and 200 <= each["status"] < 300)


def decisions_are_kept(facts: Facts) -> Iterator[str]:
    """Every acknowledged decision is in the ledger, and in force."""
    told = {(e.event, e.payload.get("proposal"), e.actor): e for e in facts.events
            if e.event.startswith("proposal.")}  # fmt: skip
    revised, votes = last_revisions(facts), last_votes(facts)
    for line in acknowledged(facts, "decide"):
        about, actor = line["about"], f"person/{line['who']}"
        key, answer = about["proposal"], about["answer"]
        entry = told.get((f"proposal.{TOLD[answer]}", key, actor))
        if entry is None:
            yield f"proposal/{key}: the acknowledged {answer} of {actor} is not in the ledger."
            continue
        if answer == "approve" and votes[key, actor, answer] < about["revision"]:
            yield f"proposal/{key}: the acknowledged {answer} of {actor} is not among the votes."
        state = facts.proposals[key].state if key in facts.proposals else "gone"
        if state in ("gone", *UNDECIDED) and revised[key] < entry.id:
            yield f"proposal/{key} is {state} although {actor} was told that it is decided."
        if answer == "reject" and state != "rejected":
            yield f"proposal/{key} is {state} although {actor} was told that it is rejected."


def last_revisions(facts: Facts) -> dict[int, int]:
    """Return the entry by which each proposal was last revised: then people are asked again."""
    found: dict[int, int] = defaultdict(int)
    for each in facts.events:
        if each.event == "proposal.revised":
            found[each.payload["proposal"]] = max(found[each.payload["proposal"]], each.id)
    return found


def last_votes(facts: Facts) -> dict[tuple[int, str, str], int]:
    """Return the revision of each vote: it goes along when what was approved stays the same."""
    found: dict[tuple[int, str, str], int] = defaultdict(int)
    for vote in facts.decisions.values():
        key = (vote.proposal, vote.actor, vote.answer)
        found[key] = max(vote.revision, found[key])
    return found


def holds_are_kept(facts: Facts) -> Iterator[str]:
    """Every acknowledged stop stands in the ledger, and every acknowledged resume ended it."""
    told = {(each.event, each.payload.get("hold")) for each in facts.events
            if each.event.startswith("hold.")}  # fmt: skip
    for line in acknowledged(facts, "pause"):
        key = line["answer"]["hold"]
        if key not in facts.holds or ("hold.placed", key) not in told:
            yield f"hold/{key} was acknowledged, and is not there."
    for line in acknowledged(facts, "resume"):
        key = line["about"]["hold"]
        ended = key in facts.holds and facts.holds[key].ended_at is not None
        if not ended or ("hold.lifted", key) not in told:
            yield f"hold/{key}: its end was acknowledged, and is not there."


def reports_are_kept(facts: Facts) -> Iterator[str]:
    """What an agent was told is stored is there, or something it said later."""
    last: dict[str, int] = {}
    for line in acknowledged(facts, "report"):
        last[line["about"]["agent"]] = line["about"]["number"]
    for name, number in last.items():
        if facts.statuses.get(name, 0) < number:
            yield f"agent/{name}: report {number} was acknowledged, and is not kept."


def effects_happen_once(facts: Facts) -> Iterator[str]:
    """Each key has one effect, and what must not be repeated is called once."""
    steps = {each.key: each for each in facts.steps}
    calls, effects = Counter(e["key"] for e in facts.calls), Counter(
        e["key"] for e in facts.calls if e["effect"]
    )  # fmt: skip
    for key, times in calls.items():
        step = steps.get(key)
        if step is None:
            yield f"A call with the key {key} came, and no step has it."
        elif times > 1 and not step.idempotent:
            yield f"proposal/{step.proposal}: {step.operation} was called {times} times."
        if effects[key] > 1:
            yield f"The key {key} had {effects[key]} effects."
    for each in facts.steps:
        if each.executor == "webhook" and each.state == "done" and not calls[each.key]:
            yield f"proposal/{each.proposal}: {each.operation} is done, and nobody was called."


def executions_end_once(facts: Facts) -> Iterator[str]:
    """No revision of a proposal is carried out twice, and nothing changes without one."""
    ended: Counter[tuple[str, int]] = Counter()
    inside, changes = Counter[str](), Counter[str]()
    own = {each.proposal for each in facts.steps if each.executor == "control-plane"}
    for each in facts.events:
        if each.event == "proposal.executed":
            ended[each.stream, each.payload["revision"]] += 1
            inside[each.payload["resource"]] += each.payload["proposal"] in own
        machine = each.actor.startswith(("agent/", "controller/"))
        changes[each.subject] += each.event == "resource.spec-changed" and machine
    for (stream, revision), times in ended.items():
        if times > 1:
            yield f"{stream} revision {revision} was carried out {times} times."
    for subject, times in changes.items():
        if times > inside[subject]:
            yield f"{subject} changed {times} times, and {inside[subject]} were to be."


def nothing_begins_while_stopped(facts: Facts) -> Iterator[str]:
    """Nothing begins between a stop of everything and its end, in the order of the ledger."""
    own = {each.proposal for each in facts.steps if each.executor != "control-plane"}
    for first, last in windows(facts):
        for each in facts.events:
            inside = each.event == "proposal.dispatched" or each.payload.get("proposal") not in own
            if each.event in BEGUN and inside and first.id < each.id < last:
                yield f"{each.subject} began (entry {each.id}) after {first.subject} was stopped."
    for placed, lifted in epochs(facts):
        for step in facts.steps:
            if step.attempts and placed <= step.epoch < lifted and was_begun(step):
                yield f"proposal/{step.proposal}: {step.operation} began in a stopped epoch."


def stops(facts: Facts) -> Iterator[Event]:
    """Yield the stops of everything."""
    for each in facts.events:
        about = each.payload.get("kind"), each.payload.get("scope")
        if each.event == "hold.placed" and about == ("stop", "organisation"):
            yield each


def lifts(facts: Facts) -> dict[int, Event]:
    """Return the ends of holds."""
    return {e.payload["hold"]: e for e in facts.events if e.event == "hold.lifted"}


def windows(facts: Facts) -> Iterator[tuple[Event, float]]:
    """Yield each stop with the number of the entry that ended it."""
    ends = lifts(facts)
    for each in stops(facts):
        end = ends.get(each.payload["hold"])
        yield each, end.id if end else inf


def epochs(facts: Facts) -> Iterator[tuple[int, float]]:
    """Yield the first epoch of each stop, and the one that ended it."""
    ends = lifts(facts)
    for each in stops(facts):
        end = ends.get(each.payload["hold"])
        yield each.payload["epoch"], end.payload["epoch"] if end else inf


def was_begun(step: Step) -> bool:
    """Tell whether a step was done here, or went out."""
    return step.state in ("done", "dispatched", "unknown", "failed", "undone")


def no_call_begins_after_a_stop(facts: Facts) -> Iterator[str]:
    """No call arrives after a stop was acknowledged, but those that its answer lists."""
    asked = {e["about"]["hold"]: e["began"] for e in reversed(facts.clients)
             if e["what"] == "resume"}  # fmt: skip
    for line in acknowledged(facts, "pause"):
        answer = line["answer"]
        until = asked.get(answer["hold"], inf)
        for call in facts.calls:
            listed = call["proposal"] in answer["inFlight"]
            if line["ended"] < call["at"] < until and not listed:
                late = round(call["at"] - line["ended"], 3)
                yield f"proposal/{call['proposal']} was called {late} s after a stop."


def effects_have_authority(facts: Facts) -> Iterator[str]:
    """Every effect rests on a decision about it, or on a policy, that came before it.

    What was stopped and then revised is begun again, on the approval of what it has become.
    """
    timely: set[tuple[int, int, str]] = set()
    begun: set[tuple[int, int]] = set()
    for each in sorted(facts.events, key=lambda entry: entry.id):
        if each.event == "proposal.approved" and revision(each) not in begun:
            timely.add((*revision(each), each.actor))
        elif each.event in BEGUN:
            begun.add(revision(each))
    for step in facts.steps:
        if step.attempts and was_begun(step) and step.executor in OURS:
            yield from unauthorised(facts, step, timely)


def revision(event: Event) -> tuple[int, int]:
    """Return which proposal an event is about, and what it was by then."""
    return event.payload["proposal"], event.payload["revision"]


def unauthorised(facts: Facts, step: Step, timely: set[tuple[int, int, str]]) -> Iterator[str]:
    """Say what is wrong with the authority that one step rests on."""
    if not step.authority:
        yield f"proposal/{step.proposal}: {step.operation} was done on nobody's authority."
    for given in step.authority:
        vote = facts.decisions.get(given.get("decision", 0))
        if vote is None or vote.proposal != step.proposal or vote.answer != "approve":
            yield f"proposal/{step.proposal}: its authority is no approval of it."
        elif vote.actor.startswith("person/") and vote[1:4] not in timely:
            yield f"proposal/{step.proposal} began before {vote.actor} approved it."


def fences_never_go_back(facts: Facts) -> Iterator[str]:
    """Whoever was replaced calls nobody any more."""
    seen: dict[str, int] = {}
    for each in facts.calls:
        if each["fence"] < seen.get(each["key"], 0):
            yield f"proposal/{each['proposal']} was called with an old fence."
        seen[each["key"]] = max(seen.get(each["key"], 0), each["fence"])


def the_ledger_is_whole(facts: Facts) -> Iterator[str]:
    """Every chain is gap-free, and every entry is what was hashed."""
    return chains.broken(facts)


def answers_are_no_faults(facts: Facts) -> Iterator[str]:
    """No answer is a fault of ours but 503, which says when to try again."""
    for each in facts.clients:
        for one in each["tries"]:
            if one["status"] >= 500 and one["status"] != 503:
                yield f"{each['who']}: {each['what']} {each['path']} was answered {one['status']}."


RULES: tuple[Rule, ...] = (
    decisions_are_kept,
    holds_are_kept,
    reports_are_kept,
    effects_happen_once,
    executions_end_once,
    nothing_begins_while_stopped,
    no_call_begins_after_a_stop,
    effects_have_authority,
    fences_never_go_back,
    the_ledger_is_whole,
    answers_are_no_faults,
)
OURS = ("control-plane", "webhook")


def unsettled(facts: Facts) -> list[tuple[datetime, Breach]]:
    """Return what is still in a machine's hands although nothing is broken any more, and since."""
    found = [
        (each.changed_at, f"proposal/{each.id} is still {each.state}.")
        for each in facts.proposals.values()
        if each.state in ("approved", "executing") and not standing(facts, each.held)
    ]
    found += [(since, "A cycle is still open.") for since in facts.cycles]
    return [(since, Breach("nothing_is_stuck", said)) for since, said in found]


def standing(facts: Facts, held: str) -> bool:
    """Tell whether something waits for a person: a hold that stands keeps it back."""
    return bool(held) and any(each.ended_at is None for each in facts.holds.values())


def failed_actions(clients: list[Line]) -> Iterator[str]:
    """Yield what users could not do although they tried twice."""
    for each in clients:
        if each["status"] in (0, 503):
            errors = ", ".join(one["error"] or str(one["status"]) for one in each["tries"])
            yield f"{each['who']} could not {each['what']} {each['path']}: {errors}."
