"""What people say about proposals, fitting or not, in time or late, once or twice."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from controllers.decisions import answers, proposal_groups
from controllers.decisions.proposals import SeenRevision
from controllers.models import Proposal
from tests.decisions.judging import OPEN, WAITING
from tests.decisions.moments import Row
from tests.decisions.playing import (
    FACTORS,
    LIMIT,
    WHY,
    Play,
    any_in,
    pick,
    proposed,
    who,
)
from tests.decisions.world import PEOPLE, Said

ANSWERS = (
    "approve",
    "reject",
    "accept",
    "snooze",
    "extend",
    "request_changes",
    "withdraw",
    "undo",
    "resolve",
)


class Deciding(Play):
    """Whoever answers."""

    @precondition(any_in(*WAITING))
    @rule(number=pick, name=who)
    def somebody_approves(self, number: int, name: str) -> None:
        self.answer("approve", self.chosen(number, *WAITING), name)

    @precondition(any_in(*WAITING))
    @rule(number=pick)
    def somebody_who_may_approves(self, number: int) -> None:
        """I9: who has the right, and no part in it, is heard."""
        row = self.chosen(number, *WAITING)
        voted = [
            self.judge.names[each["person_id"]]
            for each in self.judge.seen.decisions.values()
            if each["proposal_id"] == row["id"] and each["person_id"]
        ]
        about = self.judge.about(row)
        able = [name for name in PEOPLE if self.truth.free(name, about) and name not in voted]
        if able:
            done = self.answer("approve", row, able[number % len(able)])
            assert done or row["expires_at"] <= self.truth.now, "Who may approve was refused."

    @precondition(any_in(*WAITING))
    @rule(number=pick, name=who, verb=st.sampled_from(["reject", "accept", "snooze", "extend"]))
    def somebody_says_no_or_not_yet(self, number: int, name: str, verb: str) -> None:
        self.answer(verb, self.chosen(number, *WAITING), name, **self.terms(verb))

    @precondition(any_in(*WAITING, "approved"))
    @rule(number=pick, name=who, verb=st.sampled_from(["request_changes", "withdraw"]))
    def somebody_sends_back(self, number: int, name: str, verb: str) -> None:
        self.answer(verb, self.chosen(number, *WAITING, "approved"), name)

    @precondition(proposed)
    @rule(number=st.integers(0, 9), name=who, verb=st.sampled_from(ANSWERS))
    def anybody_says_anything(self, number: int, name: str, verb: str) -> None:
        """I4: what does not fit, or comes too late, is refused and changes nothing."""
        rows = list(self.judge.seen.proposals.values())
        self.answer(verb, rows[number % len(rows)], name, **self.terms(verb))

    def terms(self, verb: str) -> Row:
        """Say what an answer needs besides the reason."""
        until = self.truth.now + timedelta(days=8)
        if verb == "snooze":
            return {"rest": answers.Rest(until)}
        if verb == "resolve":
            return {"outcome": "happened"}
        return {"until": until} if verb in ("accept", "extend") else {}

    @precondition(any_in(*WAITING))
    @rule(number=pick, name=who, factor=st.sampled_from(FACTORS))
    def somebody_changes(self, number: int, name: str, factor: float) -> None:
        row = self.chosen(number, *WAITING, "changes_requested")
        if self.answer("change", row, name, edits={1: {"factor": factor}}):
            self.afterwards.append(lambda: self.truth.take_part(row["id"], name))

    @precondition(any_in(*WAITING, "approved"))
    @rule(number=pick, name=who, whole=st.booleans())
    def somebody_decides_otherwise(self, number: int, name: str, whole: bool) -> None:
        row = self.chosen(number, *OPEN)
        instead = answers.Instead() if whole else answers.Instead(LIMIT, 400_000)
        until = self.truth.now + timedelta(hours=5)
        instead = answers.Instead(instead.path, instead.value, until)
        before = set(self.judge.seen.holds)
        if self.answer("override", row, name, instead=instead):
            scope = "field" if instead.path else "resource"
            said = Said("override", scope, resource=row["resource_id"], path=instead.path)
            self.place(before, said._replace(ends_at=until), name)

    @precondition(any_in(*WAITING))
    @rule(number=pick, name=who)
    def somebody_adopts(self, number: int, name: str) -> None:
        row = self.chosen(number, *WAITING)
        spec = self.judge.seen.resources[row["resource_id"]]["spec"]
        found = {"dimension": "field", "subject": "field/spec.purpose", "note": "drifted"}
        found |= {"desired": spec.get("purpose"), "observed": f"Seen {len(self.pages)} times."}
        Proposal.objects.filter(pk=row["id"]).update(evidence=[found])
        if self.answer("adopt", row, name):
            self.write(row["resource_id"], name)

    @precondition(any_in("verifying", "succeeded", "failed"))
    @rule(number=pick, name=who)
    def somebody_undoes(self, number: int, name: str) -> None:
        self.answer("undo", self.chosen(number, "verifying", "succeeded", "failed"), name)

    @precondition(any_in(*WAITING))
    @rule(number=pick, name=who)
    def somebody_breaks_the_glass(self, number: int, name: str) -> None:
        row = self.chosen(number, *WAITING)
        if self.answer("break_glass", row, name):
            self.afterwards.append(lambda: self.truth.take_part(row["id"], name))

    @precondition(lambda self: any(row["review_by"] for row in self.rows))
    @rule(number=pick, name=who)
    def somebody_reviews(self, number: int, name: str) -> None:
        rows = [row for row in self.rows if row["review_by"]] or self.rows
        key, by = rows[number % len(rows)]["id"], self.person(name)
        self.attempt(
            "review", lambda: answers.review(key, person=by, now=self.truth.now, reason=WHY)
        )

    @precondition(any_in("unknown"))
    @rule(number=pick, name=who, outcome=st.sampled_from(["happened", "failed", "retry"]))
    def somebody_resolves(self, number: int, name: str, outcome: str) -> None:
        self.answer("resolve", self.chosen(number, "unknown"), name, outcome=outcome)

    @precondition(any_in(*WAITING))
    @rule(name=who, verb=st.sampled_from(["approve", "reject", "withdraw"]))
    def somebody_decides_many(self, name: str, verb: str) -> None:
        """Answer all that waits; those that are refused change nothing, the others are judged."""
        rows = [row for row in self.rows if row["state"] in WAITING]
        wanted = [(row["id"], SeenRevision(row["revision"], row["action_digest"])) for row in rows]
        by, now = self.person(name), self.truth.now
        self.attempt(
            "decide many",
            lambda: proposal_groups.decide_all(wanted, verb, person=by, now=now, reason=WHY),
        )

    @precondition(lambda self: self.pages)
    @rule(
        number=st.integers(0, 30),
        name=who,
        verb=st.sampled_from(["approve", "reject", "withdraw"]),
    )
    def somebody_sends_an_old_form(self, number: int, name: str, verb: str) -> None:
        """I8: what has changed since it was shown is not decided by it."""
        rows = self.judge.seen.proposals
        late = [page for page in self.pages if self.is_old(*page)]
        waiting = [page for page in late if rows[page[0]]["state"] in WAITING]
        pages = waiting or late or self.pages
        key, seen = pages[number % len(pages)]
        old = self.is_old(key, seen)
        page = rows[key] | {"revision": seen.revision, "action_digest": seen.digest}
        done = self.answer(verb, page, name)
        assert not (old and done), "An old form was taken."

    def is_old(self, key: int, seen: SeenRevision) -> bool:
        """Tell whether a page no longer shows what there is."""
        row = self.judge.seen.proposals[key]
        return seen != SeenRevision(row["revision"], row["action_digest"])

    @precondition(lambda self: self.last)
    @rule()
    def the_same_arrives_again(self) -> None:
        """I4: whatever is delivered twice happens once."""
        last = self.last
        assert last is not None
        self.attempt("again", last)
