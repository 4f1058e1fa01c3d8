"""A judge who reads rows and the ledger after every step, and knows nothing of the code.

It remembers how everything stood one step ago. Whatever is different now must have been allowed
by the truth that the machine keeps: who had which right, which holds stood, what was shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from copy import deepcopy

from tests.decisions.moments import Row, digest, look, spelled
from tests.decisions.world import GRAVE, PROPOSERS, About, Truth, Vote

# What a proposal is to people: none of it changes without an entry in its chain.
TOLD = (
    "state",
    "revision",
    "action_digest",
    "basis_digest",
    "lane",
    "risk",
    "people",
    "decided_by",
    "answer",
    "undoing",
    "expires_at",
    "execute_before",
    "review_by",
)
WAITING = ("recommended", "pending")
OPEN = (*WAITING, "changes_requested", "approved", "executing", "verifying", "unknown")
BORN = ("recommended", "pending", "approved")
# Where each state may lead; what is not here is the end.
BEFORE_A_DECISION = (
    "pending",
    "approved",
    "rejected",
    "overridden",
    "converged",
    "changes_requested",
    "withdrawn",
    "superseded",
    "expired",
    "skipped",
)
LEADS: dict[str, tuple[str, ...]] = {
    "recommended": BEFORE_A_DECISION,
    "pending": BEFORE_A_DECISION,
    "changes_requested": (
        "withdrawn",
        "pending",
        "overridden",
        "superseded",
        "converged",
        "expired",
        "skipped",
    ),
    "approved": (
        "overridden",
        "withdrawn",
        "pending",
        "superseded",
        "converged",
        "executing",
        "lapsed",
        "skipped",
    ),
    "executing": (
        "verifying",
        "failed",
        "approved",
        "unknown",
        "skipped",
        "superseded",
        "converged",
        "overridden",
        "rolled_back",
    ),
    "verifying": ("succeeded", "failed", "approved"),
    "unknown": ("verifying", "succeeded", "failed", "approved", "rolled_back"),
    "succeeded": ("approved",),
    "failed": ("approved",),
}
# What only people say, what only an approver says, and what else is told of a proposal.
APPROVERS = ("rejected", "changed", "accepted", "snoozed", "changes-requested", "extended")
PERSONAL = (*APPROVERS, "approved", "voted", "adopted", "glass-broken", "resolved", "reviewed")
OTHERWISE = (
    "begun",
    "claimed",
    "confirmed",
    "converged",
    "created",
    "dispatched",
    "executed",
    "expired",
    "failed",
    "freed",
    "held",
    "lapsed",
    "late-result",
    "lost",
    "offered",
    "overridden",
    "reproposed",
    "resumed",
    "retried",
    "revised",
    "rolled-back",
    "skipped",
    "step-done",
    "stopped",
    "superseded",
    "undo-requested",
    "unreviewed",
    "verified",
    "withdrawn",
    "woken",
)
STOPPERS = ("operator", "approver", "administrator")
LIFTERS = ("approver", "administrator")
# An agent took a step, or it was sent to a machine outside.
HANDED = ("proposal.claimed", "proposal.dispatched")
NONE: Row = {"state": ""}


class Judge:
    """Compares each moment with the one before."""

    def __init__(self, truth: Truth, names: dict[int, str]) -> None:
        # The people by their keys.
        self.truth, self.names = truth, names
        self.seen, told = look(0)
        # What was approved, as the ledger tells it: the revision and the basis of each proposal.
        self.approved: dict[int, tuple[int, str]] = {}
        # Who decided each revision while it waited.
        self.decided: Counter[tuple[int, int]] = Counter()
        self.found: Counter[str] = Counter()
        self.before = self.seen
        self.entries: list[Row] = []
        for entry in told:
            if entry["stream"].startswith("proposal/"):
                self.note(entry["payload"]["proposal"], entry)
        self.found.clear()

    def judge(self, *, refused: bool, by_people: Iterable[int] = ()) -> None:
        """Hold the step just made against every promise; people changed only these specs."""
        self.before = self.seen
        self.seen, self.entries = look(self.before.last)
        if refused:
            self.nothing_happened()
            return
        self.the_ledger_tells_everything()
        self.numbers_only_grow()
        self.one_of_each()
        self.answers_were_allowed()
        self.holds_were_allowed()
        effects = self.effects()
        for step in effects:
            self.effect_was_allowed(step)
        self.specs_changed_once(effects, set(by_people))

    def nothing_happened(self) -> None:
        """I4: whoever is refused has changed nothing."""
        assert self.seen == self.before, "Somebody was refused, and something changed."

    # I5 and the lifecycle.

    def the_ledger_tells_everything(self) -> None:
        """I5: every change of a proposal or a hold has an entry, and each goes an allowed way."""
        told: dict[str, list[Row]] = {}
        for entry in self.entries:
            told.setdefault(entry["stream"], []).append(entry)
        for key, row in self.seen.proposals.items():
            story = told.get(f"proposal/{spelled(row['uid'])}", [])
            before = self.before.proposals.get(key)
            self.follow(row, before, story)
        for key, row in self.seen.holds.items():
            if row != self.before.holds.get(key):
                stream = f"hold/{spelled(row['uid'])}"
                assert stream in told, f"The ledger does not tell what became of hold {key}."

    def follow(self, row: Row, before: Row | None, story: list[Row]) -> None:
        """Follow one proposal through what the ledger tells of it."""
        changed = before is None or any(row[name] != before[name] for name in TOLD)
        assert story or not changed, f"proposal/{row['id']} changed and nobody told."
        state = before["state"] if before else None
        for entry in story:
            told = entry["payload"]
            after = told["state"]
            if state is None:
                assert after in BORN, f"proposal/{row['id']} was born {after}."
            elif after != state:
                assert after in LEADS.get(state, ()), f"{state} became {after}: {entry}"
                self.decide(row["id"], state, after, told["revision"])
            self.note(row["id"], entry)
            state = after
        if story:
            last = story[-1]["payload"]
            pairs = {"state": "state", "revision": "revision", "actionDigest": "action_digest"}
            pairs["basisDigest"] = "basis_digest"
            for name, column in pairs.items():
                assert last[name] == row[column], f"The ledger tells another {column}: {last}"

    def decide(self, key: int, state: str, after: str, revision: int) -> None:
        """I4: a revision that waits is decided once."""
        if state in WAITING and after not in WAITING:
            self.decided[key, revision] += 1
            assert self.decided[key, revision] == 1, f"proposal/{key} was decided twice."

    def note(self, key: int, entry: Row) -> None:
        """Remember what was approved, and on what it rested."""
        verb, told = entry["event"].removeprefix("proposal."), entry["payload"]
        self.found[verb] += 1
        runs = verb in ("created", "revised") and told["state"] == "approved"
        if verb in ("approved", "glass-broken") or runs:
            self.approved[key] = told["revision"], told["basisDigest"]

    # I11 and I14.

    def numbers_only_grow(self) -> None:
        """I11: versions grow with every change, and generations with every other spec."""
        assert self.seen.epoch >= self.before.epoch
        for key, row in self.seen.proposals.items():
            old = self.before.proposals.get(key, row)
            assert row["revision"] >= old["revision"]
            assert row["fence"] >= old["fence"]
            if row["action_digest"] != old["action_digest"]:
                assert row["revision"] > old["revision"], "Another plan, and the same revision."
        for key, row in self.seen.steps.items():
            assert row["fence"] >= self.before.steps.get(key, row)["fence"]
        for key, row in self.seen.resources.items():
            old = self.before.resources.get(key, row)
            if row["resource_version"] == old["resource_version"]:
                assert row == old, f"{row['name']} changed, and its version did not."
            assert row["resource_version"] >= old["resource_version"]
            grown = row["generation"] - old["generation"]
            assert grown > 0 if row["spec"] != old["spec"] else grown >= 0

    def one_of_each(self) -> None:
        """I3 and I14: one open proposal for each plan, one execution for each resource."""
        rows = self.seen.proposals.values()
        plans = Counter(
            (each["proposer"], each["resource_id"], each["action_digest"])
            for each in rows
            if each["state"] in OPEN
        )
        running = Counter(each["resource_id"] for each in rows if each["state"] == "executing")
        keys = Counter(each["key"] for each in self.seen.steps.values())
        for counted in (plans, running, keys):
            assert max(counted.values(), default=1) == 1, counted.most_common(1)

    # I1, I8, I9: who decides.

    def about(self, row: Row) -> About:
        """Say what decides who may decide about a proposal."""
        truth = self.truth
        kind, _, name = row["proposer"].partition("/")
        interested = {name} if kind == "person" else set()
        if kind == "agent":
            interested.add(PROPOSERS[name][1])
        interested |= truth.parts.get(row["id"], set())
        if row["risk"] == "high":
            interested.add(truth.authors.get(row["resource_id"], ""))
        domain = self.seen.resources[row["resource_id"]]["domain"]
        return About(domain, row["risk"], frozenset(interested))

    def vote(self, row: Row) -> Vote:
        """Return whose vote a decision is."""
        behalf = self.names[row["behalf_id"]] if row["behalf_id"] else None
        return Vote(self.names[row["person_id"]], behalf, row["at"])

    def answers_were_allowed(self) -> None:
        """I1, I8, I9: every answer is a person's who may give it, about what they were shown."""
        for key, row in self.seen.decisions.items():
            old = self.before.decisions.get(key)
            if row["person_id"] is None or row["answer"] != "approve" or not row["counts"]:
                continue
            if old is None or (old["answer"], old["at"]) != (row["answer"], row["at"]):
                self.approval_was_allowed(row)
        for entry in self.entries:
            if entry["event"].startswith("proposal."):
                self.answer_was_allowed(entry)

    def approval_was_allowed(self, row: Row) -> None:
        """I8, I9: an approver has the right and no part in it, and saw what it is."""
        asked = self.before.proposals[row["proposal_id"]]
        assert self.truth.counts(self.vote(row), self.about(asked)), f"{row} must not count."
        assert asked["state"] in WAITING
        assert asked["expires_at"] > self.truth.now, f"{row} came too late."
        shown = (row["revision"], row["shown"])
        assert shown == (asked["revision"], asked["action_digest"]), f"{row} saw something else."

    def answer_was_allowed(self, entry: Row) -> None:
        """I1, I9: machines do not decide, and people only what they may."""
        verb = entry["event"].removeprefix("proposal.")
        kind, _, name = entry["actor"].partition("/")
        assert verb in (*PERSONAL, *OTHERWISE), f"Nobody knows what {verb} means."
        assert kind == "person" or verb not in PERSONAL, f"A machine decided: {entry}"
        asked = self.before.proposals.get(entry["payload"]["proposal"])
        if asked is None:
            return
        about = self.about(asked)
        if verb in APPROVERS:
            assert self.truth.speaks(name, about), f"{name} may not {verb} here."
        elif verb == "glass-broken":
            assert self.truth.holds_role(name, LIFTERS, about.domain), f"{name} broke the glass."
        elif verb in ("adopted", "reviewed"):
            assert self.truth.speaks(name, about), f"{name} may not {verb} here."
            assert name not in about.interested, f"{name} did {verb} their own."

    def holds_were_allowed(self) -> None:
        """I2: operators stop, approvers lift; nobody else does either."""
        for entry in self.entries:
            if entry["event"] not in ("hold.placed", "hold.renewed", "hold.lifted"):
                continue
            roles = LIFTERS if entry["event"] == "hold.lifted" else STOPPERS
            kind, _, name = entry["actor"].partition("/")
            assert kind == "person", f"A machine spoke of a hold: {entry}"
            said = self.truth.holds[entry["payload"]["hold"]]
            key = said.resource or said.controller
            domain = self.seen.resources[key]["domain"] if key else said.domain
            assert self.truth.holds_role(name, roles, domain), f"{name}: {entry['event']}"
            self.found[entry["event"]] += 1

    # I1, I2, I7, I8, I10: what happens.

    def effects(self) -> list[Row]:
        """Return the steps that were done, taken by an agent, or sent to a machine outside."""
        sent = {each["payload"].get("key") for each in self.entries if each["event"] in HANDED}
        done = [
            row
            for key, row in self.seen.steps.items()
            if row["executor"] == "control-plane"
            and row["state"] == "done" != self.before.steps.get(key, NONE)["state"]
        ]
        return [*done, *(row for row in self.seen.steps.values() if row["key"] in sent)]

    def effect_was_allowed(self, step: Row) -> None:
        """Nothing happens that nobody allowed, or that somebody forbade."""
        asked = self.before.proposals[step["proposal_id"]]
        self.found["undone" if step["undoes"] else f"{step['executor']} effect"] += 1
        assert asked["state"] in ("approved", "executing")
        self.nobody_forbade(step, asked)
        if step["undoes"]:
            assert self.may_be_undone(asked), f"I1: nobody may have {step} undone."
            return
        assert self.mode_of(asked) != "observe", "I10: something happened under observe."
        if asked["state"] == "approved":
            assert asked["execute_before"] > self.truth.now, "I1: it began too late."
        self.is_what_was_approved(step, asked)
        assert self.authorised(asked), f"I1: nobody stands behind {step}."

    def may_be_undone(self, asked: Row) -> bool:
        """I1: a person who still may has it undone; or nobody looked at what was forced."""
        if asked["answer"] == "break_glass":
            return True
        kind, _, name = asked["decided_by"].partition("/")
        domain = self.before.resources[asked["resource_id"]]["domain"]
        allowed = self.truth.holds_role(name, ("approver", "operator"), domain)
        return (kind, asked["answer"]) == ("person", "undo") and allowed

    def nobody_forbade(self, step: Row, asked: Row) -> None:
        """I2: no hold covers what is changed, or what is asked of an agent."""
        target = self.before.resources[asked["resource_id"]]
        paths = {"status.state"}
        if step["executor"] == "control-plane":
            paths = {each["path"] for each in step["before"]}
        held = self.truth.held(target, asked["controller_id"], paths)
        assert not held, f"I2: {step['operation']} happened under {held}."

    def mode_of(self, asked: Row) -> str:
        """Return how far the one who wants it may go."""
        if asked["controller_id"]:
            return str(self.before.resources[asked["controller_id"]]["spec"]["enforcementMode"])
        return "enforce" if self.acts_alone(asked) else "warn"

    def acts_alone(self, asked: Row) -> bool:
        """Tell whether a policy lets it run without anybody."""
        grave = any(each["operation"] in GRAVE for each in asked["actions"])
        if asked["risk"] != "low" or not asked["reversible"] or grave:
            return False
        kind, _, name = asked["proposer"].partition("/")
        if kind == "controller":
            spec = self.before.resources[asked["controller_id"]]["spec"]
            return (spec["enforcementMode"], spec.get("approval")) == ("enforce", "auto")
        return kind == "agent" and PROPOSERS[name][0] == "autonomous"

    def is_what_was_approved(self, step: Row, asked: Row) -> None:
        """I7, I8: the plan and its ground are those that were approved, and the plan is done."""
        key = asked["id"]
        assert self.approved.get(key) == (asked["revision"], asked["basis_digest"]), "I7: basis"
        assert digest(asked["basis"]) == asked["basis_digest"], "I7: the basis has another digest"
        self.rests_on_the_same(asked)
        uid = spelled(self.before.resources[asked["resource_id"]]["uid"])
        actions = {each["sequence"]: each for each in asked["actions"]}
        ran = (step["operation"], step["parameters"])
        planned = actions[step["sequence"]]
        assert ran == (planned["operation"], planned["parameters"]), "I8: something else ran"
        steps = [
            {
                "operation": each["operation"],
                "parameters": each["parameters"],
                "touches": sorted(each["touches"]),
            }
            for each in asked["actions"]
        ]
        assert digest({"target": uid, "steps": steps}) == asked["action_digest"], "I8: digest"

    def rests_on_the_same(self, asked: Row) -> None:
        """I7: when the first step begins, specs are of the generations that were approved."""
        begun = any(
            each["proposal_id"] == asked["id"] and each["state"] not in ("failed", "skipped")
            for each in self.before.steps.values()
        )
        if begun:
            return
        target = self.before.resources[asked["resource_id"]]
        assert target["generation"] == asked["basis"]["generation"], "I7: another spec"
        if asked["controller_id"]:
            owner = self.before.resources[asked["controller_id"]]
            assert owner["generation"] == asked["basis"]["controller"], "I7: another policy"

    def authorised(self, asked: Row) -> bool:
        """I1: enough people who may, or a policy that may, stand behind it now."""
        given = [
            each
            for each in self.before.decisions.values()
            if (each["proposal_id"], each["revision"]) == (asked["id"], asked["revision"])
            and each["shown"] == asked["action_digest"]
            and each["counts"]
        ]
        about = self.about(asked)
        forced = [each for each in given if each["answer"] == "break_glass"]
        if any(
            self.truth.holds_role(self.names[each["person_id"]], LIFTERS, about.domain)
            for each in forced
        ):
            return True
        yes = [each for each in given if each["answer"] == "approve"]
        if any(each["person_id"] is None for each in yes) and self.acts_alone(asked):
            return True
        grave = not asked["reversible"]
        grave = grave or any(each["operation"] in GRAVE for each in asked["actions"])
        votes = [self.vote(each) for each in yes if each["person_id"] is not None]
        needed: int = max(asked["people"], 2 if grave else 1)
        return self.truth.voices(votes, about) >= needed

    # I3: once.

    def specs_changed_once(self, effects: list[Row], by_people: set[int]) -> None:
        """I3: a spec is what it was, changed by exactly the steps that were done, or by people."""
        for key, row in self.seen.resources.items():
            old = self.before.resources.get(key, row)
            if key in by_people:
                continue
            mine = [
                each
                for each in effects
                if each["executor"] == "control-plane"
                and self.seen.proposals[each["proposal_id"]]["resource_id"] == key
            ]
            mine.sort(key=lambda each: each["result"]["generation"])
            spec = deepcopy(old["spec"])
            for step in mine:
                for each in step["before"]:
                    replay(spec, each)
            assert spec == row["spec"], f"I3: {row['name']} is not what was done to it."
            assert row["generation"] - old["generation"] == sum(bool(s["before"]) for s in mine)
            for step in mine:
                self.sign(key, step)

    def sign(self, key: int, step: Row) -> None:
        """Remember who wrote a spec."""
        asked = self.before.proposals[step["proposal_id"]]
        author = asked["decided_by"] if step["undoes"] else asked["proposer"]
        kind, _, name = author.partition("/")
        self.truth.authors[key] = name if kind == "person" else ""


def replay(spec: Row, noted: Row) -> None:
    """Do to a spec what a step says it did, if it found what it says it found."""
    *steps, last = noted["path"].split(".")[1:]
    for step in steps:
        spec = spec.setdefault(step, {})
    assert (last in spec, spec.get(last)) == (noted["had"], noted["value"]), f"I3: {noted}"
    if noted["has"]:
        spec[last] = noted["wrote"]
    else:
        del spec[last]
