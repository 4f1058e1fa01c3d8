"""I2: what a person stopped does not begin, however busy the machines are.

Four workers with connections of their own have effects as fast as they can, while one person
places and lifts holds of every scope. `tests.decisions.storm` says how it is judged.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum

from controllers import execution
from controllers.decisions import holds, locks
from controllers.decisions.holds import HoldRequest
from controllers.engine.precedence import Reach
from controllers.execution import critical_section
from controllers.models import Decision, Proposal, Step
from resources.documents.actor import SYSTEM
from resources.store import evidence
from resources.tables import ledger
from resources.tables.models import LedgerStream
from tests.conftest import Clock
from tests.decisions import storm
from tests.decisions.making import action, agent, controller, person, proposal
from tests.decisions.storm import Effect, Length, Person, Storm
from tests.resources.conftest import real_database as real_database
from tests.resources.making import live
from tests.tiers import quick_first

pytestmark = [pytest.mark.usefixtures("real_database"), pytest.mark.servers]

WORKERS = 4
STREAM = "storm/"
# The last thing the critical section does before it commits.
COMMITTING = "before the claim commits"


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def maya(clock: Clock) -> User:
    return person(clock, "maya", "approver")


@pytest.fixture
def rows(clock: Clock) -> list[Proposal]:
    """One proposal for each worker, each for an agent of its own, in one domain."""
    keeper = controller(clock)
    return [
        proposal(clock, agent(clock, f"agent-{number}"), keeper, state="approved")
        for number in range(WORKERS)
    ]


# The workers.


def happen(row: Proposal, number: int) -> None:
    """Be an effect: a step that is done, and an entry that tells of it."""
    Step.objects.create(
        proposal=row,
        sequence=number,
        operation="throttle",
        executor="control-plane",
        idempotent=True,
        state="done",
        key=f"{row.pk}-{number}",
    )
    entry = ledger.Entry(f"{STREAM}{row.pk}", "storm.effect", str(row.resource))
    ledger.append([entry], actor=SYSTEM, now=now())


def reach_of(row: Proposal) -> Reach:
    return Reach(row.resource.pk, row.resource.domain, row.controller_id, ("spec.purpose",))


def guarded(row: Proposal) -> Effect:
    """Check and act in one transaction that begins with the locks."""
    reach, numbers = reach_of(row), iter(range(1, 32_767))

    def effect(committing: Callable[[], None]) -> bool:
        with transaction.atomic():
            locks.share(reach.domain, reach.controller, reach.resource)
            if holds.covering(reach, now()) is not None:
                return False
            happen(row, next(numbers))
            committing()
        return True

    return effect


def naive(row: Proposal) -> Effect:
    """Check, and then act: what everybody writes first."""
    reach, numbers = reach_of(row), iter(range(1, 32_767))

    def effect(committing: Callable[[], None]) -> bool:
        if holds.covering(reach, now()) is not None:
            return False
        with transaction.atomic():
            happen(row, next(numbers))
            committing()
        return True

    return effect


def told() -> int:
    """Return how many effects are visible: each is one entry of its worker's chain."""
    found = LedgerStream.objects.filter(name__startswith=STREAM).aggregate(total=Sum("seq"))
    return found["total"] or 0


class Executor:
    """A worker of the product: the real critical section carries out what Maya approved."""

    committing = threading.local()

    def __init__(self, row: Proposal, voter: User) -> None:
        self.row, self.voter = row, voter
        # What is being verified is not proposed again, so each is another plan.
        self.factors = (0.3 + number / 10_000 for number in range(5_000))
        self.wish: Proposal | None = None

    def __call__(self, committing: Callable[[], None]) -> bool:
        self.wish = self.wish or self.approved()
        self.committing.call = committing
        execution.execute(self.wish.pk, self.row.resource.name, now())
        if not Step.objects.filter(proposal=self.wish, state="done").exists():
            return False
        self.wish = None
        return True

    def approved(self) -> Proposal:
        """Make something that a person approved."""
        at = Clock()
        at.now = now()
        name = self.row.resource.name
        parameters = {"agent": name, "factor": next(self.factors)}
        wish = proposal(
            at,
            live("Agent", name),
            self.row.controller,
            actions=[action(name, parameters=parameters)],
            proposer="agent/robin",
            state="approved",
            execute_before=at.now + timedelta(hours=1),
        )
        Decision.objects.create(
            proposal=wish,
            revision=1,
            person=self.voter,
            actor="person/maya",
            answer="approve",
            shown=wish.action_digest,
            at=at.now,
        )
        return wish


@pytest.fixture
def noted_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the critical section tell its worker that it is about to commit."""

    def note(name: str) -> None:
        if name == COMMITTING:
            Executor.committing.call()

    monkeypatch.setattr(critical_section, "failpoint", note)


def done() -> int:
    """Return how many effects of the product's workers are visible."""
    return Step.objects.filter(state="done").count()


# The person.


