"""The other answers: not so, not now, something else, and what is said afterwards."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from controllers.decisions import answers, holds, proposals
from controllers.decisions.answers import Instead, Rest
from controllers.models import Decision, Hold, Proposal, Step
from resources.documents.actor import SYSTEM
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.decisions.making import action, agent, controller, person, proposal, seen
from tests.problems import refuses

pytestmark = pytest.mark.django_db

WHY = "Because it is so."
VERSION = {
    "dimension": "field",
    "subject": "field/spec.model.version",
    "verdict": "missed",
    "desired": "1",
    "observed": "2",
    "note": "drifted",
}


@pytest.fixture
def pending(clock: Clock) -> Proposal:
    model = {"provider": "acme", "name": "quill", "version": "1"}
    return proposal(clock, agent(clock, model=model), controller(clock), score=0.4)


def say(answer: str, row: Proposal, who: User, now: datetime, **given: Any) -> Proposal:
    given = {"reason": WHY, "seen": seen(row)} | given
    said: Proposal = getattr(answers, answer)(row.pk, person=who, now=now, **given)
    return said


def last(row: Proposal) -> LedgerEvent:
    found = LedgerEvent.objects.filter(stream=row.stream).order_by("seq").last()
    assert found is not None
    return found


def count(row: Proposal) -> int:
    return LedgerEvent.objects.filter(stream=row.stream).count()


# Change.


def test_an_edit_is_a_new_revision_that_somebody_else_approves(
    pending: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    """I8: what is approved is what runs; an edit has another digest."""
    changed = say("change", pending, maya, clock.now, edits={1: {"factor": 0.25}})

    stored = Proposal.objects.get(pk=pending.pk)
    assert (changed.revision, stored.revision) == (2, 2)
    assert stored.actions[0]["parameters"] == {"agent": "scribe", "factor": 0.25}
    assert stored.action_digest != pending.action_digest
    assert stored.planned_digest == pending.action_digest
    assert "maya" in stored.interested
    assert last(pending).payload["before"][0]["parameters"]["factor"] == 0.5
    with refuses("changed"):
        say("approve", pending, tomas, clock.now)
    assert say("approve", stored, tomas, clock.now).state == "approved"


def test_the_same_edit_twice_is_one_revision(pending: Proposal, maya: User, clock: Clock) -> None:
    say("change", pending, maya, clock.now, edits={1: {"factor": 0.25}})

    again = say("change", pending, maya, clock.now, edits={1: {"factor": 0.25}})

    assert again.revision == 2
    assert count(pending) == 1
    with refuses("changed"):
        say("change", pending, maya, clock.now, edits={1: {"factor": 0.75}})


def test_an_editor_may_edit_again(pending: Proposal, maya: User, clock: Clock) -> None:
    once = say("change", pending, maya, clock.now, edits={1: {"factor": 0.25}})

    twice = say("change", once, maya, clock.now, edits={1: {"factor": 0.75}})

    assert (twice.revision, twice.interested) == (3, ["maya"])
    assert twice.planned_digest == pending.action_digest


@pytest.mark.parametrize(
    ("edits", "sentence"),
    [
        ({1: {"factor": 0.5}}, "That changes nothing"),
        ({}, "That changes nothing"),
        ({2: {"factor": 0.25}}, "There is no action 2"),
        ({1: {"factor": 7}}, "/parameters/factor"),
        ({1: {"speed": 7}}, "/parameters/speed"),
        ({1: {"agent": "someone-else"}}, "/parameters/agent"),
        ({1: {"factor": None}}, "/parameters/factor"),
        ({1: {"agent": "half \ud800"}}, "cannot be kept"),
    ],
)
def test_an_edit_that_makes_no_sense_is_refused(
    pending: Proposal, maya: User, clock: Clock, edits: Any, sentence: str
) -> None:
    with refuses("invalid", match=sentence):
        say("change", pending, maya, clock.now, edits=edits)

    assert Proposal.objects.get(pk=pending.pk).revision == 1


def test_an_edit_cannot_repeat_another_open_plan(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    edited = {"agent": "scribe", "factor": 0.25}
    touches = ["spec.tokenBudget.maxDaily", "spec.tokenBudget.throttled"]
    proposal(
        clock,
        pending.resource,
        pending.controller,
        actions=[action(parameters=edited, touches=touches)],
    )

    with refuses("invalid", match="The same plan is open"):
        say("change", pending, maya, clock.now, edits={1: {"factor": 0.25}})


def test_an_edit_answers_a_request_for_changes(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    sent_back = say("request_changes", pending, maya, clock.now)
    edited = say("change", sent_back, maya, clock.now, edits={1: {"factor": 0.25}})

    assert (edited.state, edited.answer, edited.decided_by) == ("pending", "", "")


def test_people_see_what_changed_since_they_looked(
    pending: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    with transaction.atomic():
        proposals.tell(pending, "created", actor=SYSTEM, now=clock.now)
    first = say("change", pending, maya, clock.now, edits={1: {"factor": 0.25}})
    second = say("change", first, tomas, clock.now, edits={1: {"factor": 0.75}})
    second.score = 0.6

    factor, score = answers.since(second, 2)

    assert factor == {
        "what": "actions",
        "pointer": "/actions/1/parameters/factor",
        "operation": "replace",
        "before": 0.25,
        "after": 0.75,
    }
    assert (score["what"], score["before"], score["after"]) == ("score", 0.4, 0.6)
    since_first = {each["pointer"]: each for each in answers.since(second, 1)}
    assert since_first["/actions/1/parameters/factor"]["before"] == 0.5
    assert [each["what"] for each in answers.since(second, 3)] == ["score"]
    assert answers.since(second, 99) == []


# Override.


def test_an_override_closes_the_proposal_and_holds_the_resource(
    pending: Proposal, ines: User, clock: Clock
) -> None:
    until = clock.now + timedelta(days=2)

    closed = say("override", pending, ines, clock.now, instead=Instead(until=until))

    hold = Hold.objects.get()
    assert (closed.state, closed.answer) == ("overridden", "override")
    assert (hold.kind, hold.scope, hold.resource) == ("override", "resource", pending.resource)
    assert (hold.proposal, hold.reason, hold.ends_at) == (pending, WHY, until)
    assert (hold.author, hold.owner) == ("person/ines", ines)
    assert last(pending).event == "proposal.overridden"
    assert count(pending) == 1


def test_an_override_may_put_a_value_in_the_place_of_the_plan(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    """I-96"""
    path = "spec.tokenBudget.maxDaily"

    say("override", pending, maya, clock.now, instead=Instead(path, 90_000))

    hold = Hold.objects.get()
    target = Resource.objects.get(pk=pending.resource_id)
    assert (hold.scope, hold.path, hold.value, hold.former) == ("field", path, 90_000, 1_000_000)
    assert target.spec["tokenBudget"]["maxDaily"] == 90_000
    assert last(pending).payload["value"] == 90_000


@pytest.mark.parametrize("instead", [Instead("nonsense", 1), Instead("spec.type", {"no": 1})])
def test_an_override_that_makes_no_sense_leaves_everything_as_it_was(
    pending: Proposal, maya: User, clock: Clock, instead: Instead
) -> None:
    with refuses("invalid"):
        say("override", pending, maya, clock.now, instead=instead)

    assert Proposal.objects.get(pk=pending.pk).state == "pending"
    assert not Hold.objects.exists()
    assert not Decision.objects.exists()


def test_a_viewer_overrides_nothing(pending: Proposal, vera: User, clock: Clock) -> None:
    with refuses("forbidden"):
        say("override", pending, vera, clock.now)

    assert Proposal.objects.get(pk=pending.pk).state == "pending"


def test_an_override_answers_what_is_approved_too(
    pending: Proposal, maya: User, tomas: User, clock: Clock
) -> None:
    say("approve", pending, maya, clock.now)

    assert say("override", pending, tomas, clock.now).state == "overridden"


def test_glass_never_beats_a_hold(pending: Proposal, maya: User, ines: User, clock: Clock) -> None:
    wanted = holds.HoldRequest("pause", "resource", "Leave it.", resource=pending.resource_id)
    holds.place(wanted, person=ines, now=clock.now)

    with refuses("stopped", match="Leave it"):
        say("break_glass", pending, maya, clock.now)

    assert Proposal.objects.get(pk=pending.pk).state == "pending"


# Adopt.


def test_reality_becomes_what_is_desired(pending: Proposal, maya: User, clock: Clock) -> None:
    Proposal.objects.filter(pk=pending.pk).update(evidence=[VERSION])

    adopted = say("adopt", pending, maya, clock.now)

    target = Resource.objects.get(pk=pending.resource_id)
    revision = target.revisions.order_by("-resource_version").first()
    assert adopted.state == "converged"
    assert target.spec["model"]["version"] == "2"
    assert target.generation == pending.resource.generation + 1
    assert revision is not None
    assert (revision.actor, revision.message) == ("person/maya", WHY)
    assert last(pending).payload["adopted"] == {"spec.model.version": "2"}


@pytest.mark.parametrize(
    ("evidence", "sentence"),
    [
        ([], "nothing to adopt"),
        ([VERSION | {"dimension": "kpi"}], "nothing to adopt"),
        ([VERSION | {"subject": "field/status.state"}], "nothing to adopt"),
        ([VERSION | {"note": "It ended."}], "nothing to adopt"),
        ([VERSION | {"subject": "field/spec.model.colour"}], "declared anew since"),
        (
            [VERSION | {"subject": "field/spec.type", "desired": "autonomous", "observed": 7}],
            "cannot be adopted",
        ),
    ],
)
def test_what_cannot_be_adopted_is_refused(
    pending: Proposal, maya: User, clock: Clock, evidence: Any, sentence: str
) -> None:
    Proposal.objects.filter(pk=pending.pk).update(evidence=evidence)

    with refuses("invalid", match=sentence):
        say("adopt", pending, maya, clock.now)

    assert Proposal.objects.get(pk=pending.pk).state == "pending"
    assert Resource.objects.get(pk=pending.resource_id).generation == 1


def test_nobody_adopts_a_lower_guard_alone(clock: Clock, maya: User) -> None:
    keeper = controller(clock)
    lower = VERSION | {"subject": "field/spec.enforcementMode", "desired": "warn"}
    row = proposal(clock, keeper, evidence=[lower | {"observed": "observe"}])

    with refuses("invalid", match="a second person has to approve"):
        say("adopt", row, maya, clock.now)

    assert Resource.objects.get(pk=keeper.pk).spec["enforcementMode"] == "warn"


def test_an_edit_that_lowers_a_guard_needs_two_more_people(clock: Clock, maya: User) -> None:
    keeper = controller(clock)
    patch = {"patch": {"timeout": "1m"}}
    redeclare = action(keeper.name, "modify-spec", target="controller/keeper", parameters=patch)
    row = proposal(clock, keeper, actions=[redeclare])

    lowered = {"patch": {"enforcementMode": "observe"}}
    changed = say("change", row, maya, clock.now, edits={1: lowered})

    assert (changed.people, changed.policy["lowers"]) == (2, True)


def test_nobody_adopts_over_the_override_of_another(
    pending: Proposal, maya: User, ines: User, clock: Clock
) -> None:
    Proposal.objects.filter(pk=pending.pk).update(evidence=[VERSION])
    wanted = holds.HoldRequest(
        "override", "field", "Ours.", resource=pending.resource_id, path="spec.model"
    )
    holds.place(wanted, person=ines, now=clock.now)

    with refuses("stopped", match="Ours"):
        say("adopt", pending, maya, clock.now)


# Accept, snooze, request changes, extend, withdraw.


def test_things_are_accepted_as_they_are_until_a_date(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    until = clock.now + timedelta(days=20)

    accepted = say("accept", pending, maya, clock.now, until=until)

    assert (accepted.state, accepted.quiet_until) == ("rejected", until)
    assert accepted.quiet_above is None
    with refuses("decided"):
        say("approve", pending, maya, clock.now)


def test_nothing_is_accepted_for_ever_or_until_yesterday(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    for until, sentence in (
        (clock.now + timedelta(days=367), "at most 366 days"),
        (clock.now, "already passed"),
        (clock.now.replace(tzinfo=None) + timedelta(days=1), "needs its zone"),
    ):
        with refuses("invalid", match=sentence):
            say("accept", pending, maya, clock.now, until=until)


def test_a_snooze_moves_the_end_of_the_waiting_with_it(
    pending: Proposal, maya: User, clock: Clock
) -> None:
    until = clock.now + timedelta(days=10)

    resting = say("snooze", pending, maya, clock.now, rest=Rest(until))

    assert (resting.state, resting.quiet_until, resting.quiet_above) == ("pending", until, None)
    assert resting.expires_at == until + timedelta(days=7)
    assert last(pending).payload["expiresAt"] == (until + timedelta(days=7)).isoformat()


def test_a_snooze_may_end_when_it_is_worse(pending: Proposal, maya: User, clock: Clock) -> None:
    resting = say("snooze", pending, maya, clock.now, rest=Rest(worse=True))

    assert resting.quiet_above == pending.score
    assert resting.quiet_until == clock.now + timedelta(days=30)


def test_snoozing_again_does_not_add_up(pending: Proposal, maya: User, clock: Clock) -> None:
    first = say("snooze", pending, maya, clock.now, rest=Rest(clock.now + timedelta(days=10)))
    same = say("snooze", pending, maya, clock.now, rest=Rest(clock.now + timedelta(days=10)))
    longer = say("snooze", pending, maya, clock.now, rest=Rest(clock.now + timedelta(days=12)))

    assert same.expires_at == first.expires_at
    assert longer.expires_at == clock.now + timedelta(days=19)
    assert count(pending) == 2


@pytest.mark.parametrize(
    ("days", "worse", "sentence"),
    [(None, False, "Say until when"), (31, False, "at most 30 days"), (-1, True, "passed")],
)
def test_a_snooze_has_an_end(
    pending: Proposal, maya: User, clock: Clock, days: int | None, worse: bool, sentence: str
) -> None:
    until = clock.now + timedelta(days=days) if days is not None else None

    with refuses("invalid", match=sentence):
        say("snooze", pending, maya, clock.now, rest=Rest(until, worse))


def test_what_was_never_measured_cannot_get_worse(clock: Clock, maya: User) -> None:
    row = proposal(clock, agent(clock))

    with refuses("invalid", match="Nothing was measured"):
        say("snooze", row, maya, clock.now, rest=Rest(worse=True))


def test_a_proposal_is_sent_back_with_words(pending: Proposal, maya: User, clock: Clock) -> None:
    back = say("request_changes", pending, maya, clock.now, reason="Halve it.")

    assert (back.state, back.reason) == ("changes_requested", "Halve it.")
    assert last(pending).payload["reason"] == "Halve it."


def test_waiting_is_extended_to_thirty_days_after_the_proposal(
    pending: Proposal, maya: User, ines: User, clock: Clock
) -> None:
    most = pending.created_at + timedelta(days=30)
    for until, sentence in (
        (most + timedelta(seconds=1), "at most"),
        (pending.expires_at - timedelta(seconds=1), "anyway"),
    ):
        with refuses("invalid", match=sentence):
            say("extend", pending, maya, clock.now, until=until)
    with refuses("forbidden"):
        say("extend", pending, ines, clock.now, until=most)

    extended = say("extend", pending, maya, clock.now, until=most)
    say("extend", pending, maya, clock.now, until=most)

    assert extended.expires_at == most
    assert extended.state == "pending"
    assert count(pending) == 1


def test_the_proposer_the_one_behind_the_agent_and_operators_withdraw(
    clock: Clock, ines: User, vera: User
) -> None:
    olga = person(clock, "olga", "operator", domain="finance")
    writer = User.objects.create(username="walt")
    behind = User.objects.create(username="Bea")
    target = agent(clock)
    rows = [
        proposal(clock, target, proposer="person/walt"),
        proposal(clock, target, proposer="agent/robin", interested=["bea"]),
        proposal(clock, target, proposer="agent/wren", state="approved"),
    ]

    for row in rows:
        for stranger in (vera, olga):
            with refuses("forbidden"):
                say("withdraw", row, stranger, clock.now)

    for row, who in zip(rows, (writer, behind, ines), strict=True):
        withdrawn = say("withdraw", row, who, clock.now)
        assert (withdrawn.state, withdrawn.decided_by) == (
            "withdrawn",
            f"person/{who.get_username()}",
        )


def test_somebody_who_left_withdraws_nothing(clock: Clock) -> None:
    gone = User.objects.create(username="walt", is_active=False)
    row = proposal(clock, agent(clock), proposer="person/walt")

    with refuses("forbidden"):
        say("withdraw", row, gone, clock.now)


# Afterwards.


def done(clock: Clock, **given: Any) -> Proposal:
    state = {"state": "succeeded", "undo_until": clock.now + timedelta(hours=24)}
    return proposal(clock, agent(clock), controller(clock), **state | given)


def test_what_was_done_is_marked_for_being_undone(clock: Clock, ines: User) -> None:
    row = done(clock)

    back = say("undo", row, ines, clock.now)

    assert (back.state, back.undoing, back.run_at) == ("approved", True, clock.now)
    assert back.execute_before == clock.now + timedelta(hours=24)
    assert (back.answer, back.decided_by) == ("undo", "person/ines")
    assert say("undo", row, ines, clock.now).state == "approved"
    assert count(row) == 1


@pytest.mark.parametrize("answer", ["withdraw", "override"])
def test_nobody_closes_what_is_being_undone(
    clock: Clock, maya: User, ines: User, answer: str
) -> None:
    row = done(clock)
    say("undo", row, ines, clock.now)

    with refuses("decided", match="being undone by person/ines"):
        say(answer, row, maya, clock.now)


def test_undoing_has_an_end(clock: Clock, ines: User) -> None:
    row = done(clock)
    clock.advance(hours=24)

    with refuses("expired", match="could be undone until"):
        say("undo", row, ines, clock.now)


def test_what_changed_nothing_or_cannot_be_taken_back_is_not_undone(
    clock: Clock, ines: User, vera: User
) -> None:
    target = agent(clock)
    window = clock.now + timedelta(hours=1)
    for reversible, until, sentence in (
        (False, window, "cannot be undone"),
        (True, None, "nothing that could be undone"),
    ):
        row = proposal(clock, target, state="failed", reversible=reversible, undo_until=until)
        with refuses("invalid", match=sentence):
            say("undo", row, ines, clock.now)
    with refuses("forbidden"):
        say("undo", done(clock), vera, clock.now)


def test_nothing_is_undone_while_the_same_plan_is_open_again(clock: Clock, ines: User) -> None:
    row = done(clock)
    proposal(clock, row.resource, row.controller)

    with refuses("invalid", match="The same plan is open"):
        say("undo", row, ines, clock.now)


def lost(clock: Clock, **given: Any) -> Proposal:
    """Make a proposal of two actions: the first was done, of the second nobody knows."""
    actions = [action(), action(operation="restart", sequence=2, parameters={"agent": "scribe"})]
    row = proposal(
        clock, agent(clock), controller(clock), state="unknown", actions=actions, **given
    )
    for sequence, state in ((1, Step.State.DONE), (2, Step.State.DISPATCHED)):
        Step.objects.create(
            proposal=row,
            sequence=sequence,
            operation=actions[sequence - 1]["operation"],
            executor="agent",
            idempotent=False,
            state=state,
            key=str(sequence) * 64,
        )
    return row


@pytest.mark.parametrize(
    ("outcome", "state", "step"),
    [
        ("happened", "verifying", "done"),
        ("failed", "failed", "failed"),
        ("retry", "approved", "failed"),
    ],
)
def test_a_person_says_what_became_of_what_nobody_heard_of(
    clock: Clock, maya: User, vera: User, outcome: str, state: str, step: str
) -> None:
    row = lost(clock)
    with refuses("forbidden"):
        say("resolve", row, vera, clock.now, outcome=outcome)

    resolved = say("resolve", row, maya, clock.now, outcome=outcome)

    assert resolved.state == state
    assert list(row.steps.order_by("sequence").values_list("state", flat=True)) == ["done", step]
    assert last(row).payload["outcome"] == outcome
    if outcome == "retry":
        assert resolved.run_at == clock.now
        assert resolved.execute_before == clock.now + timedelta(hours=24)
    else:
        # The first step was done in any case.
        assert resolved.undo_until == clock.now + timedelta(hours=24)


def test_what_happened_goes_on_with_the_steps_that_are_left(clock: Clock, maya: User) -> None:
    row = lost(clock)
    Proposal.objects.filter(pk=row.pk).update(
        actions=[*row.actions, action(operation="pause", sequence=3)]
    )

    resolved = say("resolve", row, maya, clock.now, outcome="happened")

    assert (resolved.state, resolved.run_at) == ("approved", clock.now)


def test_an_undoing_that_happened_is_rolled_back(clock: Clock, maya: User) -> None:
    row = lost(clock, undoing=True)
    row.steps.filter(sequence=2).update(undoes=True, sequence=1)

    resolved = say("resolve", row, maya, clock.now, outcome="happened")

    assert resolved.state == "rolled_back"
    states = row.steps.order_by("undoes").values_list("undoes", "state")
    assert list(states) == [(False, "undone"), (True, "done")]
