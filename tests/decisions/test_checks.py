"""Check proposals: they look like others, nothing ever comes of them, and they count nowhere."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers import execution
from controllers.decisions import answers, attention_checks, escalation, proposal_groups, proposals
from controllers.decisions.attention_checks import check_factory, check_outcome
from controllers.decisions.creation.attention_budget import WINDOWS, counted
from controllers.engine import digests
from controllers.models import Check, Decision, Delivery, Hold, Proposal, Step
from controllers.trust import decision_quality, track_record
from resources.documents.canonical import digest
from resources.store import evidence
from resources.tables.models import LedgerEvent, Resource
from tests.api.deciding import as_user
from tests.api.deciding import say as api_say
from tests.conftest import Clock, given
from tests.controllers.making import work
from tests.decisions.carrying import LIMIT, consume, keeper
from tests.decisions.making import agent, person, seen
from tests.problems import refuses
from tests.resources.making import apply, live, made

pytestmark = pytest.mark.django_db

WHY = "It looks right to me."
DAY = timedelta(days=1)
# Everything that people may say about what waits, with what each needs.
ANSWERS: dict[str, Any] = {
    "approve": {},
    "reject": {},
    "change": {"edits": {1: {"agent": "scribe", "factor": 0.9}}},
    "override": {"instead": answers.Instead("spec.tokenBudget.maxDaily", 500)},
    "accept": {"until": DAY},
    "snooze": {"rest": DAY},
    "request_changes": {},
    "extend": {"until": 8 * DAY},
    "break_glass": {},
}


@pytest.fixture
def check(clock: Clock, maya: User) -> Check:
    """Declare one check a week, and let the clock make the first."""
    declare(clock)
    agent(clock)
    consume(clock, "scribe", LIMIT // 10)
    keeper(clock)
    work(clock)
    assert Proposal.objects.count() == 0
    assert attention_checks.sweep(clock.now) == 1
    return Check.objects.select_related("proposal").get()


def declare(clock: Clock, **more: Any) -> None:
    """Declare a Governance that asks for checks."""
    spec = {"domain": "growth", "humanOverride": {"checks": {"perWeek": 1}, **more}}
    assert apply(clock.now, made("Domain", "growth"), made("Governance", "rules", spec)).written


def say(clock: Clock, check: Check, answer: str, who: User) -> Proposal:
    """Answer a check."""
    more = dict(ANSWERS[answer])
    if "until" in more:
        more["until"] = clock.now + more["until"]
    if "rest" in more:
        more["rest"] = answers.Rest(clock.now + more["rest"])
    row = Proposal.objects.get(pk=check.proposal_id)
    verb = getattr(answers, answer)
    told: Proposal = verb(row.pk, person=who, seen=seen(row), now=clock.now, reason=WHY, **more)
    return told


def effects() -> tuple[Any, ...]:
    """Return everything that an answer might bring about."""
    row = live("Agent", "scribe")
    tables = (Step, Hold, Delivery, Decision)
    return row.spec, row.generation, row.resource_version, *(e.objects.count() for e in tables)


def carry_out(clock: Clock) -> None:
    """Let workers do whatever there is to do."""
    work(clock)
    for key in Proposal.objects.values_list("pk", flat=True):
        execution.execute(key, "worker", clock.now)


def test_without_being_declared_there_is_none(clock: Clock, maya: User) -> None:
    spec = {"domain": "growth", "humanOverride": {"enabled": True}}
    assert apply(clock.now, made("Domain", "growth"), made("Governance", "rules", spec)).written
    agent(clock)
    keeper(clock)
    work(clock)

    assert attention_checks.sweep(clock.now) == 0
    assert Proposal.objects.count() == 0


def test_where_nobody_may_step_in_there_is_none(clock: Clock, maya: User) -> None:
    declare(clock, enabled=False)

    assert check_factory.per_week(Resource.objects.get(kind="Governance")) == 0


def test_it_looks_like_a_question_of_its_controller(check: Check, maya: User) -> None:
    row = check.proposal

    assert (row.state, row.lane, row.risk, row.proposer) == (
        *("pending", "ask", "low", "controller/keeper"),
    )
    assert row.actions[0]["parameters"] == {"agent": "scribe", "factor": 0.05}
    told = LedgerEvent.objects.get(event="proposal.created")
    assert (told.actor, told.stream) == ("controller/keeper", row.stream)
    assert "check" not in json.dumps(told.payload)
    client = Client()
    client.force_login(maya)
    for address in ("/approvals", f"/approvals/{row.pk}", f"/api/v1/proposals/{row.pk}"):
        page = client.get(address, follow=True)
        assert page.status_code == 200
        assert b"scribe" in page.content
        assert b"It was a check" not in page.content


@pytest.mark.parametrize("answer", ANSWERS)
def test_whatever_is_answered_nothing_comes_of_it(clock: Clock, check: Check, answer: str) -> None:
    admin = person(clock, "ada", "administrator")
    given(admin, "approver")
    before = effects()

    row = say(clock, check, answer, admin)
    carry_out(clock)

    assert row.state == Proposal.objects.get(pk=row.pk).state == "withdrawn"
    assert effects() == before
    check.refresh_from_db()
    missed = answer in ("approve", "break_glass")
    assert (check.person, check.answer, check.caught) == (admin, answer, not missed)
    assert attention_checks.told(row, admin) == (
        check_outcome.FELL_FOR if missed else check_outcome.CAUGHT
    )
    assert evidence.verify().ok


def test_an_approved_one_never_reaches_an_executor(
    clock: Clock, check: Check, maya: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[int] = []
    claim = proposals.fitting

    def watched(key: int, *rest: Any) -> Any:
        found = claim(key, *rest)
        reached.extend(found.values_list("pk", flat=True))
        return found

    monkeypatch.setattr(proposals, "fitting", watched)
    say(clock, check, "approve", maya)
    reached.clear()
    carry_out(clock)

    assert reached == []
    assert not Step.objects.exists()


def test_even_a_row_that_says_approved_is_not_carried_out(clock: Clock, check: Check) -> None:
    before = effects()
    soon = {"run_at": clock.now, "execute_before": clock.now + DAY}
    Proposal.objects.filter(pk=check.proposal_id).update(state="approved", **soon)

    carry_out(clock)

    assert effects() == before
    assert attention_checks.sweep(clock.now) == 1
    assert Proposal.objects.get().state == "withdrawn"


def test_what_does_not_fit_is_refused_as_ever_and_ends_nothing(
    clock: Clock, check: Check, maya: User
) -> None:
    row, before = check.proposal, effects()

    with refuses("invalid", match="nothing to adopt"):
        answers.adopt(row.pk, person=maya, seen=seen(row), now=clock.now, reason=WHY)

    check.refresh_from_db()
    assert (check.ended_at, effects()) == (None, before)


def test_who_may_not_decide_is_refused_and_learns_nothing(
    clock: Clock, check: Check, vera: User
) -> None:
    with refuses("forbidden"):
        say(clock, check, "approve", vera)

    check.refresh_from_db()
    assert (check.ended_at, check.proposal.state) == (None, "pending")
    assert attention_checks.told(check.proposal, vera) == ""


def test_it_ends_with_the_first_answer(
    clock: Clock, check: Check, maya: User, tomas: User
) -> None:
    say(clock, check, "reject", maya)

    with refuses("decided"):
        say(clock, check, "approve", tomas)

    check.refresh_from_db()
    assert (check.person, check.caught) == (maya, True)
    assert attention_checks.told(check.proposal, tomas) == ""


def test_it_is_taken_away_by_itself(clock: Clock, check: Check) -> None:
    clock.now = check.until - timedelta(minutes=1)
    assert attention_checks.sweep(clock.now) == 0
    clock.now = check.until
    assert attention_checks.sweep(clock.now) == 1

    check.refresh_from_db()
    assert (check.proposal.state, check.person, check.caught) == ("withdrawn", None, None)
    assert LedgerEvent.objects.filter(event="proposal.checked").count() == 1


def test_one_whose_proposal_came_to_another_end_ends_too(clock: Clock, check: Check) -> None:
    Proposal.objects.filter(pk=check.proposal_id).update(state="skipped")

    assert attention_checks.sweep(clock.now) == 1

    check.refresh_from_db()
    assert check.ended_at == clock.now


def test_the_next_one_comes_at_no_fixed_time(clock: Clock, check: Check, maya: User) -> None:
    say(clock, check, "reject", maya)

    for salt, days in (("00000000", 3.5), ("ffffffff", 10.5)):
        Check.objects.update(salt=salt * 8)
        governance = Resource.objects.get(kind="Governance")
        due = check.made_at + timedelta(days=days)
        assert attention_checks.upkeep.due(due - timedelta(minutes=1)) == []
        assert attention_checks.upkeep.due(due) == [governance]


def test_the_ledger_proves_afterwards_that_it_was_one(
    clock: Clock, check: Check, maya: User
) -> None:
    born = LedgerEvent.objects.get(event="proposal.created")
    say(clock, check, "approve", maya)

    end = LedgerEvent.objects.get(event="proposal.checked")
    salt, basis = end.payload["salt"], end.payload["basis"]
    assert basis["related"] == hashlib.sha256(f"ioa check:{salt}".encode()).hexdigest()
    assert digests.of_basis(basis) == born.payload["basisDigest"]
    assert end.payload["answerDigest"] == digest([salt, "person/maya", "approve"])
    assert (born.stream, end.actor) == (end.stream, "system/ioa")
    # How somebody answered is theirs.
    assert "maya" not in json.dumps(end.payload)
    told = LedgerEvent.objects.filter(stream=born.stream).order_by("seq")
    assert [each.event for each in told] == [
        "proposal.created",
        "proposal.withdrawn",
        "proposal.checked",
    ]


def test_it_counts_nowhere_else(clock: Clock, check: Check, maya: User) -> None:
    assert counted("growth", WINDOWS, clock.now) == {"perHour": 0, "perDay": 0, "waiting": 0}
    assert not escalation.unanswered(clock.now).exists()
    say(clock, check, "approve", maya)

    assert decision_quality.of_controller("controller/keeper", clock.now).answers == 0
    mine = decision_quality.of_person(maya, clock.now)
    assert (mine.answers, mine.checks, mine.caught, mine.catch_rate) == (0, 1, 0, 0.0)
    assert not Decision.objects.exists()
    assert proposal_groups.groups(clock.now) == []
    owner = live("Controller", "keeper")
    assert not Proposal.objects.filter(controller=owner).exists()
    assert track_record.of(str(owner), clock.now).proposals == 0


def test_everybody_together_is_shown_only_of_enough_people(clock: Clock, check: Check) -> None:
    admin = person(clock, "ada", "administrator")
    several = [person(clock, f"p{number}", "approver") for number in range(3)]
    since = clock.now - DAY
    rows = decision_quality.checked(since)
    Check.objects.update(ended_at=clock.now, person=several[0], caught=True, answer="reject")

    assert (
        decision_quality.with_checks(decision_quality.of_person(admin, clock.now), rows).checks
        == 1
    )
    together = decision_quality.of_everybody(admin, clock.now)
    assert together is not None
    assert together.quality is None


def test_the_page_says_so_at_once(clock: Clock, check: Check, maya: User) -> None:
    client = Client()
    client.force_login(maya)
    row = check.proposal
    form = {"verdict": "approve", "tag": row.tag, "reason": WHY}

    page = client.post(f"/approvals/{row.pk}/decide", form, follow=True).content.decode()

    assert "That was a check" in page
    assert "Runs in" not in page
    profile = client.get("/profile").content.decode()
    assert "Checks caught" in profile
    assert "0 of 1" in profile


def test_the_api_says_so_at_once_and_only_to_who_answered(
    clock: Clock, check: Check, maya: User, tomas: User
) -> None:
    row = check.proposal
    answer = api_say(as_user(maya), row, "reject")

    assert answer.status_code == 200
    assert answer.json()["check"] == check_outcome.CAUGHT
    assert "check" not in as_user(tomas).get(f"proposals/{row.pk}").json()
    mine = as_user(maya).get("people/me/quality").json()
    assert (mine["checks"], mine["caught"], mine["catchRate"]) == (1, 1, 1.0)
    assert "checks" not in as_user(tomas).get("people/me/quality").json()


def test_of_many_answered_together_each_check_is_told(
    clock: Clock, check: Check, maya: User
) -> None:
    row = check.proposal

    (result,) = proposal_groups.decide_all(
        [(row.pk, seen(row))], "approve", person=maya, now=clock.now, reason=WHY
    )

    assert (result.word, result.message) == ("done", check_outcome.FELL_FOR)
