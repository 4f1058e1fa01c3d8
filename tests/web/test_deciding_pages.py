"""Deciding in the browser: one form for each answer, and what comes of it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client

from controllers.decisions import answers
from controllers.models import Decision, Hold, Proposal
from tests.conftest import Clock
from tests.decisions import making
from tests.web import proposing
from tests.web.conftest import SignIn
from tests.web.proposing import HTMX, answer, of, text

pytestmark = pytest.mark.sqlite


@pytest.fixture
def organisation(db: None, clock: Clock) -> Clock:
    """Make a small one: three agents, and something proposed about each."""
    proposing.settle(clock)
    return clock


@pytest.fixture
def throttle(organisation: Clock) -> Proposal:
    """Return a proposal of low risk."""
    return of("throttle")


def test_an_approval_runs_eight_seconds_later_and_leads_to_the_next(
    maya: Client, throttle: Proposal
) -> None:
    said = answer(maya, throttle, "approve")

    throttle.refresh_from_db()
    assert said.status_code == 303
    assert throttle.state == "approved"
    assert throttle.run_at == throttle.decided_at + timedelta(seconds=8)  # type: ignore[operator]
    assert re.fullmatch(r"/approvals/\d+", said.headers["Location"])
    assert said.headers["Location"] != f"/approvals/{throttle.pk}"
    told = text(maya.get(said.headers["Location"]))
    assert f"P-{throttle.pk} : Approved. Runs in 8 s. Undo" in told


def test_an_approval_can_be_taken_back_before_it_runs(maya: Client, throttle: Proposal) -> None:
    answer(maya, throttle, "approve")
    throttle.refresh_from_db()

    said = answer(maya, throttle, "withdraw", reason="Wrong one")

    throttle.refresh_from_db()
    assert said.status_code == 303
    assert throttle.state == "withdrawn"


def test_beside_the_queue_the_next_one_is_shown_with_a_toast(
    maya: Client, throttle: Proposal
) -> None:
    said = answer(maya, throttle, "approve", HTMX, place="pane")

    body = said.content.decode()
    assert said.headers["HX-Retarget"] == "#split"
    assert said.headers["HX-Push-Url"].startswith("/approvals?at=")
    assert 'id="split"' in body
    assert 'hx-swap-oob="innerHTML"' in body
    assert 'data-verdict="undo"' in body
    assert f'hx-get="/approvals?at={throttle.pk}"' in body  # it is under way now
    assert 'id="g-underway"' in body


def test_a_snooze_comes_back_at_the_time_that_was_chosen(maya: Client, throttle: Proposal) -> None:
    said = answer(maya, throttle, "snooze", reason="Not now", **{"for": "tomorrow"})

    throttle.refresh_from_db()
    assert said.status_code == 303
    assert throttle.quiet_until is not None
    assert (throttle.quiet_until.hour, throttle.quiet_until.minute) == (9, 0)


def test_an_override_holds_the_value_that_was_typed(maya: Client, throttle: Proposal) -> None:
    form = maya.get(f"/approvals/{throttle.pk}/decide?verdict=override").content.decode()
    assert 'value="2,500,000"' in form

    said = answer(
        maya,
        throttle,
        "override",
        reason="The campaign ends on Sunday",
        path="spec.tokenBudget.maxDaily",
        value="1,900,000",
        **{"for": "4d"},
    )

    throttle.refresh_from_db()
    hold = Hold.objects.get()
    throttle.resource.refresh_from_db()
    assert said.status_code == 303
    assert throttle.state == "overridden"
    assert (hold.path, hold.value) == ("spec.tokenBudget.maxDaily", 1_900_000)
    assert throttle.resource.spec["tokenBudget"]["maxDaily"] == 1_900_000


def test_pausing_the_controller_places_a_hold_on_it(maya: Client, throttle: Proposal) -> None:
    said = answer(maya, throttle, "pause", reason="It is wrong today", **{"for": "8h"})

    hold = Hold.objects.get()
    assert said.status_code == 303
    assert (hold.kind, hold.scope, hold.controller_id) == (
        "pause",
        "controller",
        throttle.controller_id,
    )
    assert "It does not run now." in text(maya.get(f"/approvals/{throttle.pk}"))


def test_a_change_is_for_somebody_else_to_approve(maya: Client, throttle: Proposal) -> None:
    form = maya.get(f"/approvals/{throttle.pk}/decide?verdict=change").content.decode()
    assert 'name="a2-factor"' in form

    said = answer(maya, throttle, "change", reason="Softer", **{"a2-factor": "0.7"})

    throttle.refresh_from_db()
    assert said.status_code == 303
    assert throttle.actions[0]["parameters"]["factor"] == 0.7
    assert "Whoever edited it does not approve it." in text(maya.get(f"/approvals/{throttle.pk}"))


def test_accepting_ends_it_until_a_date(maya: Client, throttle: Proposal) -> None:
    said = answer(maya, throttle, "accept", reason="We live with it", **{"for": "30d"})

    throttle.refresh_from_db()
    assert said.status_code == 303
    assert (throttle.state, throttle.answer) == ("rejected", "accept")
    assert "Accepted as it is" in text(maya.get(f"/approvals/{throttle.pk}"))


def test_more_time_can_be_given(maya: Client, throttle: Proposal) -> None:
    before = throttle.expires_at

    answer(maya, throttle, "extend", reason="Waiting for figures", **{"for": "4d"})

    throttle.refresh_from_db()
    assert throttle.expires_at == before + timedelta(days=4)


def test_a_second_vote_of_the_same_person_is_no_second_person(
    maya: Client, sign_in: SignIn, organisation: Clock
) -> None:
    resource = of("throttle").resource
    patch = making.action(resource.name, "modify-spec", parameters={"patch": {"role": "x"}})
    both = making.proposal(organisation, resource, actions=[patch], people=2, risk="medium")

    first = answer(maya, both, "approve", HTMX, reason="Yes")
    again = answer(maya, both, "approve", reason="Yes")
    second = answer(sign_in("tomas"), both, "approve", reason="Yes, too")

    both.refresh_from_db()
    assert first.status_code == 204
    assert again.status_code == 303
    assert Decision.objects.filter(proposal=both, answer="approve").count() == 2
    assert second.status_code == 303
    assert both.state == "approved"


def test_what_is_grave_is_decided_on_its_own_page_only(maya: Client, organisation: Clock) -> None:
    resource = of("throttle").resource
    grave = making.proposal(organisation, resource, risk="high", reversible=False, people=2)

    pane = text(maya.get(f"/approvals?at={grave.pk}"))
    page = maya.get(f"/approvals/{grave.pk}").content.decode()

    assert "Open it to decide" in pane
    assert 'data-friction="reason"' in page
    assert re.search(r"<textarea[^>]*required[^>]*></textarea>", page)


def test_the_glass_needs_a_real_reason(maya: Client, organisation: Clock) -> None:
    resource = of("throttle").resource
    grave = making.proposal(organisation, resource, risk="high", people=2)

    short = answer(maya, grave, "break-glass", reason="now")
    done = answer(maya, grave, "break-glass", reason="Customers lose money this minute")

    grave.refresh_from_db()
    assert short.status_code == 400
    assert done.status_code == 303
    assert (grave.state, grave.answer) == ("approved", "break_glass")
    page = text(maya.get(f"/approvals/{grave.pk}"))
    assert "Approved by one person alone, in an emergency." in page


def test_somebody_else_reviews_broken_glass(
    maya: Client, sign_in: SignIn, organisation: Clock
) -> None:
    grave = making.proposal(organisation, of("throttle").resource, risk="high", people=2)
    answer(maya, grave, "break-glass", reason="Customers lose money this minute")

    own = answer(maya, grave, "review", reason="Fine")
    other = answer(sign_in("tomas"), grave, "review", reason="Fine")

    grave.refresh_from_db()
    assert own.status_code == 403
    assert other.status_code == 303
    assert grave.review_by is None


def test_what_nobody_saw_the_end_of_is_resolved(ines: Client, organisation: Clock) -> None:
    lost = making.proposal(organisation, of("throttle").resource, state="unknown")

    nothing = answer(ines, lost, "resolve", reason="I looked")
    said = answer(ines, lost, "resolve", reason="I looked", outcome="failed")

    lost.refresh_from_db()
    assert nothing.status_code == 400
    assert "Say what became of it." in text(nothing)
    assert said.status_code == 303
    assert lost.state == "failed"


def test_every_form_that_is_offered_can_be_opened(maya: Client, throttle: Proposal) -> None:
    page = maya.get(f"/approvals/{throttle.pk}").content.decode()
    offered = set(re.findall(r'data-verdict="([a-z-]+)"', page))

    for verdict in offered:
        address = f"/approvals/{throttle.pk}/decide?verdict={verdict}&place=pane"
        whole, alone = maya.get(address), maya.get(address, headers=HTMX)
        assert b"<html" in whole.content
        assert b"<html" not in alone.content
        assert alone.content.count(b'type="submit"') == 1
    assert {"approve", "reject", "override", "snooze", "pause", "change"} <= offered
    assert offered <= {each.name for each in answers.ALL}
