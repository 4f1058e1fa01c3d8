"""People say no: what a hold may be, what it reaches, and what it brings about at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions import holds
from controllers.decisions.holds import HoldRequest, Shadowed
from controllers.engine.precedence import Reach
from controllers.models import Epoch, Hold, Proposal, Shadow, Step
from resources.documents.actor import Actor
from resources.tables.models import LedgerEvent, Resource, ResourceRevision
from tests.conftest import Clock
from tests.decisions.making import action, agent, controller, person, proposal
from tests.problems import refuses
from tests.resources.making import everything, live
from tests.rows import every_row

pytestmark = pytest.mark.django_db

BUDGET = "spec.tokenBudget.maxDaily"


@pytest.fixture
def scribe(clock: Clock) -> Resource:
    return agent(clock)


@pytest.fixture
def keeper(clock: Clock) -> Resource:
    return controller(clock)


def pause(row: Resource, **given: Any) -> HoldRequest:
    return HoldRequest("pause", "resource", "It misbehaves.", resource=row.pk, **given)


def override(row: Resource, value: Any = None, path: str = BUDGET) -> HoldRequest:
    said = "Until the audit is over."
    return HoldRequest("override", "field", said, resource=row.pk, path=path, value=value)


def step(row: Proposal, clock: Clock, **given: Any) -> Step:
    values = {
        "proposal": row,
        "sequence": 1,
        "operation": "throttle",
        "executor": "webhook",
        "idempotent": True,
        "state": "dispatched",
        "key": f"{row.pk}-{Step.objects.count()}",
        "deadline": clock.now + timedelta(seconds=7),
    } | given
    return Step.objects.create(**values)


# What a hold is.


GOOD = {
    ("stop", "organisation"): "organisation",
    ("freeze", "organisation"): "organisation",
    ("freeze", "domain"): "domain/growth",
    ("pause", "domain"): "domain/growth",
    ("pause", "controller"): "controller/keeper",
    ("pause", "resource"): "agent/scribe",
    ("override", "resource"): "agent/scribe",
    ("override", "field"): "agent/scribe",
}
BAD = [
    (kind, scope)
    for kind in ("stop", "freeze", "pause", "override")
    for scope in ("organisation", "domain", "controller", "resource", "field")
    if (kind, scope) not in GOOD
]


@pytest.mark.parametrize(("kind", "scope"), GOOD)
def test_each_kind_is_placed_where_it_belongs_and_told(
    clock: Clock, ines: User, scribe: Resource, keeper: Resource, kind: str, scope: str
) -> None:
    """I2: a hold is a row, an entry of its own chain, and a new epoch."""
    before = holds.epoch()

    hold = holds.place(wanted_of(kind, scope, scribe, keeper), person=ines, now=clock.now).hold

    (told,) = LedgerEvent.objects.filter(stream=f"hold/{hold.uid}")
    assert (told.event, told.subject) == ("hold.placed", GOOD[kind, scope])
    assert (told.actor, told.payload["reason"]) == ("person/ines", "Because.")
    assert holds.epoch() == before + 1 == hold.epoch
    (standing,) = holds.standing(clock.now)
    assert (standing.key, standing.kind, standing.scope) == (hold.pk, kind, scope)
    assert hold.owner == ines
    assert hold.ends_at == clock.now + timedelta(days=7)
    assert hold.remind_at == clock.now + timedelta(days=6)


def wanted_of(kind: str, scope: str, scribe: Resource, keeper: Resource) -> HoldRequest:
    names: dict[str, dict[str, Any]] = {
        "organisation": {},
        "domain": {"domain": "growth"},
        "controller": {"controller": keeper.pk},
        "resource": {"resource": scribe.pk},
        "field": {"resource": scribe.pk, "path": BUDGET},
    }
    return HoldRequest(kind, scope, "Because.", **names[scope])


@every_row(("kind", "scope"), BAD, rolled_back=True)
def test_a_kind_in_another_scope_is_refused(
    clock: Clock, maya: User, scribe: Resource, keeper: Resource, kind: str, scope: str
) -> None:
    with refuses("invalid", match=r"The scope of a hold that is an? "):
        holds.place(wanted_of(kind, scope, scribe, keeper), person=maya, now=clock.now)
    assert not Hold.objects.exists()


@every_row(
    ("given", "sentence"),
    [
        ({"kind": "nap"}, "A hold is one of stop, freeze, pause, override."),
        ({"reason": " \n"}, "Say why."),
        ({"reason": "x" * 2001}, "A reason has at most 2000 characters."),
        ({"reason": "a\x00b"}, "The reason cannot be kept: it contains a NUL character."),
        ({"resource": None}, "The scope resource names resource."),
        ({"resource": 10**12}, "There is no such resource."),
        ({"domain": "growth"}, "The scope resource names resource."),
        ({"path": BUDGET}, "The scope resource names resource."),
        ({"value": 5}, "Only an override of a field of the spec"),
        ({"in_flight": "explode"}, "Work that has begun may finish or stop."),
        ({"open_ended": True}, "Only a stop may be without an end."),
        ({"window": {"cron": "0 18 * * 5"}}, "Only a freeze comes back."),
    ],
    rolled_back=True,
)
def test_nonsense_is_refused_with_a_sentence_and_nothing_is_written(
    clock: Clock, maya: User, scribe: Resource, given: dict[str, Any], sentence: str
) -> None:
    before = everything()

    with refuses("invalid") as refused:
        holds.place(replace(pause(scribe), **given), person=maya, now=clock.now)

    assert str(refused.value).startswith(sentence)
    assert everything() == before
    assert not Hold.objects.exists()
    assert not Epoch.objects.exists()


@pytest.mark.parametrize(
    ("scope", "given", "sentence"),
    [
        ("domain", {"domain": "atlantis"}, "There is no such domain."),
        ("domain", {"domain": "a\x00"}, "There is no such domain."),
        ("controller", {"controller": 10**12}, "There is no such controller."),
    ],
)
def test_what_is_not_there_cannot_be_held(
    clock: Clock, maya: User, scope: str, given: dict[str, Any], sentence: str
) -> None:
    with refuses("invalid", match=sentence):
        holds.place(HoldRequest("pause", scope, "Because.", **given), person=maya, now=clock.now)


def test_an_agent_is_no_controller(clock: Clock, maya: User, scribe: Resource) -> None:
    wanted = HoldRequest("pause", "controller", "Because.", controller=scribe.pk)

    with refuses("invalid", match="There is no such controller"):
        holds.place(wanted, person=maya, now=clock.now)


@pytest.mark.parametrize(
    "path", ["tokenBudget", "spec", "spec.", "spec..a", "metadata.name", "spec.a b", "spec[0]"]
)
def test_a_path_leads_into_the_spec_or_the_status(
    clock: Clock, maya: User, scribe: Resource, path: str
) -> None:
    with refuses("invalid", match="A path looks like"):
        holds.place(override(scribe, path=path), person=maya, now=clock.now)


@pytest.mark.parametrize(
    ("ends", "sentence"),
    [
        (timedelta(0), "It would end before it begins."),
        (timedelta(seconds=-1), "It would end before it begins."),
        (timedelta(days=90, seconds=1), "A hold ends within 90 days"),
    ],
)
def test_an_end_lies_ahead_but_not_too_far(
    clock: Clock, maya: User, scribe: Resource, ends: timedelta, sentence: str
) -> None:
    with refuses("invalid", match=sentence):
        holds.place(pause(scribe, ends_at=clock.now + ends), person=maya, now=clock.now)

    longest = pause(scribe, ends_at=clock.now + timedelta(days=90))
    assert holds.place(longest, person=maya, now=clock.now).hold.ends_at == longest.ends_at


def test_a_time_without_a_zone_is_refused(clock: Clock, maya: User, scribe: Resource) -> None:
    naive = (clock.now + timedelta(days=1)).replace(tzinfo=None)

    with refuses("invalid", match="A time needs its zone"):
        holds.place(pause(scribe, ends_at=naive), person=maya, now=clock.now)


def test_a_stop_may_last_until_somebody_lifts_it(clock: Clock, ines: User) -> None:
    wanted = HoldRequest("stop", "organisation", "Fire.", open_ended=True)

    hold = holds.place(wanted, person=ines, now=clock.now).hold

    assert hold.ends_at is None
    assert holds.standing(clock.advance(days=1000))[0].key == hold.pk


# Who may.


def test_operators_stop_and_viewers_do_not(
    clock: Clock, vera: User, ines: User, scribe: Resource
) -> None:
    with refuses("forbidden"):
        holds.place(pause(scribe), person=vera, now=clock.now)
    assert not Hold.objects.exists()

    assert holds.place(pause(scribe), person=ines, now=clock.now).hold.pk


def test_an_operator_of_one_domain_stops_only_what_belongs_to_it(
    clock: Clock, scribe: Resource, keeper: Resource
) -> None:
    olga = person(clock, "olga", "operator", domain="growth")
    elsewhere = agent(clock, "porter", domain="harbour")

    assert holds.place(pause(scribe), person=olga, now=clock.now).hold.pk
    for wanted in (
        pause(elsewhere),
        HoldRequest("stop", "organisation", "Mine is all."),
        HoldRequest("pause", "controller", "It reaches further.", controller=keeper.pk),
        HoldRequest("pause", "domain", "Not mine.", domain="harbour"),
    ):
        with refuses("forbidden"):
            holds.place(wanted, person=olga, now=clock.now)


# Machines.


def test_a_controller_pauses_itself_once_and_only_a_person_ends_that(
    clock: Clock, keeper: Resource
) -> None:
    """A machine may stop, never start: not even the clock resumes it."""
    wanted = HoldRequest("pause", "controller", "Ten errors in a row.", controller=keeper.pk)
    itself = Actor("controller", "keeper")
    first = holds.place(wanted, actor=itself, now=clock.now).hold
    again = holds.place(wanted, actor=itself, now=clock.advance(minutes=5)).hold

    assert again == first
    assert (first.author, first.owner, first.ends_at) == ("controller/keeper", None, None)
    assert holds.epoch() == 1
    assert holds.covering(Reach(1, "growth", keeper.pk), clock.advance(days=365)) is not None


def test_an_agent_may_ask_to_be_stopped(clock: Clock, scribe: Resource) -> None:
    hold = holds.place(pause(scribe), actor=Actor("agent", "scribe"), now=clock.now).hold

    assert (hold.author, hold.ends_at) == ("agent/scribe", None)


@every_row(
    "who", ["agent/porter", "controller/porter", "policy/warn", "system/ioa"], rolled_back=True
)
@every_row(
    "wanted",
    [
        lambda scribe, keeper: pause(scribe),
        lambda scribe, keeper: HoldRequest("pause", "controller", "Envy.", controller=keeper.pk),
        lambda scribe, keeper: HoldRequest("pause", "domain", "Envy.", domain="growth"),
        lambda scribe, keeper: HoldRequest("stop", "organisation", "Envy."),
        lambda scribe, keeper: override(scribe, 5),
    ],
)
def test_a_machine_stops_nobody_else(
    clock: Clock, scribe: Resource, keeper: Resource, who: str, wanted: Any
) -> None:
    kind, _, name = who.partition("/")
    actor: Any = Actor(kind, name)  # type: ignore[arg-type]

    with refuses("forbidden", match="A machine may pause itself"):
        holds.place(wanted(scribe, keeper), actor=actor, now=clock.now)
    assert not Hold.objects.exists()


def test_an_agent_overrides_nothing_of_its_own(clock: Clock, scribe: Resource) -> None:
    with refuses("forbidden", match="A machine may pause itself"):
        holds.place(override(scribe, 5), actor=Actor("agent", "scribe"), now=clock.now)
    assert live("Agent", "scribe").spec["tokenBudget"]["maxDaily"] == 1_000_000


# What had begun.


def test_whoever_pauses_is_told_what_is_on_the_wire(
    clock: Clock, ines: User, scribe: Resource, keeper: Resource
) -> None:
    """I2: the calls under way are listed with their deadlines, and are the only exception."""
    other = agent(clock, "porter", domain="harbour")
    here = proposal(clock, scribe, keeper, state="executing")
    there = proposal(clock, other, keeper, state="executing")
    sent = step(here, clock)
    taken = step(here, clock, sequence=2, state="claimed", claimed_by="agent/scribe")
    step(there, clock)
    for number, state in enumerate(["waiting", "done", "failed", "unknown", "skipped"], 3):
        step(here, clock, sequence=number, state=state)
    step(here, clock, sequence=9, deadline=clock.now - timedelta(seconds=1))

    placed = holds.place(pause(scribe), person=ines, now=clock.now)

    assert [each.step for each in placed.in_flight] == [sent.pk, taken.pk]
    assert {each.target for each in placed.in_flight} == {"agent/scribe"}
    until = clock.now + timedelta(seconds=7)
    assert placed.sentence == f"2 calls already on the wire, drained by {until:%H:%M:%S} UTC."
    (told,) = LedgerEvent.objects.filter(event="hold.placed")
    assert told.payload["inFlight"] == [sent.pk, taken.pk]


def test_drained_is_what_has_ended_or_may_not_go_on(
    clock: Clock, ines: User, scribe: Resource
) -> None:
    row = proposal(clock, scribe, state="executing")
    first, second = step(row, clock), step(row, clock, sequence=2)
    hold = holds.place(pause(scribe), person=ines, now=clock.now).hold
    step(row, clock, sequence=3)

    Step.objects.filter(pk=first.pk).update(state="done")
    assert [each.step for each in holds.drained(hold, clock.now)] == [second.pk]
    assert holds.told(holds.drained(hold, clock.now)).startswith("1 call already on the wire")

    assert holds.drained(hold, clock.advance(seconds=8)) == ()
    assert holds.told(()) == "Nothing is under way."


def test_a_call_without_a_deadline_promises_none(
    clock: Clock, ines: User, scribe: Resource
) -> None:
    step(proposal(clock, scribe, state="executing"), clock, deadline=None)

    assert holds.place(pause(scribe), person=ines, now=clock.now).sentence == (
        "1 call already on the wire."
    )


@pytest.mark.parametrize(
    ("path", "count"), [(BUDGET, 1), ("spec.tokenBudget", 1), ("spec.purpose", 0)]
)
def test_an_override_of_a_field_lists_only_what_touches_it(
    clock: Clock, ines: User, scribe: Resource, path: str, count: int
) -> None:
    step(proposal(clock, scribe, state="executing"), clock)

    placed = holds.place(override(scribe, path=path), person=ines, now=clock.now)

    assert len(placed.in_flight) == count


@pytest.mark.parametrize(
    ("scope", "count"), [("organisation", 2), ("domain", 1), ("controller", 1), ("resource", 1)]
)
def test_each_scope_lists_what_lies_in_it(
    clock: Clock, ines: User, scribe: Resource, keeper: Resource, scope: str, count: int
) -> None:
    other = agent(clock, "porter", domain="harbour")
    step(proposal(clock, scribe, keeper, state="executing"), clock)
    step(proposal(clock, other, state="executing"), clock)
    kind = "stop" if scope == "organisation" else "pause"

    placed = holds.place(wanted_of(kind, scope, scribe, keeper), person=ines, now=clock.now)

    assert len(placed.in_flight) == count


# Overrides.


def test_an_override_answers_what_it_covers_and_keeps_what_was_said(
    clock: Clock, maya: User, scribe: Resource, keeper: Resource
) -> None:
    """I-96 The original decision, the replacement and the reason are kept."""
    waiting = proposal(clock, scribe, keeper)
    approved = proposal(clock, scribe, state="approved", decided_by="person/tomas")
    elsewhere = proposal(
        clock, scribe, keeper, actions=[action(operation="restart", touches=["status.state"])]
    )
    another = proposal(clock, agent(clock, "porter"), keeper)

    hold = holds.place(override(scribe, 400_000), person=maya, now=clock.now).hold

    for row in (waiting, approved):
        row.refresh_from_db()
        assert (row.state, row.answer, row.decided_by) == ("overridden", "override", "person/maya")
        assert row.reason == "Until the audit is over."
    told = LedgerEvent.objects.get(stream=approved.stream, event="proposal.overridden")
    assert told.payload["from"] == "approved"
    assert told.payload["decidedBy"] == "person/tomas"
    assert told.payload["instead"] == {
        "hold": hold.pk,
        "path": BUDGET,
        "value": 400_000,
        "reason": "Until the audit is over.",
    }
    for row in (elsewhere, another):
        row.refresh_from_db()
        assert row.state == "pending"


def test_an_override_leaves_what_has_ended_or_begun(
    clock: Clock, maya: User, scribe: Resource, keeper: Resource
) -> None:
    late = proposal(clock, scribe, keeper, expires_at=clock.now - timedelta(seconds=1))
    begun = proposal(clock, scribe, state="executing")

    holds.place(override(scribe), person=maya, now=clock.now)

    for row, state in ((late, "pending"), (begun, "executing")):
        row.refresh_from_db()
        assert row.state == state


def test_what_is_paused_stays_as_it_is(clock: Clock, maya: User, scribe: Resource) -> None:
    row = proposal(clock, scribe, state="approved")

    holds.place(pause(scribe), person=maya, now=clock.now)

    row.refresh_from_db()
    assert (row.state, row.lock) == ("approved", 0)


def test_the_value_of_an_override_becomes_the_spec_by_the_persons_hand(
    clock: Clock, maya: User, scribe: Resource
) -> None:
    hold = holds.place(override(scribe, 400_000), person=maya, now=clock.now).hold

    row = live("Agent", "scribe")
    assert row.spec["tokenBudget"] == {"maxDaily": 400_000}
    assert row.generation == scribe.generation + 1
    assert (hold.value, hold.former) == (400_000, 1_000_000)
    last = ResourceRevision.objects.filter(resource=row).latest("resource_version")
    assert (last.actor, last.message) == ("person/maya", "Until the audit is over.")


def test_a_field_that_was_not_declared_is_remembered_as_such(
    clock: Clock, maya: User, scribe: Resource
) -> None:
    wanted = override(scribe, 9_000, "spec.tokenBudget.maxMonthly")

    hold = holds.place(wanted, person=maya, now=clock.now).hold

    hold.refresh_from_db()
    assert hold.former is None
    assert live("Agent", "scribe").spec["tokenBudget"]["maxMonthly"] == 9_000


@pytest.mark.parametrize(
    ("value", "path", "sentence"),
    [
        ("plenty", BUDGET, "agent/scribe does not take this value"),
        (float("nan"), BUDGET, "The value cannot be kept"),
        (5, "spec.purpose.words", "spec.purpose.words leads through purpose"),
        (5, "spec.dataScopes[0].name", "Only an override of a field of the spec"),
        (5, "status.state", "Only an override of a field of the spec"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_and_nothing_is_half_done(
    clock: Clock, maya: User, scribe: Resource, value: Any, path: str, sentence: str
) -> None:
    row = proposal(clock, scribe)
    before = everything()

    with refuses("invalid") as refused:
        holds.place(override(scribe, value, path), person=maya, now=clock.now)

    assert str(refused.value).startswith(sentence)
    assert everything() == before
    assert not Hold.objects.exists()
    assert not Epoch.objects.exists()
    row.refresh_from_db()
    assert row.state == "pending"


# What stands.


def test_a_hold_whose_end_has_passed_does_not_stand_although_nobody_swept(
    clock: Clock, ines: User, scribe: Resource
) -> None:
    reach = Reach(scribe.pk, "growth")
    holds.place(pause(scribe, ends_at=clock.now + timedelta(hours=1)), person=ines, now=clock.now)

    assert holds.covering(reach, clock.advance(minutes=59)) is not None
    assert holds.covering(reach, clock.advance(minutes=1)) is None
    assert holds.standing(clock.now) == ()


def test_a_slow_clock_lets_nothing_stand_longer(
    clock: Clock, ines: User, scribe: Resource
) -> None:
    """I23: the end is held against the database's clock too."""
    hold = holds.place(pause(scribe), person=ines, now=clock.now).hold
    Hold.objects.filter(pk=hold.pk).update(ends_at=clock.now - timedelta(seconds=1))

    assert holds.standing(clock.now - timedelta(days=1)) == ()


