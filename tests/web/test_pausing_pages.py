"""Pause everything or a part, see what had begun, and resume after a look at what would happen."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.decisions import holds
from controllers.models import Hold, Step
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.decisions import making
from tests.web.test_overrides_page import ava, oz, team, text, vic

pytestmark = pytest.mark.sqlite

__all__ = ["ava", "oz", "team", "vic"]

HTMX = {"HX-Request": "true"}


def on_the_wire(clock: Clock) -> Step:
    """Let a call be under way."""
    agent = Resource.objects.get(kind="Agent", name=making.AGENT)
    proposal = making.proposal(clock, agent, state="executing")
    return Step.objects.create(
        proposal=proposal,
        sequence=1,
        operation="throttle",
        executor="webhook",
        idempotent=True,
        state=Step.State.DISPATCHED,
        key="k",
        deadline=timezone.now() + timedelta(minutes=5),
    )


def test_everything_is_paused_until_somebody_resumes(ava: Client) -> None:
    page = text(ava, "/pause")
    assert "<h1>Pause everything?</h1>" in page
    assert "Controllers still watch and measure, nothing acts." in page
    answer = ava.post("/pause", {"reason": "Something is off.", "lasts": "open"})
    hold = Hold.objects.get()
    assert answer.status_code == 303
    assert answer["Location"] == f"/overrides/{hold.pk}"
    assert (hold.kind, hold.scope, hold.ends_at) == ("stop", "organisation", None)
    assert "Everything is paused. Nothing is under way." in text(ava, f"/overrides/{hold.pk}")
    page = text(ava, "/overrides")
    assert "<h1>Everything is paused</h1>" in page
    assert "Controllers still watch and measure, nothing acts." in page
    assert "Everything paused" in page


def test_a_dialog_holds_the_form_alone(ava: Client) -> None:
    alone = text(ava, "/pause", headers=HTMX)
    assert " ".join(alone.split()).startswith('<form class="dialog-form"')
    assert "<h2>Pause everything?</h2>" in alone
    answer = ava.post("/pause", {"reason": ""}, headers=HTMX)
    assert answer.status_code == 400
    again = " ".join(answer.content.decode().split())
    assert again.startswith('<form class="dialog-form"')
    answer = ava.post("/pause", {"reason": "Off.", "lasts": "1h"}, headers=HTMX)
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == f"/overrides/{Hold.objects.get().pk}"


def test_calls_on_the_wire_are_listed_and_then_drained(ava: Client, team: Clock) -> None:
    step = on_the_wire(team)
    ava.post("/pause", {"reason": "Off.", "lasts": "open"})
    hold = Hold.objects.get()
    page = text(ava, f"/overrides/{hold.pk}")
    assert "1 call already on the wire, drained by" in page
    assert "1 call on the wire" in page
    assert f"P-{step.proposal_id}" in page
    Step.objects.filter(pk=step.pk).update(state=Step.State.DONE)
    part = text(ava, f"/overrides/{hold.pk}", headers={"Live-Parts": "hold-flights"})
    assert "Drained" in part
    assert "Nothing that had begun is under way any more." in part


@pytest.mark.parametrize(
    ("query", "scope"),
    [
        ("controller=keeper", "controller"),
        ("controller=controller/keeper", "controller"),
        ("domain=growth", "domain"),
        (f"resource=agent/{making.AGENT}", "resource"),
    ],
)
def test_a_part_is_paused_and_resumed(ava: Client, query: str, scope: str) -> None:
    page = text(ava, f"/pause?{query}")
    name = query.replace("=", "/").split("/")[-1]
    assert f"<h1>Pause {name}?</h1>" in page
    filled = {"on": query.replace("=", "/").removeprefix("resource/"), "reason": "Odd."}
    filled["on"] = filled["on"].replace("controller/controller", "controller")
    assert ava.post("/pause", filled | {"lasts": "1d"}).status_code == 303
    hold = Hold.objects.get()
    assert (hold.kind, hold.scope) == ("pause", scope)
    page = text(ava, f"/resume?{query}")
    assert f"{name} is paused" in page
    answer = ava.post("/resume", filled | {"hold": str(hold.pk), "reason": "Fine."})
    assert answer.status_code == 303
    hold.refresh_from_db()
    assert hold.end_reason == "Fine."
    assert f"{name} goes on." in text(ava, "/overrides")


def test_pausing_what_is_not_there_is_a_sentence(ava: Client) -> None:
    assert "There is no controller/nobody." in text(ava, "/pause?controller=nobody")
    assert "There is no controller/nobody." in text(ava, "/resume?controller=nobody")
    answer = ava.post("/pause", {"on": "controller/nobody", "reason": "x"})
    assert answer.status_code == 400
    assert ava.get("/pause?controller=%00").status_code == 200
    assert ava.get("/resume?domain=%00").status_code == 200


def test_bad_input_pauses_nothing_and_stays(ava: Client) -> None:
    answer = ava.post("/pause", {"reason": "Because <b>.", "lasts": "1h", "until": "soon"})
    page = unescape(answer.content.decode())
    assert answer.status_code == 400
    assert "A time looks like" in page
    assert "Because <b>." in page
    assert 'value="soon"' in page
    assert not Hold.objects.exists()


def test_operators_pause_but_do_not_resume(oz: Client) -> None:
    assert oz.post("/pause", {"reason": "Off.", "lasts": "open"}).status_code == 303
    hold = Hold.objects.get()
    page = text(oz, "/resume")
    assert "Only approvers and administrators resume what is paused." in page
    assert "<textarea" not in page
    answer = oz.post("/resume", {"reason": "Now.", "hold": str(hold.pk)})
    assert answer.status_code == 403
    hold.refresh_from_db()
    assert hold.ended_at is None


def test_somebody_who_may_only_look_pauses_nothing(vic: Client) -> None:
    page = text(vic, "/pause")
    assert "Only operators, approvers and administrators pause anything here." in page
    assert vic.post("/pause", {"reason": "x", "lasts": "open"}).status_code == 403
    assert not Hold.objects.exists()


def test_resuming_shows_first_what_would_happen(ava: Client, team: Clock) -> None:
    agent = Resource.objects.get(kind="Agent", name=making.AGENT)
    making.proposal(
        team,
        agent,
        state="approved",
        decided_by="person/ava",
        execute_before=timezone.now() + timedelta(hours=1),
    )
    ava.post("/pause", {"reason": "Off.", "lasts": "open"})
    page = text(ava, "/resume")
    assert "Everything is paused</b> by ava since" in page
    assert "1 approved proposal would run at once." in page
    assert "would run" in page
    answer = ava.post("/resume", {"reason": "", "hold": str(Hold.objects.get().pk)})
    assert answer.status_code == 400
    assert Hold.objects.get().ended_at is None


def test_nothing_to_resume_is_said(ava: Client) -> None:
    assert "Nothing is paused: controllers run." in text(ava, "/resume")
    answer = ava.post("/resume", {"reason": "x", "hold": "1"})
    assert answer.status_code == 409
    assert "It is not paused any more" in answer.content.decode()


def test_a_pause_placed_meanwhile_is_not_lifted_unseen(ava: Client) -> None:
    ava.post("/pause", {"reason": "First.", "lasts": "open"})
    first = Hold.objects.get()
    by = User.objects.get(username="oz")
    wanted = holds.HoldRequest("stop", "organisation", "Second.", open_ended=True)
    second = holds.place(wanted, person=by, now=timezone.now()).hold
    assert ava.post("/resume", {"reason": "Ok.", "hold": str(first.pk)}).status_code == 303
    second.refresh_from_db()
    assert second.ended_at is None
    assert "Everything is paused" in text(ava, "/overrides")


def test_the_switch_is_a_link_and_a_form_for_everybody(team: Clock) -> None:
    for address in ("/pause", "/resume"):
        assert Client().get(address).status_code == 302
        assert Client().post(address).status_code == 302
