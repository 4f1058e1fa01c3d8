"""Running, stopping and changing a controller from its page."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.decisions import answers
from controllers.decisions.proposals import SeenRevision
from controllers.models import Cycle, Proposal, Runtime, WorkItem
from resources.tables.models import LedgerEvent, Resource
from tests.conftest import Clock
from tests.web.conftest import look
from tests.web.test_controllers import text, trip

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

AGENTS = "/controllers/agent-performance"
DIALOG = {"HX-Request": "true"}


def runtime() -> Runtime:
    return Runtime.objects.get(controller__name="agent-performance")


# Running


def test_run_now_asks_the_loop_and_says_so(organisation: Clock, ines: Client) -> None:
    answer = ines.post(f"{AGENTS}/run", {"reason": "After the fix."}, follow=True)

    assert answer.redirect_chain == [(AGENTS, 303)]
    assert "agent-performance runs now." in answer.content.decode()
    asked = LedgerEvent.objects.get(event="controller.reconciliation-requested")
    assert (asked.actor, asked.payload["reason"]) == ("person/ines", "After the fix.")
    # The page was asked at the real time, which goes on while the test runs.
    organisation.advance(minutes=4)
    look(organisation)
    cycle = Cycle.objects.get(controller__name="agent-performance", number=2)
    assert cycle.requested_by == "person/ines"
    assert "asked by Ines Okafor" in text(ines, f"{AGENTS}/cycles/2")


@pytest.mark.parametrize("who", ["maya", "vera"])
def test_who_may_not_run_it_is_told_so_and_nothing_is_asked(
    request: pytest.FixtureRequest, who: str
) -> None:
    client: Client = request.getfixturevalue(who)

    answer = client.post(f"{AGENTS}/run")

    assert answer.status_code == 403
    assert "Only an operator or an administrator" in answer.content.decode()
    assert not WorkItem.objects.filter(requested_by=f"person/{who}").exists()


def test_what_is_stopped_does_not_run_and_the_words_stay(
    organisation: Clock, ines: Client
) -> None:
    trip(organisation, "agent-performance")

    answer = ines.post(f"{AGENTS}/run", {"reason": "I hope so"})

    html = answer.content.decode()
    assert answer.status_code == 409
    assert "Stopped until a person resets it" in html
    assert "I hope so" in html


def test_what_it_would_do_is_shown_and_nothing_is_done(ines: Client, vera: Client) -> None:
    before = Cycle.objects.count(), LedgerEvent.objects.count()

    html = " ".join(text(vera, f"{AGENTS}/run").split())

    assert "It looked at 23 resources just now and changed nothing. 4 above the limit." in html
    assert "agent/growth-optimizer" in html
    assert "throttle" in html
    assert "Run now" not in html
    assert "Run now" in text(ines, f"{AGENTS}/run")
    assert (Cycle.objects.count(), LedgerEvent.objects.count()) == before


def test_a_dialog_gets_only_the_form(ines: Client) -> None:
    for address in ("run", "mode", "breaker?do=trip"):
        html = ines.get(f"{AGENTS}/{address}", headers=DIALOG).content.decode()
        assert html.lstrip().startswith("<form")
        assert "<html" not in html
        assert "<h1" not in html
        assert text(ines, f"{AGENTS}/{address}").count("<h1") == 1


# The breaker


def test_an_operator_trips_the_breaker_with_a_reason(ines: Client) -> None:
    form = text(ines, f"{AGENTS}/breaker?do=trip")
    assert "Stop agent-performance now?" in form

    answer = ines.post(f"{AGENTS}/breaker", {"do": "trip", "reason": "It loops."}, follow=True)

    assert answer.redirect_chain == [(AGENTS, 303)]
    assert "agent-performance is stopped." in answer.content.decode()
    assert runtime().breaker == "open"


def test_a_dialog_is_told_where_to_go(ines: Client) -> None:
    answer = ines.post(f"{AGENTS}/breaker", {"do": "trip", "reason": "It loops."}, headers=DIALOG)

    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, AGENTS)


def test_a_reset_lets_one_cycle_try(organisation: Clock, ines: Client) -> None:
    trip(organisation, "agent-performance")

    ines.post(f"{AGENTS}/breaker", {"do": "reset", "reason": "Mended."})

    assert runtime().breaker == "half_open"
    organisation.advance(minutes=4)
    look(organisation)
    assert runtime().breaker == "closed"


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "a\x00b"])
@pytest.mark.parametrize("do", ["trip", "reset"])
def test_words_that_cannot_be_kept_are_refused_and_stay(
    organisation: Clock, ines: Client, do: str, reason: str
) -> None:
    if do == "reset":
        trip(organisation, "agent-performance")
    before = runtime().breaker

    answer = ines.post(f"{AGENTS}/breaker", {"do": do, "reason": reason}, headers=DIALOG)

    html = answer.content.decode()
    assert answer.status_code == 400
    assert 'role="alert"' in html
    assert 'aria-invalid="true"' in html
    assert reason.strip() in html
    assert runtime().breaker == before


def test_somebody_was_faster(organisation: Clock, ines: Client) -> None:
    trip(organisation, "agent-performance")

    again = ines.post(f"{AGENTS}/breaker", {"do": "trip", "reason": "Me too."}, headers=DIALOG)
    assert again.status_code == 409
    assert "is stopped already" in again.content.decode()

    ines.post(f"{AGENTS}/breaker", {"do": "reset", "reason": "Mended."})
    late = ines.post(f"{AGENTS}/breaker", {"do": "reset", "reason": "Mended."}, headers=DIALOG)
    assert late.status_code == 409
    assert "is not stopped" in late.content.decode()


@pytest.mark.parametrize("who", ["maya", "vera"])
@pytest.mark.parametrize("do", ["trip", "reset"])
def test_who_may_not_touch_the_breaker_is_told_so(
    organisation: Clock, request: pytest.FixtureRequest, who: str, do: str
) -> None:
    client: Client = request.getfixturevalue(who)
    if do == "reset":
        trip(organisation, "agent-performance")
    before = runtime().breaker

    answer = client.post(f"{AGENTS}/breaker", {"do": do, "reason": "Let me."})

    assert answer.status_code == 403
    assert "Only an operator or an administrator" in answer.content.decode()
    assert runtime().breaker == before
    assert "<textarea" not in text(client, f"{AGENTS}/breaker?do={do}")


# The mode


def test_another_mode_is_proposed_approved_by_two_and_then_declared(
    organisation: Clock, ines: Client
) -> None:
    wish = {"mode": "observe", "reason": "Watch it for a week."}

    answer = ines.post(f"{AGENTS}/mode", wish, follow=True)

    proposal = Proposal.objects.get(proposer="person/ines")
    html = answer.content.decode()
    assert html.count(f'Proposed: <a class="link" href="/approvals/{proposal.pk}">') == 2
    assert "2 other people have to approve it before the mode changes." in html
    assert f'Proposed: <a class="link" href="/approvals/{proposal.pk}">P-{proposal.pk}</a>' in html
    assert mode() == "warn"
    for name in ("maya", "tomas"):
        proposal.refresh_from_db()
        seen = SeenRevision(proposal.revision, proposal.action_digest)
        person = User.objects.get(username=name)
        answers.approve(
            proposal.pk, person=person, seen=seen, now=organisation.now, reason="Fine."
        )
    organisation.advance(minutes=1)
    look(organisation)
    assert mode() == "observe"


def mode() -> str:
    row = Resource.objects.get(kind="Controller", name="agent-performance", deleted_at=None)
    return str(row.spec["enforcementMode"])


def test_the_same_wish_twice_is_one_proposal(ines: Client) -> None:
    wish = {"mode": "observe", "reason": "Watch it."}
    ines.post(f"{AGENTS}/mode", wish)

    answer = ines.post(f"{AGENTS}/mode", wish, follow=True)

    assert "You proposed this already:" in answer.content.decode()
    assert Proposal.objects.filter(proposer="person/ines").count() == 1


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"mode": "observe", "reason": " "}, "Say why it should be done."),
        ({"mode": "observe", "reason": "a\x00b"}, "is a text of up to"),
        ({"mode": "warn", "reason": "Why not."}, "is in this mode already"),
        ({"mode": "shout", "reason": "Why not."}, "Choose a mode from"),
        ({"reason": "Why not."}, "is in this mode already"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_and_stays(
    ines: Client, wish: dict[str, str], said: str
) -> None:
    answer = ines.post(f"{AGENTS}/mode", wish)

    html = answer.content.decode()
    assert answer.status_code == 400
    assert said in html
    assert wish["reason"].strip() in html
    assert not Proposal.objects.filter(proposer="person/ines").exists()


@pytest.mark.parametrize("who", ["maya", "vera"])
def test_who_may_not_propose_is_told_so(request: pytest.FixtureRequest, who: str) -> None:
    client: Client = request.getfixturevalue(who)

    answer = client.post(f"{AGENTS}/mode", {"mode": "observe", "reason": "I want it."})

    assert answer.status_code == 403
    assert "Only an operator or an administrator" in answer.content.decode()
    assert not Proposal.objects.filter(proposer=f"person/{who}").exists()
    assert "<textarea" not in text(client, f"{AGENTS}/mode?mode=observe")


def test_the_form_begins_with_the_mode_that_was_pressed(ines: Client) -> None:
    assert 'value="observe" checked' in text(ines, f"{AGENTS}/mode?mode=observe")
    assert 'value="warn" checked' in text(ines, f"{AGENTS}/mode")


@pytest.mark.parametrize("address", ["run", "mode", "breaker"])
def test_other_methods_are_refused(ines: Client, address: str) -> None:
    assert ines.put(f"{AGENTS}/{address}").status_code == 405