def test_each_scope_covers_what_lies_in_it(
    clock: Clock, ines: User, scribe: Resource, keeper: Resource
) -> None:
    inside = Reach(scribe.pk, "growth", keeper.pk, (BUDGET,))
    for kind, scope in (("pause", "domain"), ("pause", "controller"), ("override", "field")):
        wanted = wanted_of(kind, scope, scribe, keeper)
        hold = holds.place(wanted, person=ines, now=clock.now).hold
        others = {
            "domain": inside._replace(domain="harbour"),
            "controller": inside._replace(controller=None),
            "field": inside._replace(touches=("status.state",)),
        }

        found = holds.covering(inside, clock.now)
        assert found is not None
        assert found.key == hold.pk
        assert holds.covering(others[scope], clock.now) is None
        Hold.objects.all().delete()


def test_what_stands_is_one_query(
    clock: Clock, ines: User, scribe: Resource, django_assert_num_queries: Any
) -> None:
    for _ in range(5):
        holds.place(pause(scribe), person=ines, now=clock.now)
    holds.place(HoldRequest("stop", "organisation", "Fire."), person=ines, now=clock.now)

    with django_assert_num_queries(1):
        assert len(holds.standing(clock.now)) == 6
    with django_assert_num_queries(1):
        found = holds.covering(Reach(scribe.pk, "growth"), clock.now)

    assert found is not None
    assert found.kind == "stop"


