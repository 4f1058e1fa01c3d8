"""What people are told when their answer was not recorded."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.decisions import holds
from controllers.models import Hold, Proposal
from tests.conftest import Clock
from tests.web import proposing
from tests.web.conftest import SignIn
from tests.web.proposing import HTMX, answer, of, text

pytestmark = [pytest.mark.sqlite, pytest.mark.full]


@pytest.fixture
def organisation(db: None, clock: Clock) -> Clock:
    """Make a small one: three agents, and something proposed about each."""
    proposing.settle(clock)
    return clock


@pytest.fixture
def throttle(organisation: Clock) -> Proposal:
    """Return a proposal of low risk."""
    return of("throttle")


def test_whoever_comes_too_late_is_told_who_was_faster_and_why(
    maya: Client, sign_in: SignIn, throttle: Proposal
) -> None:
    answer(sign_in("tomas"), throttle, "reject", reason="Wait for the March budget.")

    late = answer(maya, throttle, "approve", HTMX, reason="Go on")

    told = text(late)
    assert late.status_code == 409
    assert "Tomás Silva rejected this" in told
    assert "“Wait for the March budget.”" in told
    assert "Your approval was not recorded." in told
    assert "Next proposal" in told


def test_a_plan_that_changed_is_shown_before_it_can_be_approved(
    maya: Client, sign_in: SignIn, throttle: Proposal
) -> None:
    changed = answer(sign_in("tomas"), throttle, "change", reason="Softer", **{"a2-factor": "0.7"})
    assert changed.status_code == 303

    late = answer(maya, throttle, "approve", HTMX, reason="My words")

    told = text(late)
    throttle.refresh_from_db()
    assert late.status_code == 409
    assert "The plan changed while you were reading." in told
    assert "factor is now 0.7 , was 0.58" in told
    assert 'value="My words"' in late.content.decode() or "My words" in told
    assert throttle.tag in late.content.decode()
    assert throttle.state == "pending"


def test_what_lapsed_is_not_approved_any_more(maya: Client, throttle: Proposal) -> None:
    Proposal.objects.filter(pk=throttle.pk).update(
        expires_at=throttle.created_at - timedelta(minutes=1)
    )

    late = answer(maya, throttle, "approve", HTMX)

    assert late.status_code == 410
    assert "Nothing ran. A new one appears if the drift is still there." in text(late)
    assert "Propose it again now" in text(late)


def test_under_a_stop_an_approval_is_stored_and_says_so(
    maya: Client, organisation: Clock, throttle: Proposal
) -> None:
    wanted = holds.HoldRequest("stop", "organisation", "Audit week", open_ended=True)
    holds.place(wanted, person=User.objects.get(username="tomas"), now=organisation.now)

    said = answer(maya, throttle, "approve", HTMX, place="pane")

    throttle.refresh_from_db()
    assert said.status_code == 200
    assert throttle.state == "approved"
    assert "Your approval is stored and runs once it is lifted." in text(said)


def test_a_person_who_may_not_decide_is_told_so(vera: Client, throttle: Proposal) -> None:
    page = text(vera.get(f"/approvals/{throttle.pk}"))
    said = answer(vera, throttle, "approve", reason="Please")

    throttle.refresh_from_db()
    assert "Approve and run" not in page
    assert "Only an approver of growth decides this." in page
    assert said.status_code == 403
    assert "Only an approver of growth decides this." in text(said)
    assert throttle.state == "pending"


@pytest.mark.parametrize("verdict", ["reject", "snooze", "accept", "override", "withdraw"])
def test_a_viewer_is_refused_every_answer(vera: Client, throttle: Proposal, verdict: str) -> None:
    said = answer(vera, throttle, verdict, reason="Because", **{"for": "7d", "path": ""})

    throttle.refresh_from_db()
    assert said.status_code == 403
    assert throttle.state == "pending"


def test_a_rejection_needs_words_and_keeps_nothing_without_them(
    maya: Client, throttle: Proposal
) -> None:
    said = answer(maya, throttle, "reject", HTMX, reason="  ")

    throttle.refresh_from_db()
    assert said.status_code == 400
    assert 'aria-invalid="true"' in said.content.decode()
    assert "Say why." in text(said)
    assert throttle.state == "pending"


def test_a_reason_that_cannot_be_kept_stays_in_the_field(maya: Client, throttle: Proposal) -> None:
    said = answer(maya, throttle, "reject", reason="x" * 2_001)

    assert said.status_code == 400
    assert "A reason has at most 2000 characters." in text(said)
    assert "x" * 2_001 in said.content.decode()


@pytest.mark.parametrize(
    "typed",
    [
        {"until": "yesterday"},
        {"until": "2020-01-01T10:00"},
        {"until": "9999-12-31T23:59"},
        {"for": "for ever"},
        {},
    ],
)
def test_a_time_that_makes_no_sense_is_a_sentence(
    maya: Client, throttle: Proposal, typed: dict[str, str]
) -> None:
    said = answer(maya, throttle, "snooze", reason="Not now", **typed)

    throttle.refresh_from_db()
    assert said.status_code == 400
    assert "Not now" in said.content.decode()
    assert throttle.quiet_until is None


@pytest.mark.parametrize("value", ["", "many", "nan", "1e999"])
def test_a_value_that_is_no_number_is_said_at_its_field(
    maya: Client, throttle: Proposal, value: str
) -> None:
    said = answer(
        maya,
        throttle,
        "override",
        reason="Because",
        path="spec.tokenBudget.maxDaily",
        value=value,
        **{"for": "4d"},
    )

    assert said.status_code == 400
    assert 'aria-invalid="true"' in said.content.decode()
    assert not Hold.objects.exists()


@pytest.mark.parametrize(
    ("factor", "sentence"), [("half", "That is no number."), ("7", "That cannot be done.")]
)
def test_a_change_that_does_not_fit_is_refused_with_what_was_typed(
    maya: Client, throttle: Proposal, factor: str, sentence: str
) -> None:
    said = answer(maya, throttle, "change", reason="Softer", **{"a2-factor": factor})

    throttle.refresh_from_db()
    assert said.status_code == 400
    assert sentence in text(said)
    assert f'value="{factor}"' in said.content.decode()
    assert throttle.revision == 1


def test_what_lapsed_is_proposed_again(maya: Client, throttle: Proposal) -> None:
    Proposal.objects.filter(pk=throttle.pk).update(state="expired")

    said = answer(maya, throttle, "repropose", reason="Still needed")

    assert said.status_code == 303
    assert "Nothing ran." in text(maya.get(f"/approvals/{throttle.pk}"))


@pytest.mark.parametrize("query", ["", "?verdict=dance", "?verdict=undo", "?verdict=approve"])
def test_an_unknown_form_breaks_nothing(maya: Client, throttle: Proposal, query: str) -> None:
    assert maya.get(f"/approvals/{throttle.pk}/decide{query}").status_code == 200
    assert maya.post(f"/approvals/{throttle.pk}/decide{query}").status_code in (400,)


@pytest.mark.parametrize("tag", ["", "1", "x:y", "1:" + "0" * 64, "9" * 40 + ":" + "0" * 64])
def test_an_answer_to_something_else_is_not_recorded(
    maya: Client, throttle: Proposal, tag: str
) -> None:
    said = maya.post(f"/approvals/{throttle.pk}/decide?verdict=approve", {"tag": tag})

    throttle.refresh_from_db()
    assert said.status_code in (409, 400)
    assert throttle.state == "pending"


@pytest.mark.parametrize("key", ["0", "999999", "9" * 30])
def test_a_proposal_that_is_not_there_is_not_found(maya: Client, key: str) -> None:
    assert maya.get(f"/approvals/{key}/decide?verdict=approve").status_code == 404
    assert maya.post(f"/approvals/{key}/decide?verdict=approve").status_code == 404


def test_a_form_leads_nowhere_outside(maya: Client, throttle: Proposal) -> None:
    for place in ("//evil.example/x", "https://evil.example", "/\\evil.example"):
        fresh = Proposal.objects.exclude(state="approved").first()
        assert fresh is not None
        said = answer(maya, fresh, "approve", reason="Yes", next=place)
        assert "evil" not in said.headers["Location"]
