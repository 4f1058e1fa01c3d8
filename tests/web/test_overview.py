"""The first page: what needs somebody, how the organisation drifts, how the machinery runs."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from controllers.access import people
from controllers.decisions import answers, escalation, holds
from controllers.decisions.proposals import SeenRevision
from controllers.models import Judgement, Proposal
from controllers.narrative import drift_queries
from controllers.web.base.page import PageRequest
from controllers.web.overview import figures
from controllers.web.overview.overview_page import Overview, shortened
from resources.documents.actor import SYSTEM, Actor
from resources.tables.models import LedgerEvent
from resources.usecases import specs, statuses
from resources.usecases.statuses import Report
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.web.conftest import SignIn, look

pytestmark = pytest.mark.sqlite

PARTS = ("headline", "guide", "stats", "needs-you", "drift", "loops", "feed")


def text_of(answer: object) -> str:
    """Return what a page says, without its tags."""
    content = answer.content.decode()  # type: ignore[attr-defined]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", content)))


def without_secrets(content: bytes) -> str:
    """Return a page without what differs from request to request: tokens, and ages in words."""
    text = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", content.decode())
    return re.sub(r"(<time[^>]*>)[^<]*", r"\1", text)


def test_the_first_sentence_says_what_needs_the_person_and_what_drifts(
    maya: Client, vera: Client
) -> None:
    assert "7 decisions need you. Growth and support are drifting." in text_of(maya.get("/"))
    assert "Nothing needs you. Growth and support are drifting." in text_of(vera.get("/"))


def test_the_lede_counts_what_drifts(maya: Client) -> None:
    drifted = Judgement.objects.filter(drifted=True, resource__kind="Agent").count()

    assert f"Drifting: 2 of 6 domains and {drifted} of 23 agents." in text_of(maya.get("/"))


def test_what_ends_first_is_first_and_each_can_be_reviewed(maya: Client) -> None:
    content = maya.get("/").content.decode()
    shown = [int(key) for key in re.findall(r'id="need-(\d+)"', content)]
    soonest = Proposal.objects.order_by("expires_at", "pk").values_list("pk", flat=True)[:3]

    assert shown == list(soonest)
    assert all(f'href="{reverse("proposal", args=[key])}"' in content for key in shown)
    assert "4 more wait for you" in text_of(maya.get("/"))


def test_only_what_is_simple_can_be_approved_from_here(maya: Client) -> None:
    first, second, third = Proposal.objects.order_by("expires_at", "pk")[:3]
    Proposal.objects.filter(pk=first.pk).update(risk="high")
    Proposal.objects.filter(pk=second.pk).update(people=2)

    content = maya.get("/").content.decode()

    assert f'id="approve-{first.pk}-' not in content
    assert f'id="approve-{second.pk}-' not in content
    assert f'id="approve-{third.pk}-{third.revision}"' in content
    assert third.tag in content


def test_approving_from_here_is_recorded_and_comes_back_here(maya: Client) -> None:
    page = " ".join(maya.get("/").content.decode().split())
    form = page.split('<form method="post" action="/approvals/')[1]
    key = int(form.split("/")[0])
    given = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form.split("</form>")[0]))

    answer = maya.post(f"/approvals/{key}/decide", given, follow=True)

    assert answer.redirect_chain == [("/", 303)]
    assert Proposal.objects.get(pk=key).state == "approved"
    assert "6 decisions need you." in text_of(answer)
    assert f"P-{key} : Approved." in text_of(answer)


def test_somebody_who_may_not_decide_sees_no_button_for_it(vera: Client) -> None:
    page = vera.get("/")

    assert b'value="approve"' not in page.content
    assert "Nothing needs you 7 proposals wait for other people." in text_of(page)


def test_the_drift_of_the_organisation_is_the_mean_of_its_measured_domains(maya: Client) -> None:
    scores = Judgement.objects.filter(resource__kind="Domain").values_list("score", flat=True)
    mean = sum(score or 0 for score in scores) / len(scores)

    page = maya.get("/")

    assert f"Organisation drift {mean:.2f}" in text_of(page)
    assert b"Mean of the 6 domains measured" in page.content


def test_every_domain_is_shown_with_its_score_and_its_first_reason(maya: Client) -> None:
    said = text_of(maya.get("/", headers={"Live-Parts": "drift"}))

    assert "growth , drifting 0.27 Monthly churn 6.1%, wanted under 5%" in said
    assert said.index("growth") < said.index("support") < said.index("platform")
    assert "platform , on target 0.06" in said


def test_what_was_decided_and_done_today_is_counted(organisation: Clock, maya: Client) -> None:
    person = User.objects.get(username="maya")
    first, second = Proposal.objects.filter(risk="low", resource__kind="Agent").order_by("pk")[:2]
    answers.approve(first.pk, person=person, seen=seen(first), now=organisation.now)
    answers.reject(
        second.pk, person=person, seen=seen(second), now=organisation.now, reason="Not now."
    )
    organisation.now += timedelta(seconds=20)
    look(organisation)

    said = text_of(maya.get("/", headers={"Live-Parts": "stats"}))

    assert "Decided today 2 1 approved, 1 rejected" in said
    assert "Actions run today 1 1 worked" in said
    assert "Waiting for you 5 of 5 open" in said


def seen(proposal: Proposal) -> SeenRevision:
    """Return what somebody has seen of a proposal."""
    return SeenRevision(proposal.revision, proposal.action_digest)


def test_nothing_of_yesterday_counts_as_today(organisation: Clock, maya: Client) -> None:
    Proposal.objects.filter(pk=Proposal.objects.earliest("pk").pk).update(
        answer="approve",
        decided_by="person/maya",
        decided_at=organisation.now - timedelta(days=2),
        changed_at=organisation.now,
    )

    assert figures.decided(organisation.now).total == 0


def test_controllers_are_shown_with_mode_cycles_and_the_next_look(maya: Client) -> None:
    said = text_of(maya.get("/", headers={"Live-Parts": "loops"}))

    assert "agent-performance 23 agents Warn" in said
    assert "budget-guardian 6 budgets Enforce" in said
    assert said.count("Ready") == 6
    assert "in 4 min" in said


def test_the_feed_tells_what_matters_and_leaves_out_what_is_usual(
    organisation: Clock, maya: Client
) -> None:
    report = Report("Agent", "event-loader", {"avgLatency": "39.0s"})
    statuses.observe([report], actor=Actor("agent", "event-loader"), now=organisation.now)

    said = text_of(maya.get("/", headers={"Live-Parts": "feed"}))

    assert "found growth drifting" in said
    assert "asks: Throttle" in said
    assert "event-loader" not in said
    assert "ended" not in said


def test_the_feed_tells_of_an_escalation_only_when_nobody_answered(
    organisation: Clock, maya: Client
) -> None:
    escalation.sweep(organisation.now)
    first = text_of(maya.get("/", headers={"Live-Parts": "feed"}))
    escalation.sweep(organisation.now + timedelta(days=1))
    later = text_of(maya.get("/", headers={"Live-Parts": "feed"}))

    assert LedgerEvent.objects.filter(event="proposal.escalated").exists()
    assert "waits" not in first
    assert "waits" in later


@pytest.mark.parametrize("name", PARTS)
def test_a_part_alone_is_what_it_is_in_the_page(maya: Client, name: str) -> None:
    whole = without_secrets(maya.get("/").content)

    alone = without_secrets(maya.get("/", headers={"Live-Parts": name}).content)

    assert f'id="{name}"' in alone
    assert alone.strip() in whole


def test_shared_parts_ask_nobody_who_looks(organisation: Clock) -> None:
    page = Overview(PageRequest("/", QueryDict(), organisation.now))

    for name, part in page.pieces().items():
        if part.shared:
            assert f'id="{name}"' in page.render_part(name)


@pytest.mark.usefixtures("transactional_db")
def test_an_empty_organisation_begins_on_the_welcome_page(sign_in: SignIn, clock: Clock) -> None:
    people.ensure_administrator(clock.now)

    answer = sign_in("admin").get("/")

    assert (answer.status_code, answer.headers["Location"]) == (302, "/welcome")


@pytest.mark.usefixtures("transactional_db")
def test_an_organisation_without_controllers_is_shown_too(sign_in: SignIn, clock: Clock) -> None:
    people.ensure_administrator(clock.now)
    domain = {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Domain",
        "metadata": {"name": "lonely"},
        "spec": {"purpose": "To be alone"},
    }
    specs.apply([specs.DesiredDocument(domain)], actor=SYSTEM, now=clock.now)

    said = text_of(sign_in("admin").get("/"))

    assert "Nothing needs you." in said
    assert "No domain is measured yet" in said
    assert "No controller runs yet" in said


def test_overrides_are_counted_with_the_next_to_end(organisation: Clock, maya: Client) -> None:
    ends = organisation.now + timedelta(hours=3, minutes=18, seconds=50)
    pause = holds.HoldRequest("pause", "domain", "We count stock.", domain="growth", ends_at=ends)
    person = User.objects.get(username="maya")
    holds.place(pause, now=organisation.now, person=person)

    said = text_of(maya.get("/", headers={"Live-Parts": "stats"}))

    assert "Human overrides 1 next one ends in 3 h 18 min" in said


def test_the_page_takes_a_known_number_of_statements(maya: Client) -> None:
    maya.get("/")
    seen_now = statements(maya, "/")

    assert expected("web", "overview", seen_now) == seen_now


def test_more_rows_take_no_more_statements(organisation: Clock, maya: Client) -> None:
    maya.get("/")
    before = statements(maya, "/")
    again = list(Proposal.objects.select_related("resource"))
    for copy in again:
        copy.pk, copy.uid = None, uuid4()
        copy.action_digest = f"{copy.action_digest[:50]}copy"
    Proposal.objects.bulk_create(again)

    assert Proposal.objects.count() == 14
    assert statements(maya, "/") <= before


@pytest.mark.parametrize(
    ("series", "wanted"),
    [
        ([], []),
        ([[0.2, 0.4]], [0.2, 0.4]),
        ([[0.2, 0.4], [0.6]], [0.2, 0.5]),
        ([[], [0.1]], [0.1]),
    ],
)
def test_the_mean_over_time_counts_those_that_were_known_then(
    series: list[list[float]], wanted: list[float]
) -> None:
    assert figures.means(series) == pytest.approx(wanted)


def test_the_change_is_told_only_where_it_can_be_seen() -> None:
    def drift_of(*trend: float) -> str:
        return figures.OrganisationDrift(trend[-1], 1, trend, 0.15).direction

    assert [drift_of(0.1, 0.1), drift_of(0.1, 0.13), drift_of(0.2, 0.1)] == ["same", "up", "down"]


def test_nothing_measured_is_no_drift() -> None:
    assert figures.organisation([], {}) is None
    assert drift_queries.word(None, 0.15) == "Not measured"


def test_a_long_reason_is_cut_to_its_first_clause() -> None:
    assert shortened("One thing; another.") == "One thing"
    assert len(shortened("word " * 60)) <= 120
