"""Starting is narrow: who may lift, what they see before, and what happens first afterwards."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from controllers.decisions import holds
from controllers.decisions.holds import HoldRequest, Shadowed
from controllers.models import Delivery, Hold, Judgement, Runtime
from resources.documents.actor import Actor
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.decisions.making import action, agent, controller, person, proposal
from tests.problems import refuses
from tests.resources.making import apply, live, made

pytestmark = pytest.mark.django_db

BUDGET = "spec.tokenBudget.maxDaily"
Place = Callable[..., Hold]


@pytest.fixture
def scribe(clock: Clock) -> Resource:
    return agent(clock)


@pytest.fixture
def keeper(clock: Clock) -> Resource:
    return controller(clock)


@pytest.fixture
def place(clock: Clock, ines: User, scribe: Resource) -> Place:
    """Place a hold as Ines; by default a pause of the agent."""

    def run(kind: str = "pause", scope: str = "resource", **given: Any) -> Hold:
        if scope in ("resource", "field"):
            given.setdefault("resource", scribe.pk)
        return holds.place(
            HoldRequest(kind, scope, "Wait.", **given), person=ines, now=clock.now
        ).hold

    return run


def lift(hold: Hold, person: User, clock: Clock, **given: Any) -> Hold:
    return holds.lift(hold.pk, person=person, now=clock.now, reason="It is over.", **given)


def runtime(row: Resource, clock: Clock, cycles: int = 4) -> Runtime:
    now = clock.now
    return Runtime.objects.create(controller=row, started_at=now, resync_at=now, cycles=cycles)


def judge(row: Resource, by: Resource, clock: Clock) -> None:
    Judgement.objects.create(
        controller=by,
        resource=row,
        generation=1,
        version=1,
        status="True",
        drifted=False,
        since=clock.now,
        evaluated_at=clock.now,
    )


# Lifting.


def test_an_approver_lifts_and_the_ledger_says_whose_hold_it_was(
    clock: Clock, maya: User, place: Place
) -> None:
    hold = place()
    clock.advance(minutes=5)

    lifted = lift(hold, maya, clock)

    assert holds.standing(clock.now) == ()
    assert (lifted.ended_by, lifted.end_reason) == ("person/maya", "It is over.")
    assert lifted.ended_at == clock.now
    assert holds.epoch() == 2 == lifted.epoch
    told = LedgerEvent.objects.get(event="hold.lifted")
    assert (told.stream, told.seq, told.actor) == (f"hold/{hold.uid}", 2, "person/maya")
    assert told.payload["placedBy"] == "person/ines"
    assert told.payload["ofAnother"] is True


def test_lifting_ones_own_hold_beats_nobody(clock: Clock, maya: User, scribe: Resource) -> None:
    wanted = HoldRequest("override", "resource", "Mine.", resource=scribe.pk)
    hold = holds.place(wanted, person=maya, now=clock.now).hold

    lift(hold, maya, clock)

    assert "ofAnother" not in LedgerEvent.objects.get(event="hold.lifted").payload


def test_who_may_stop_may_not_start(clock: Clock, ines: User, vera: User, place: Place) -> None:
    """Stopping is wide, starting is narrow: even the author needs to be an approver."""
    hold = place()

    for somebody in (ines, vera):
        with refuses("forbidden"):
            lift(hold, somebody, clock)

    assert holds.standing(clock.now)[0].key == hold.pk
    assert holds.epoch() == 1


def test_an_approver_of_another_domain_may_not_lift(clock: Clock, place: Place) -> None:
    olga = person(clock, "olga", "approver", domain="harbour")
    paul = person(clock, "paul", "approver", domain="growth")
    stop = place("stop", "organisation")
    hold = place()

    for somebody, tried in ((olga, hold), (paul, stop)):
        with refuses("forbidden"):
            lift(tried, somebody, clock)
    lift(hold, paul, clock)

    assert [each.key for each in holds.standing(clock.now)] == [stop.pk]


@pytest.mark.parametrize("reason", ["", "  ", "a\x00b"])
def test_lifting_needs_a_reason(clock: Clock, maya: User, place: Place, reason: str) -> None:
    hold = place()

    with refuses("invalid"):
        holds.lift(hold.pk, person=maya, now=clock.now, reason=reason)

    assert len(holds.standing(clock.now)) == 1


def test_of_two_who_lift_the_second_is_told_who_was_first(
    clock: Clock, maya: User, tomas: User, place: Place
) -> None:
    hold = place()
    lift(hold, maya, clock)

    with refuses("refused", match="by person/maya: It is over"):
        lift(hold, tomas, clock)

    assert LedgerEvent.objects.filter(event="hold.lifted").count() == 1
    assert holds.epoch() == 2


def test_what_the_clock_has_ended_cannot_be_lifted(clock: Clock, maya: User, place: Place) -> None:
    hold = place(ends_at=clock.now + timedelta(hours=1))
    clock.advance(hours=1)

    with refuses("refused", match="It ended at"):
        lift(hold, maya, clock)


def test_there_is_nothing_to_lift(clock: Clock, maya: User) -> None:
    with refuses("not-found", match="There is no hold/404"):
        holds.lift(404, person=maya, now=clock.now, reason="Why not.")


def stopped_itself(keeper: Resource, clock: Clock) -> Hold:
    """Let a controller pause itself."""
    wanted = HoldRequest("pause", "controller", "Ten errors.", controller=keeper.pk)
    return holds.place(wanted, actor=Actor("controller", keeper.name), now=clock.now).hold


def test_a_person_resumes_what_a_machine_paused(
    clock: Clock, maya: User, keeper: Resource
) -> None:
    hold = stopped_itself(keeper, clock)

    lift(hold, maya, clock)

    assert holds.standing(clock.now) == ()
    assert stopped_itself(keeper, clock) != hold


# Overrides with a value.


def test_lifting_an_override_leaves_or_restores_what_it_replaced(
    clock: Clock, maya: User, place: Place
) -> None:
    lift(place("override", "field", path=BUDGET, value=400_000), maya, clock)
    assert live("Agent", "scribe").spec["tokenBudget"]["maxDaily"] == 400_000

    again = place("override", "field", path=BUDGET, value=300_000)
    lift(again, maya, clock, restore=True)
    assert live("Agent", "scribe").spec["tokenBudget"]["maxDaily"] == 400_000
    told = LedgerEvent.objects.get(event="hold.lifted", stream=again.stream)
    assert told.payload["restored"] == 400_000


def test_what_was_not_declared_is_taken_away_again(clock: Clock, maya: User, place: Place) -> None:
    hold = place("override", "field", path="spec.tokenBudget.maxMonthly", value=9_000)

    lift(hold, maya, clock, restore=True)

    assert live("Agent", "scribe").spec["tokenBudget"] == {"maxDaily": 1_000_000}


def test_what_somebody_declared_meanwhile_is_not_undone(
    clock: Clock, maya: User, scribe: Resource, place: Place
) -> None:
    hold = place("override", "field", path=BUDGET, value=400_000)
    spec = live("Agent", "scribe").spec | {"tokenBudget": {"maxDaily": 500_000}}
    assert apply(clock.now, made("Agent", "scribe", spec)).written

    with refuses("invalid", match="declared anew since then"):
        lift(hold, maya, clock, restore=True)

    assert holds.standing(clock.now)[0].key == hold.pk
    assert holds.epoch() == 1
    assert live("Agent", "scribe").spec["tokenBudget"]["maxDaily"] == 500_000


def test_a_pause_has_nothing_to_restore(clock: Clock, maya: User, place: Place) -> None:
    hold = place()

    with refuses("invalid", match="put nothing in the place"):
        lift(hold, maya, clock, restore=True)
    assert len(holds.standing(clock.now)) == 1


# The preview.


def test_the_preview_lists_first_what_would_run(
    clock: Clock, scribe: Resource, keeper: Resource, place: Place
) -> None:
    hold = place("stop", "organisation")
    waiting = proposal(clock, scribe, keeper)
    soon = clock.now + timedelta(hours=1)
    runs = proposal(clock, scribe, state="approved", execute_before=soon)
    late = proposal(
        clock,
        agent(clock, "porter", domain="harbour"),
        state="approved",
        execute_before=clock.now - timedelta(seconds=1),
    )
    proposal(clock, agent(clock, "clerk"), state="rejected")
    holds.shadow([Shadowed(hold.pk, keeper.pk, scribe.pk, "a" * 64, [action()])], clock.now)

    seen = holds.preview(hold.pk, clock.now)

    listed = [(each["proposal"], each["runs"]) for each in seen["proposals"]]
    assert listed == [(runs.pk, True), (late.pk, False), (waiting.pk, False)]
    assert (seen["runs"], seen["moreProposals"], seen["subject"]) == (1, 0, "organisation")
    (shadow,) = seen["shadows"]
    assert (shadow["controller"], shadow["resource"]) == ("controller/keeper", "agent/scribe")
    assert (shadow["times"], shadow["actions"][0]["operation"]) == (1, "throttle")
    assert seen["restores"] is None
    assert LedgerEvent.objects.filter(event="hold.lifted").count() == 0


def test_the_preview_tells_what_another_hold_still_holds(
    clock: Clock, scribe: Resource, place: Place
) -> None:
    hold, other = place(), place("stop", "organisation")
    proposal(clock, scribe, state="approved")

    (seen,) = holds.preview(hold.pk, clock.now)["proposals"]

    assert seen["runs"] is False
    assert seen["heldBy"]["hold"] == other.pk
    assert "Everything is stopped" in seen["heldBy"]["reason"]


def test_the_preview_of_a_field_shows_only_what_touches_it(
    clock: Clock, scribe: Resource, place: Place
) -> None:
    hold = place("override", "field", path=BUDGET, value=400_000)
    touching = proposal(clock, scribe)
    proposal(clock, scribe, actions=[action(operation="restart", touches=["status.state"])])

    seen = holds.preview(hold.pk, clock.now)

    assert [each["proposal"] for each in seen["proposals"]] == [touching.pk]
    assert seen["restores"] == {"path": BUDGET, "value": 1_000_000}


# Afterwards.


COVERED = {
    ("stop", "organisation"): {"keeper", "idler", "other"},
    ("pause", "domain"): {"keeper"},
    ("pause", "controller"): {"idler"},
    ("pause", "resource"): {"keeper"},
}


@pytest.fixture
def loop(clock: Clock, scribe: Resource, keeper: Resource) -> dict[str, Resource]:
    """Three controllers at work: one looks after the agent, one after another, one after none."""
    rows = {"keeper": keeper, "idler": controller(clock, "idler")}
    rows["other"] = controller(clock, "other")
    for row in rows.values():
        runtime(row, clock)
    judge(scribe, keeper, clock)
    judge(agent(clock, "porter", domain="harbour"), rows["other"], clock)
    return rows


@pytest.mark.parametrize(("kind", "scope"), COVERED)
def test_after_a_hold_its_controllers_only_propose_at_first(
    clock: Clock, maya: User, loop: dict[str, Resource], place: Place, kind: str, scope: str
) -> None:
    names: dict[str, dict[str, Any]] = {
        "domain": {"domain": "growth"},
        "controller": {"controller": loop["idler"].pk},
    }
    hold = place(kind, scope, **names.get(scope, {}))
    assert not any(holds.only_proposes(each.pk, clock.now) for each in loop.values())

    lift(hold, maya, clock)

    found = {name for name, row in loop.items() if holds.only_proposes(row.pk, clock.now)}
    assert found == COVERED[kind, scope]
    # The fourth cycle may be under way: it began before, so it does not count.
    marks = Runtime.objects.exclude(only_proposes_from=None)
    assert set(marks.values_list("only_proposes_from", flat=True)) == {5}


def test_an_end_counts_before_anybody_has_written_it_down(
    clock: Clock, keeper: Resource, place: Place
) -> None:
    runtime(keeper, clock)
    place("pause", "controller", controller=keeper.pk, ends_at=clock.now + timedelta(hours=1))
    clock.advance(hours=1)

    assert holds.only_proposes(keeper.pk, clock.now)
    assert holds.sweep(clock.now) == 1
    assert Runtime.objects.get().only_proposes_from == 5


# The end, and putting it off.


def test_the_sweep_writes_an_end_down_once(clock: Clock, place: Place) -> None:
    hold = place(ends_at=clock.now + timedelta(hours=1))
    lasting = place()
    assert holds.sweep(clock.now) == 0
    clock.advance(hours=1)

    assert holds.sweep(clock.now) == 1
    assert holds.sweep(clock.now) == 0

    hold.refresh_from_db()
    assert (hold.ended_at, hold.ended_by) == (clock.now, "system/ioa")
    told = LedgerEvent.objects.get(event="hold.ended")
    assert (told.actor, told.stream) == ("system/ioa", f"hold/{hold.uid}")
    assert holds.epoch() == 3 == hold.epoch
    assert [each.key for each in holds.standing(clock.now)] == [lasting.pk]


@pytest.mark.parametrize(
    ("lasts", "quiet"),
    [
        (timedelta(days=7), timedelta(days=6)),
        (timedelta(hours=48), timedelta(hours=24)),
        (timedelta(hours=4), timedelta(hours=2)),
    ],
)
def test_owners_are_reminded_a_day_before_the_end_or_at_half_time(
    clock: Clock, place: Place, lasts: timedelta, quiet: timedelta
) -> None:
    hold = place(ends_at=clock.now + lasts)
    clock.now += quiet - timedelta(seconds=1)
    assert holds.sweep(clock.now) == 0

    assert holds.sweep(clock.advance(seconds=1)) == 1
    assert holds.sweep(clock.advance(seconds=1)) == 0

    told = Delivery.objects.get()
    assert told.hold == hold
    assert told.title.startswith("The pause of agent/scribe ends at")
    assert "It belongs to ines" in told.body
    assert LedgerEvent.objects.filter(event="hold.reminded").count() == 1


def test_nobody_is_reminded_of_what_is_over_or_has_no_end(clock: Clock, place: Place) -> None:
    place("stop", "organisation", open_ended=True)
    place(ends_at=clock.now + timedelta(hours=1))

    holds.sweep(clock.advance(days=30))

    assert not Delivery.objects.exists()


def test_a_renewal_puts_the_end_off_and_reminds_again(
    clock: Clock, ines: User, place: Place
) -> None:
    hold = place()
    holds.sweep(clock.advance(days=6, hours=1))
    later = clock.now + timedelta(days=30)

    renewed = holds.renew(hold.pk, later, person=ines, now=clock.now, reason="Not yet.")

    assert (renewed.ends_at, renewed.reminded_at) == (later, None)
    assert holds.standing(clock.advance(days=2))[0].ends_at == later
    told = LedgerEvent.objects.get(event="hold.renewed")
    assert told.payload["reason"] == "Not yet."
    assert holds.epoch() == 2
    assert holds.sweep(clock.advance(days=27)) == 1
    assert Delivery.objects.count() == 2


@pytest.mark.parametrize(
    ("ends", "sentence"),
    [
        (timedelta(days=6), "A renewal ends later than before"),
        (timedelta(days=91), "A hold ends within 90 days"),
        (timedelta(days=-1), "It would end before it begins"),
    ],
)
def test_a_renewal_is_no_way_to_end_a_hold_nor_to_keep_it_for_ever(
    clock: Clock, ines: User, place: Place, ends: timedelta, sentence: str
) -> None:
    hold = place()

    with refuses("invalid", match=sentence):
        holds.renew(hold.pk, clock.now + ends, person=ines, now=clock.now, reason="Hm.")

    hold.refresh_from_db()
    assert hold.ends_at == clock.now + timedelta(days=7)


def test_what_is_over_or_endless_is_not_renewed(clock: Clock, ines: User, place: Place) -> None:
    short = place(ends_at=clock.now + timedelta(hours=1))
    endless = place("stop", "organisation", open_ended=True)
    clock.advance(hours=1)
    later = clock.now + timedelta(days=1)

    with refuses("refused", match="It ended at"):
        holds.renew(short.pk, later, person=ines, now=clock.now, reason="Longer.")
    with refuses("invalid", match="It has no end"):
        holds.renew(endless.pk, later, person=ines, now=clock.now, reason="Longer.")


def test_viewers_renew_nothing(clock: Clock, vera: User, place: Place) -> None:
    hold = place()

    with refuses("forbidden"):
        holds.renew(
            hold.pk, clock.now + timedelta(days=9), person=vera, now=clock.now, reason="Longer."
        )


def test_an_agent_that_stopped_itself_is_set_going_by_a_person_only(
    clock: Clock, maya: User, scribe: Resource
) -> None:
    wanted = HoldRequest("pause", "resource", "Stop me.", resource=scribe.pk)
    hold = holds.place(wanted, actor=Actor("agent", "scribe"), now=clock.now).hold

    holds.sweep(clock.advance(days=365))
    assert holds.standing(clock.now)[0].key == hold.pk
    lift(hold, maya, clock)

    assert holds.standing(clock.now) == ()