# What would have happened.


def test_shadows_are_counted_by_plan(
    clock: Clock, ines: User, scribe: Resource, keeper: Resource
) -> None:
    hold = holds.place(pause(scribe), person=ines, now=clock.now).hold
    plan = Shadowed(hold.pk, keeper.pk, scribe.pk, "a" * 64, [action()], "Too much.")
    other = plan._replace(digest="b" * 64)
    first = clock.now

    assert holds.shadow([plan, other, plan], first) == 2
    assert holds.shadow([plan._replace(explanation="Far too much.")], clock.advance(hours=1)) == 1

    found = Shadow.objects.get(action_digest="a" * 64)
    assert (found.times, found.first_at, found.last_at) == (2, first, clock.now)
    assert (found.explanation, found.actions[0]["operation"]) == ("Far too much.", "throttle")
    assert Shadow.objects.get(action_digest="b" * 64).times == 1


def test_shadows_of_a_chunk_are_one_statement(
    clock: Clock,
    ines: User,
    scribe: Resource,
    keeper: Resource,
    django_assert_max_num_queries: Any,
) -> None:
    hold = holds.place(pause(scribe), person=ines, now=clock.now).hold
    plan = Shadowed(hold.pk, keeper.pk, scribe.pk, "", [action()])
    rows = [plan._replace(digest=f"{number:064}") for number in range(50)]

    # SQLite's driver writes row by row within one call.
    with django_assert_max_num_queries(1):
        holds.shadow(rows, clock.now)

    assert Shadow.objects.count() == 50
    assert holds.shadow([], clock.now) == 0
