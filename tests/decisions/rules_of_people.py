"""What people do besides: they hold, declare, and give and take rights."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from controllers.access import roles
from controllers.decisions import holds
from controllers.models import Delegation
from resources.documents.actor import Actor
from resources.store import snapshots
from resources.tables.models import Resource
from resources.usecases import specs, statuses
from tests.decisions.moments import Row
from tests.decisions.playing import (
    LIMIT,
    WHY,
    Play,
    pick,
    target,
    who,
)
from tests.decisions.world import Deputy, Said

# The kind and the scope of a hold, and which resource or domain it is about.
WANTED = (
    ("stop", "organisation", ""),
    ("freeze", "organisation", ""),
    ("freeze", "domain", "growth"),
    ("pause", "domain", "ops"),
    ("pause", "controller", "keeper"),
    ("pause", "resource", "scribe"),
    ("pause", "resource", "otter"),
    ("override", "resource", "otter"),
    ("override", "field", "scribe"),
    ("override", "field", "otter"),
)


class Ruling(Play):
    """Whoever changes what holds."""

    @precondition(lambda self: len(self.truth.standing()) < 2)
    @rule(
        what=st.sampled_from(WANTED),
        name=who,
        length=st.sampled_from([1, 26, 200]),
        value=st.booleans(),
        later=st.booleans(),
    )
    def somebody_holds(
        self, what: tuple[str, str, str], name: str, length: int, value: bool, later: bool
    ) -> None:
        kind, scope, about = what
        now = self.truth.now
        starts = now + timedelta(hours=1) if later and kind == "freeze" else None
        ends = now + timedelta(hours=length + 1)
        found = self.world.targets.get(about)
        said = Said(
            kind,
            scope,
            about if scope == "domain" else "",
            self.world.keeper.pk if scope == "controller" else None,
            found.pk if found else None,
            LIMIT if scope == "field" else "",
            starts,
            ends,
        )
        worth = 600_000 if value and scope == "field" else None
        wanted = holds.HoldRequest(reason=WHY, value=worth, **said._asdict())
        before = set(self.judge.seen.holds)
        by = self.person(name)
        if self.attempt("hold", lambda: holds.place(wanted, person=by, now=now)):
            self.place(before, said, name)

    @precondition(lambda self: self.truth.standing())
    @rule(number=pick, name=who, restore=st.booleans())
    def somebody_lifts(self, number: int, name: str, restore: bool) -> None:
        key = self.held(number)
        by, now = self.person(name), self.truth.now
        if self.attempt(
            "lift", lambda: holds.lift(key, person=by, now=now, reason=WHY, restore=restore)
        ):
            said = self.truth.holds[key]
            self.truth.holds[key] = said._replace(ends_at=now)
            if restore:
                self.write(said.resource or 0, name)

    @precondition(lambda self: self.truth.standing())
    @rule(number=pick, name=who)
    def somebody_renews(self, number: int, name: str) -> None:
        key = self.held(number)
        by, now = self.person(name), self.truth.now
        ends = now + timedelta(days=10)
        if self.attempt("renew", lambda: holds.renew(key, ends, person=by, now=now, reason=WHY)):
            self.truth.holds[key] = self.truth.holds[key]._replace(ends_at=ends)

    def held(self, number: int) -> int:
        """Choose a hold, one that stands if any does."""
        standing = self.truth.standing()
        keys = [key for key, said in self.truth.holds.items() if said in standing]
        keys = keys or list(self.truth.holds)
        return keys[number % len(keys)]

    # Declaring and reporting.

    @rule(about=target, name=who, limit=st.sampled_from([None, 900_000, 3_000_000]))
    def somebody_declares(self, about: str, name: str, limit: int | None) -> None:
        spec = dict(self.judge.seen.resources[self.world.targets[about].pk]["spec"])
        spec["purpose"] = f"Declared {len(self.pages)} times."
        if limit:
            spec["tokenBudget"] = {"maxDaily": limit}
        self.declare(self.world.targets[about], spec, name, authorised=True)

    def declare(self, row: Resource, spec: Row, name: str, *, authorised: bool) -> bool:
        metadata = snapshots.ordered_metadata(row.name, row.metadata)
        document = snapshots.assemble(row.kind, metadata, spec, {})
        wish = specs.DesiredDocument(document, None, WHY, authorised)
        actor = Actor("person", name)
        done = self.attempt(
            "declare", lambda: specs.apply([wish], actor=actor, now=self.truth.now)
        )
        self.write(row.pk, name)
        return not done.results[0].problems

    @rule(
        mode=st.sampled_from(["enforce", "enforce", "warn", "advise", "observe"]),
        approval=st.sampled_from(["auto", "required"]),
        authorised=st.booleans(),
    )
    def somebody_sets_the_mode(self, mode: str, approval: str, authorised: bool) -> None:
        """I10: who lowers a guard alone is not heard."""
        order = ("observe", "advise", "warn", "enforce")
        present = self.judge.seen.resources[self.world.keeper.pk]["spec"]
        weaker = order.index(mode) < order.index(present["enforcementMode"])
        weaker |= (approval, present.get("approval", "required")) == ("auto", "required")
        spec = present | {"enforcementMode": mode, "approval": approval}
        done = self.declare(self.world.keeper, spec, "olga", authorised=authorised)
        assert done is (authorised or not weaker)

    @rule(name=target, tokens=st.sampled_from([10, 2_000_000, 9_000_000]))
    def an_agent_reports_its_status(self, name: str, tokens: int) -> None:
        told = {"state": "running", "costConsumed": {"tokens": tokens, "period": "daily"}}
        report = statuses.Report("Agent", name, told)
        actor = Actor("agent", name)
        self.attempt("status", lambda: statuses.observe([report], actor=actor, now=self.truth.now))

    # Rights.

    @rule(
        name=st.sampled_from(["maya", "tomas", "nadia", "vera", "ines"]),
        domain=st.sampled_from(["", "growth", "ops"]),
        risk=st.sampled_from(["low", "medium", "high"]),
        by=st.sampled_from(["olga", "maya"]),
    )
    def somebody_is_given_a_role(self, name: str, domain: str, risk: str, by: str) -> None:
        right = roles.Right("approver", domain, risk)
        person, giver = self.person(name), self.person(by)
        if self.attempt("grant", lambda: roles.grant(person, right, by=giver, now=self.truth.now)):
            self.truth.rights[name, "approver", domain] = risk

    @rule(
        name=st.sampled_from(["maya", "tomas", "nadia", "vera", "ines"]),
        domain=st.sampled_from(["", "growth"]),
        by=st.sampled_from(["olga", "maya"]),
    )
    def somebody_loses_a_role(self, name: str, domain: str, by: str) -> None:
        role = "operator" if name == "ines" else "approver"
        person, taker = self.person(name), self.person(by)
        now = self.truth.now
        if self.attempt(
            "revoke", lambda: roles.revoke(person, role, by=taker, now=now, domain=domain)
        ):
            self.truth.rights.pop((name, role, domain), None)

    @rule(
        name=st.sampled_from(["maya", "tomas", "nadia", "ines"]),
        active=st.sampled_from([True, True, False]),
    )
    def somebody_leaves_or_returns(self, name: str, active: bool) -> None:
        keys = [self.person(name).pk]
        self.attempt("leave", lambda: User.objects.filter(pk__in=keys).update(is_active=active))
        (self.truth.inactive.discard if active else self.truth.inactive.add)(name)

    @rule(
        name=st.sampled_from(["maya", "tomas", "nadia"]),
        deputy=st.sampled_from(["vera", "nadia", "maya"]),
        hours=st.sampled_from([1, 30, 300]),
    )
    def somebody_names_a_deputy(self, name: str, deputy: str, hours: int) -> None:
        person, other, now = self.person(name), self.person(deputy), self.truth.now
        ends = now + timedelta(hours=hours)
        other.is_active = deputy not in self.truth.inactive
        made = self.attempt(
            "delegate",
            lambda: roles.delegate(other, person=person, starts_at=now, ends_at=ends, now=now),
        )
        if made:
            self.truth.deputies[made.pk] = Deputy(name, deputy, now, ends)

    @precondition(lambda self: self.truth.deputies)
    @rule(number=pick, name=who)
    def somebody_ends_a_deputy(self, number: int, name: str) -> None:
        keys = list(self.truth.deputies)
        key, by, now = keys[number % len(keys)], self.person(name), self.truth.now
        if self.attempt("end deputy", lambda: roles.end_delegation(key, by=by, now=now)):
            ended = Delegation.objects.values_list("revoked_at", flat=True).get(pk=key)
            self.truth.deputies[key] = self.truth.deputies[key]._replace(ended_at=ended)
