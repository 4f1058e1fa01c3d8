"""What people hold: the list, one hold, and the forms that place, extend and lift it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.decisions import holds
from controllers.models import Hold, Proposal
from resources.tables.models import Resource
from tests.admin.counts import expected, statements
from tests.conftest import Clock, given
from tests.decisions import making
from tests.rows import every_row
from tests.web.conftest import SignIn, look

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

FIELD = "spec.tokenBudget.maxDaily"
TOKEN = re.compile(r'<input type="hidden" name="csrfmiddlewaretoken" value="[^"]*">')
AGES = re.compile(r"\d+ (s|min|h)( ago)?")


@pytest.fixture
def team(db: None, clock: Clock) -> Clock:
    """Return a small organisation: an agent, and people who may do different things."""
    making.agent(clock)
    making.controller(clock)
    making.person(clock, "ava", "approver")
    making.person(clock, "oz", "operator")
    given(User.objects.create(username="vic"), "viewer")
    return clock


@pytest.fixture
def ava(team: Clock, sign_in: SignIn) -> Client:
    """Return the browser of somebody who may hold and lift."""
    return sign_in("ava")


@pytest.fixture
def oz(team: Clock, sign_in: SignIn) -> Client:
    """Return the browser of somebody who may hold only."""
    return sign_in("oz")


@pytest.fixture
def vic(team: Clock, sign_in: SignIn) -> Client:
    """Return the browser of somebody who may only look."""
    return sign_in("vic")


def text(client: Client, address: str, **given: Any) -> str:
    """Return a page as text."""
    answer = client.get(address, **given)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def override(person: str = "ava", value: Any = 500_000, **given: Any) -> Hold:
    """Hold the daily tokens of the agent."""
    agent = Resource.objects.get(kind="Agent", name=making.AGENT)
    wanted = holds.HoldRequest(
        "override", "field", "Campaign week.", resource=agent.pk, path=FIELD, value=value
    )
    by = User.objects.get(username=person)
    return holds.place(wanted, person=by, now=given.get("now", timezone.now())).hold


FILLED = {
    "kind": "override",
    "on": f"agent/{making.AGENT}",
    "path": "tokenBudget.maxDaily",
    "value": "500000",
    "lasts": "1d",
    "reason": "Campaign week.",
}


def test_without_holds_the_page_says_what_they_are_for(ava: Client) -> None:
    page = text(ava, "/overrides")
    assert "<h1>Nobody holds anything back</h1>" in page
    assert "Nobody overrode anything in 30 days." in page
    assert "New override" in page


def test_a_held_value_is_listed_with_what_the_spec_said_and_why(ava: Client) -> None:
    hold = override()
    page = text(ava, "/overrides")
    assert "<h1>People hold 1 value right now</h1>" in page
    assert '<span class="chip human">500,000</span>' in page
    assert "1,000,000" in page
    assert "“Campaign week.”" in page
    assert f'href="/overrides/{hold.pk}/lift"' in page
    assert f'href="/overrides/{hold.pk}/renew"' in page


def test_nobody_sees_a_button_that_would_be_refused(ava: Client, oz: Client, vic: Client) -> None:
    hold = override()
    for address in ("/overrides", f"/overrides/{hold.pk}"):
        assert f'href="/overrides/{hold.pk}/renew"' in text(oz, address)
        assert f'href="/overrides/{hold.pk}/lift"' not in text(oz, address)
        assert f"/overrides/{hold.pk}/renew" not in text(vic, address)
        assert f"/overrides/{hold.pk}/lift" not in text(vic, address)
    assert "New override" not in text(vic, "/overrides")


def test_a_value_declared_anew_is_shown(ava: Client, team: Clock) -> None:
    override()
    making.agent(team, tokenBudget={"maxDaily": 700_000})
    assert "declared anew: 700,000" in text(ava, "/overrides")


def test_pauses_freezes_and_planned_freezes_have_their_own_lists(ava: Client) -> None:
    now, by = timezone.now(), User.objects.get(username="ava")
    keeper = Resource.objects.get(kind="Controller", name="keeper")
    holds.place(
        holds.HoldRequest("pause", "controller", "Odd.", controller=keeper.pk), person=by, now=now
    )
    later = now + timedelta(days=1)
    holds.place(
        holds.HoldRequest("freeze", "domain", "Fair.", domain="growth", starts_at=later),
        person=by,
        now=now,
    )
    page = text(ava, "/overrides")
    assert "People pause 1 thing right now" in page
    assert "Paused and frozen" in page
    assert "Planned freezes" in page


def test_what_overrides_tell_comes_from_what_people_did(ava: Client, team: Clock) -> None:
    for number in range(3):
        hold = override(value=2_000_000 + number)
        by = User.objects.get(username="ava")
        holds.lift(hold.pk, person=by, now=timezone.now(), reason="Over.", restore=True)
    page = " ".join(re.sub(r"<[^>]*>", "", text(ava, "/overrides")).split())
    said = "scribe was overridden 3 times in 30 days on tokenBudget.maxDaily, always upward."
    assert said in page
    assert "Its target is probably too low." in page


def test_an_override_counts_against_the_controller_that_proposed_otherwise(
    ava: Client, team: Clock
) -> None:
    keeper = Resource.objects.get(kind="Controller", name="keeper")
    for number in range(3):
        agent = Resource.objects.get(kind="Agent", name=making.AGENT)
        making.proposal(team, agent, keeper)
        hold = override(value=900_000 - number)
        by = User.objects.get(username="ava")
        holds.lift(hold.pk, person=by, now=timezone.now(), reason="Over.", restore=True)
    page = " ".join(re.sub(r"<[^>]*>", "", text(ava, "/overrides")).split())
    assert "keeper was overridden 3 times in 30 days on tokenBudget.maxDaily" in page
    assert "always downward. Its target is probably too high." in page
    assert Proposal.objects.filter(state="overridden").count() == 3


def test_what_ended_lately_says_how(ava: Client) -> None:
    hold = override()
    by = User.objects.get(username="ava")
    holds.lift(hold.pk, person=by, now=timezone.now(), reason="All clear.")
    page = text(ava, "/overrides")
    assert "Ended lately" in page
    assert "Lifted by ava" in page
    assert "“All clear.”" in page


def test_the_page_of_a_hold_tells_its_story(ava: Client) -> None:
    hold = override()
    page = text(ava, f"/overrides/{hold.pk}")
    assert "tokenBudget.maxDaily of scribe is held at 500,000" in page
    assert "held tokenBudget.maxDaily of scribe at 500,000" in page
    assert "Nothing was under way when it was placed." in page
    assert "No controller wanted to do anything yet." in page


@pytest.mark.parametrize("address", ["/overrides/99", "/overrides/99999999999999999999"])
def test_a_hold_that_is_not_there_is_not_found(ava: Client, address: str) -> None:
    for rest in ("", "/lift", "/renew"):
        assert ava.get(f"{address}{rest}").status_code == 404
    assert ava.post(f"{address}/lift", {"reason": "x"}).status_code == 404


def test_the_shadow_log_shows_what_controllers_would_have_done(
    organisation: Clock, maya: Client
) -> None:
    agent = Resource.objects.get(kind="Agent", name="growth-optimizer")
    wanted = holds.HoldRequest("pause", "resource", "Wait.", resource=agent.pk)
    by = User.objects.get(username="maya")
    hold = holds.place(wanted, person=by, now=organisation.now).hold
    Proposal.objects.filter(resource=agent).update(state="withdrawn")
    organisation.now += timedelta(hours=2)
    look(organisation)
    page = text(maya, f"/overrides/{hold.pk}")
    assert hold.shadows.exists()
    assert "<code>throttle</code>" in page


def test_a_hold_is_placed_with_the_form(ava: Client) -> None:
    answer = ava.post("/overrides/new", FILLED)
    hold = Hold.objects.get()
    assert answer.status_code == 303
    assert answer["Location"] == f"/overrides/{hold.pk}"
    assert (hold.kind, hold.path, hold.value, hold.reason) == (
        "override",
        FIELD,
        500_000,
        "Campaign week.",
    )
    page = text(ava, f"/overrides/{hold.pk}")
    assert "tokenBudget.maxDaily of scribe is held at 500,000. Nothing is under way." in page


def test_a_dialog_is_told_where_to_go(ava: Client) -> None:
    answer = ava.post("/overrides/new", FILLED, headers={"HX-Request": "true"})
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == f"/overrides/{Hold.objects.get().pk}"


def test_the_form_knows_the_value_that_stands_now(ava: Client) -> None:
    page = text(ava, f"/overrides/new?resource=agent/{making.AGENT}&path={FIELD}")
    assert "Now <b>1,000,000</b>." in page
    alone = text(ava, "/overrides/new?kind=pause", headers={"HX-Request": "true"})
    assert " ".join(alone.split()).startswith('<form class="dialog-form"')
    assert "keeper" in alone


@every_row(
    ("change", "sentence"),
    [
        ({"reason": " "}, "Say why."),
        ({"reason": "x" * 3000}, "A reason has at most"),
        ({"reason": "a\x00b"}, "The reason cannot be kept"),
        ({"on": "scribe"}, "Name it like agent/growth-optimizer."),
        ({"on": "agent/nobody"}, "There is no agent/nobody."),
        ({"on": "agent/\x00"}, "The name cannot be read."),
        ({"on": "x" * 5000}, "The name cannot be read."),
        ({"path": "a\x00b"}, "The field cannot be read."),
        ({"path": "a b"}, "A path looks like"),
        ({"value": "abc"}, "does not take this value"),
        ({"value": "{not json"}, "The value cannot be read"),
        ({"value": "NaN"}, "does not take this value"),
        ({"lasts": "forever"}, "Choose how long it lasts."),
        ({"lasts": "open"}, "Only a stop may be without an end."),
        ({"until": "tomorrow"}, "A time looks like"),
        ({"until": "2001-01-01T00:00"}, "It would end before it begins."),
        ({"until": "2999-01-01T00:00"}, "A hold ends within 90 days"),
        ({"kind": "pause", "on": ""}, "Say what is to be paused"),
        ({"kind": "pause", "on": "domain/nowhere"}, "There is no such domain."),
        ({"kind": "freeze", "on": "", "cron": "often", "duration": "x"}, "A window has a cron"),
        ({"kind": "freeze", "on": "", "starts": "soon"}, "A time looks like"),
    ],
    rolled_back=True,
)
def test_bad_input_is_a_sentence_and_what_was_typed_stays(
    ava: Client, change: dict[str, str], sentence: str
) -> None:
    typed = FILLED | change
    answer = ava.post("/overrides/new", typed)
    page = unescape(answer.content.decode())
    assert answer.status_code == 400
    assert sentence in page
    assert 'role="alert"' in page
    if typed["reason"].strip() and "\x00" not in typed["reason"]:
        assert typed["reason"] in page
    assert not Hold.objects.exists()


def test_a_time_that_was_typed_wins_over_the_choice(ava: Client) -> None:
    ends = (timezone.now() + timedelta(days=3)).replace(second=0, microsecond=0)
    ava.post("/overrides/new", FILLED | {"until": ends.strftime("%Y-%m-%dT%H:%M")})
    assert Hold.objects.get().ends_at == ends


def test_a_freeze_comes_back_in_its_window(ava: Client) -> None:
    filled = {"kind": "freeze", "cron": "0 18 * * 5", "duration": "62h", "reason": "Weekends."}
    assert ava.post("/overrides/new", filled | {"lasts": "30d"}).status_code == 303
    hold = Hold.objects.get()
    assert hold.window == {"cron": "0 18 * * 5", "duration": "62h", "timezone": "UTC"}
    assert "0 18 * * 5" in text(ava, f"/overrides/{hold.pk}")


def test_a_freeze_may_begin_later(ava: Client) -> None:
    filled = {"kind": "freeze", "on": "domain/growth", "reason": "Fair.", "lasts": "1d"}
    begins = (timezone.now() + timedelta(days=2)).replace(second=0, microsecond=0)
    filled["starts"] = begins.strftime("%Y-%m-%dT%H:%M")
    assert ava.post("/overrides/new", filled).status_code == 303
    hold = Hold.objects.get()
    assert (hold.starts_at, hold.ends_at) == (begins, begins + timedelta(days=1))
    assert (hold.scope, hold.domain) == ("domain", "growth")


def test_somebody_who_may_not_hold_is_told_so(vic: Client) -> None:
    assert "Only operators, approvers and administrators hold anything." in text(
        vic, "/overrides/new"
    )
    answer = vic.post("/overrides/new", FILLED)
    assert answer.status_code == 403
    assert "Only an operator or an approver or an administrator" in answer.content.decode()
    assert not Hold.objects.exists()


def test_lifting_shows_first_what_it_brings_about(ava: Client, team: Clock) -> None:
    hold = override()
    agent = Resource.objects.get(kind="Agent", name=making.AGENT)
    ready = making.proposal(
        team,
        agent,
        state="approved",
        decided_by="person/ava",
        execute_before=timezone.now() + timedelta(hours=1),
    )
    page = text(ava, f"/overrides/{hold.pk}/lift")
    assert "1 approved proposal would run at once." in page
    assert f"P-{ready.pk}" in page
    assert "Put back 1,000,000" in page


@pytest.mark.parametrize(("restore", "value"), [("yes", 1_000_000), ("no", 500_000)])
def test_a_hold_is_lifted_with_a_reason(ava: Client, restore: str, value: int) -> None:
    hold = override()
    filled = {"reason": "All clear.", "restore": restore}
    answer = ava.post(f"/overrides/{hold.pk}/lift", filled)
    assert answer.status_code == 303
    hold.refresh_from_db()
    assert (hold.ended_by, hold.end_reason) == ("person/ava", "All clear.")
    agent = Resource.objects.get(kind="Agent", name=making.AGENT)
    assert agent.spec["tokenBudget"]["maxDaily"] == value
    assert "was held at 500,000" in text(ava, f"/overrides/{hold.pk}")


def test_lifting_without_a_reason_keeps_the_hold(ava: Client) -> None:
    hold = override()
    answer = ava.post(f"/overrides/{hold.pk}/lift", {"reason": ""})
    assert answer.status_code == 400
    assert "Say why." in answer.content.decode()
    assert 'aria-invalid="true"' in answer.content.decode()
    hold.refresh_from_db()
    assert hold.ended_at is None


def test_whoever_lifts_second_is_told_who_was_faster(ava: Client) -> None:
    hold = override()
    by = User.objects.get(username="ava")
    holds.lift(hold.pk, person=by, now=timezone.now(), reason="Mine.")
    answer = ava.post(f"/overrides/{hold.pk}/lift", {"reason": "Me too."})
    assert answer.status_code == 409
    assert "by person/ava: Mine." in unescape(answer.content.decode())


def test_only_those_who_may_lift_do(oz: Client) -> None:
    hold = override()
    assert "Only approvers and administrators" in text(oz, f"/overrides/{hold.pk}/lift")
    answer = oz.post(f"/overrides/{hold.pk}/lift", {"reason": "Now."})
    assert answer.status_code == 403
    hold.refresh_from_db()
    assert hold.ended_at is None


def test_a_hold_is_extended(oz: Client) -> None:
    hold = override("oz")
    assert "Extend" in text(oz, f"/overrides/{hold.pk}/renew")
    answer = oz.post(f"/overrides/{hold.pk}/renew", {"reason": "Longer.", "lasts": "30d"})
    assert answer.status_code == 303
    before = hold.ends_at or datetime.now(UTC)
    hold.refresh_from_db()
    assert hold.ends_at is not None
    assert hold.ends_at > before
    answer = oz.post(f"/overrides/{hold.pk}/renew", {"reason": "Shorter.", "lasts": "1d"})
    assert answer.status_code == 400
    assert "A renewal ends later than before." in answer.content.decode()


def test_somebody_who_may_only_look_extends_nothing(vic: Client) -> None:
    hold = override()
    answer = vic.post(f"/overrides/{hold.pk}/renew", {"reason": "Longer.", "lasts": "30d"})
    assert answer.status_code == 403


def test_parts_equal_the_pages(ava: Client) -> None:
    hold = override()
    pages = {
        "/overrides": ("holds-head", "holds-standing", "holds-signals", "holds-ended"),
        f"/overrides/{hold.pk}": (
            "hold-head",
            "hold-terms",
            "hold-flights",
            "hold-preview",
            "hold-shadows",
            "hold-story",
        ),
    }
    for address, names in pages.items():
        page = AGES.sub("", TOKEN.sub("", ava.get(address).content.decode()))
        for name in names:
            answer = ava.get(address, headers={"Live-Parts": name})
            part = AGES.sub("", TOKEN.sub("", answer.content.decode().strip()))
            assert f'id="{name}"' in part
            assert part in page


def test_the_list_costs_the_same_for_many_holds(ava: Client, team: Clock) -> None:
    override()
    statements(ava, "/overrides")
    few = statements(ava, "/overrides")
    one = statements(ava, f"/overrides/{Hold.objects.get().pk}")
    by = User.objects.get(username="ava")
    for number in range(12):
        agent = making.agent(team, f"agent-{number}")
        wanted = holds.HoldRequest("pause", "resource", "Wait.", resource=agent.pk)
        holds.place(wanted, person=by, now=timezone.now())
    assert statements(ava, "/overrides") == few
    assert few == expected("web", "overrides", few)
    assert one == expected("web", "hold", one)