def wide(row: Proposal) -> list[HoldRequest]:
    """Stop everything, the domain and the controller: each covers all workers."""
    return [
        HoldRequest("stop", "organisation", "Everything."),
        HoldRequest("pause", "domain", "The domain.", domain=row.resource.domain),
        HoldRequest("pause", "controller", "The controller.", controller=row.controller_id),
    ]


def narrow(row: Proposal) -> list[HoldRequest]:
    """Stop what is done to one resource."""
    return [HoldRequest("pause", "resource", "The agent.", resource=row.resource.pk)]


def somebody(user: User, wishes: list[HoldRequest], count: Callable[[], int]) -> Person:
    """Return a person who places some holds in turn."""

    def place(number: int) -> int:
        return holds.place(wishes[number % len(wishes)], person=user, now=now()).hold.pk

    def lift(key: int) -> None:
        holds.lift(key, person=user, now=now(), reason="Go on.")

    return Person(place, lift, count)


def is_sound(found: Storm) -> bool:
    """Tell whether a storm was one: busy workers, and effects between most pauses."""
    print(found)  # noqa: T201
    return found.busy > len(found.pauses) / 2 and all(
        each.sent and each.refused for each in found.workers
    )


def was_kept(found: Storm) -> bool:
    """Tell whether nothing happened under any acknowledged pause."""
    return (found.violated, found.sent_under_a_pause, found.appeared_under_a_pause) == (0, 0, 0)


@pytest.fixture(autouse=True)
def ledger_is_whole_after_all(real_database: None) -> Iterator[None]:
    yield
    assert evidence.verify().findings == []


@pytest.mark.postgres
@pytest.mark.parametrize("seconds", quick_first([6, 20]))
def test_no_effect_begins_under_an_acknowledged_pause(
    maya: User, rows: list[Proposal], seconds: int
) -> None:
    found = storm.run(
        list(map(guarded, rows)),
        somebody(maya, wide(rows[0]), told),
        Length(2_000, least=20, seconds=seconds),
    )

    assert is_sound(found)
    assert was_kept(found)
    assert found.effects == told()


@pytest.mark.slow
@pytest.mark.timeout(1_200)
@pytest.mark.postgres
def test_two_thousand_pauses_are_kept(maya: User, rows: list[Proposal]) -> None:
    found = storm.run(
        list(map(guarded, rows)),
        somebody(maya, wide(rows[0]), told),
        Length(2_000, least=2_000, seconds=0),
    )

    assert is_sound(found)
    assert was_kept(found)
    assert found.effects == told()


@pytest.mark.postgres
@pytest.mark.full
def test_the_pause_of_one_resource_stops_what_is_done_to_it(
    maya: User, rows: list[Proposal]
) -> None:
    """The narrowest lock: all workers act on one agent, and only that is paused."""
    for row in rows[1:]:
        row.resource = rows[0].resource
    somewhere = somebody(maya, narrow(rows[0]), told)

    found = storm.run(list(map(guarded, rows)), somewhere, Length(300, least=10, seconds=6))

    assert is_sound(found)
    assert was_kept(found)


@pytest.mark.postgres
@pytest.mark.usefixtures("noted_commits")
@pytest.mark.full
def test_the_workers_of_the_product_keep_every_pause(maya: User, rows: list[Proposal]) -> None:
    """The real critical section, with real votes and real changes of the spec."""
    workers: list[Effect] = [Executor(row, maya) for row in rows]

    found = storm.run(
        workers,
        somebody(maya, wide(rows[0]), done),
        Length(300, least=10, seconds=12),
        between=0.05,
    )

    assert is_sound(found)
    assert was_kept(found)
    assert found.effects == done()


@pytest.mark.postgres
def test_whoever_checks_first_and_acts_then_is_caught(maya: User, rows: list[Proposal]) -> None:
    """A test of the test: the same judge finds what the wrong way lets through."""
    found = storm.run(
        list(map(naive, rows)),
        somebody(maya, wide(rows[0]), told),
        Length(100, least=10, seconds=6),
    )

    assert is_sound(found)
    assert found.violated > len(found.pauses) / 10
    assert found.sent_under_a_pause
    assert found.appeared_under_a_pause


@pytest.mark.full
@pytest.mark.sqlite
def test_on_sqlite_no_effect_begins_under_an_acknowledged_pause(
    maya: User, rows: list[Proposal]
) -> None:
    """Its writers do not queue: without a rest between effects luck decides who is next."""
    workers = list(map(guarded, rows))
    maya_pauses = somebody(maya, wide(rows[0]), told)

    found = storm.run(workers, maya_pauses, Length(200, least=20, seconds=30), rest=0.01)

    assert is_sound(found)
    assert was_kept(found)
    assert found.effects == told()


@pytest.mark.full
@pytest.mark.sqlite
def test_on_sqlite_whoever_checks_first_and_acts_then_is_caught(
    maya: User, rows: list[Proposal]
) -> None:
    workers = list(map(naive, rows))
    maya_pauses = somebody(maya, wide(rows[0]), told)

    found = storm.run(workers, maya_pauses, Length(100, least=10, seconds=10), rest=0.001)

    assert is_sound(found)
    assert found.violated
