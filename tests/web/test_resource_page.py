"""One resource on one page: how far off it is, what people hold, what waits, what was."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.access import people
from controllers.decisions import answers, holds, proposals
from controllers.decisions.holds import HoldRequest
from controllers.models import DriftSample, Proposal
from controllers.narrative.drift_queries import Gauge
from controllers.web.base.page import PageRequest
from controllers.web.resources.resource_drift import History
from controllers.web.resources.resource_page import TABS, ResourcePage
from controllers.web.resources.resource_parts import SHOWN
from controllers.web.resources.spec_and_status import Held, changed, everything
from resources.documents.kind import Document
from resources.tables.ledger import instant
from resources.usecases import deletion
from tests.admin.counts import expected, statements
from tests.admin.pages import said
from tests.conftest import Clock
from tests.resources.making import ALICE, apply, live, made
from tests.web.conftest import SignIn, look

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

OPTIMIZER = "/resources/agent/growth-optimizer"


def still(body: str) -> str:
    """Leave out what moves with every second, and the tokens of forms."""
    body = re.sub(r"csrfmiddlewaretoken\" value=\"\w+\"", "", body)
    body = re.sub(r'(<path|<rect|<time)[^>]*>|aria-label="Drift in[^"]*"', "", body)
    return re.sub(r"\d+ s ago|\d\d:\d\d", "", body)


def part_of(client: Client, address: str, name: str) -> str:
    return client.get(address, headers={"Live-Parts": name}).content.decode().strip()


def hold(clock: Clock, username: str, **wanted: Any) -> holds.Placed:
    """Let somebody hold the optimizer."""
    row = live("Agent", "growth-optimizer")
    person = User.objects.get(username=username)
    return holds.place(HoldRequest(resource=row.pk, **wanted), person=person, now=clock.now)


def test_the_page_tells_how_far_off_it_is_and_why(maya: Client) -> None:
    page = maya.get(OPTIMIZER)
    words = said(page)

    assert "Agent Domain growth Drifting 0.49" in words
    assert "Drift, last hour" in words
    assert "above the limit of 0.20 of agent-performance" in words
    assert "errorRate: 2% or less errorRate: 6.1%" in words
    assert "Watched by agent-performance" in words
    assert "Model meridian-pro, 2026-08-20" in words
    assert "agent-performance found growth-optimizer drifting" in words
    assert 'aria-label="Drift in the last hour: from 0.49 to 0.49' in page.content.decode()


def test_what_waits_is_offered_to_those_who_may_decide(maya: Client, vera: Client) -> None:
    mine, theirs = (part_of(each, OPTIMIZER, "open-proposals") for each in (maya, vera))

    assert "Open proposal" in mine
    assert ">Decide<" in mine
    assert "Decide" not in theirs
    assert ">Read it<" in theirs


@pytest.mark.parametrize(
    ("username", "offered"),
    [
        ("vera", []),
        ("maya", ["Override"]),
        ("ines", ["Edit spec", "Override", "Check now"]),
    ],
)
def test_people_are_offered_only_what_they_may_do(
    organisation: Clock, sign_in: SignIn, username: str, offered: list[str]
) -> None:
    buttons = part_of(sign_in(username), OPTIMIZER, "actions")

    found = [each for each in ("Edit spec", "Override", "Check now") if each in buttons]
    assert found == offered


def test_a_check_asks_the_controller_that_watches_it(ines: Client, vera: Client) -> None:
    buttons = part_of(ines, OPTIMIZER, "actions")

    assert 'method="post" action="/controllers/agent-performance/run"' in buttons
    assert "csrfmiddlewaretoken" in buttons
    assert 'href="/overrides/new?resource=agent/growth-optimizer"' in buttons


def test_a_value_that_somebody_holds_is_shown_with_who_and_until_when(
    organisation: Clock, maya: Client, vera: Client
) -> None:
    before = live("Agent", "growth-optimizer").spec["tokenBudget"]["maxDaily"]
    placed = hold(
        organisation,
        "maya",
        kind="override",
        scope="field",
        path="spec.tokenBudget.maxDaily",
        value=60_000,
        reason="Keep it small for now.",
    )

    mine, theirs = maya.get(OPTIMIZER), vera.get(OPTIMIZER)

    told = f"Maya Chen holds tokenBudget.maxDaily at 60,000 ( {before:,} before)"
    assert told.replace("( ", "(") in said(mine)
    assert "“Keep it small for now.”" in said(mine)
    assert "tokenBudget.maxDaily: 60,000 # held by Maya Chen" in said(mine)
    assert f'href="/overrides/{placed.hold.pk}/renew" data-act="dialog"' in mine.content.decode()
    assert f'href="/overrides/{placed.hold.pk}/lift" data-act="dialog"' in mine.content.decode()
    assert "Lift now" not in said(theirs)
    assert "Extend" not in said(theirs)
    assert "Maya Chen holds" in said(theirs)
    held = maya.get(OPTIMIZER, {"view": "all"}).content.decode()
    assert '<p class="held">  maxDaily: 60000</p>' in held


def test_an_operator_may_extend_a_hold_but_not_lift_it(organisation: Clock, ines: Client) -> None:
    hold(organisation, "ines", kind="pause", scope="resource", reason="We look first.")

    banner = " ".join(part_of(ines, OPTIMIZER, "holds").split())

    assert "Ines Okafor</b> paused this" in banner
    assert "Extend" in banner
    assert "Lift now" not in banner


def test_a_hold_of_its_domain_and_of_everything_is_shown_too(
    organisation: Clock, maya: Client
) -> None:
    person = User.objects.get(username="maya")
    soon = organisation.now + timedelta(hours=2)
    for wanted in (
        HoldRequest("freeze", "domain", "Release week.", domain="growth", ends_at=soon),
        HoldRequest("stop", "organisation", "Something is wrong.", ends_at=soon),
    ):
        holds.place(wanted, person=person, now=organisation.now)

    words = said(maya.get(OPTIMIZER))

    assert "Maya Chen froze growth until" in words
    assert "Maya Chen stopped everything until" in words
    assert "froze growth" not in said(maya.get("/resources/domain/support"))


def test_decisions_and_actions_are_marked_on_the_line(organisation: Clock, maya: Client) -> None:
    proposal = Proposal.objects.get(resource__name="growth-optimizer")
    person = User.objects.get(username="maya")
    organisation.now = timezone.now()
    answers.approve(
        proposal.pk,
        person=person,
        now=organisation.now,
        reason="Go.",
        seen=proposals.SeenRevision(proposal.revision, proposal.action_digest),
    )
    look(organisation)

    plot = part_of(maya, OPTIMIZER, "drift-history")

    assert "mark m-proposal" in plot
    assert "mark m-human" in plot


def test_every_tab_shows_its_own_part_and_parts_alone_are_the_same(
    organisation: Clock, maya: Client
) -> None:
    hold(organisation, "maya", kind="pause", scope="resource", reason="We look first.")
    for tab in TABS:
        address = f"{OPTIMIZER}?tab={tab}"
        whole = still(maya.get(address).content.decode())
        for name in ("title", "actions", "holds", "views", *SHOWN[tab]):
            alone = still(part_of(maya, address, name))

            assert f'id="{name}"' in alone
            assert alone in whole, (tab, name)


def test_shared_parts_ask_nobody_who_looks(organisation: Clock, maya: Client) -> None:
    for tab in TABS:
        address = f"{OPTIMIZER}?tab={tab}"
        answer = maya.get(address)
        asked = PageRequest(OPTIMIZER, answer.wsgi_request.GET, timezone.now())
        page = ResourcePage(asked, "agent", "growth-optimizer")
        for name, piece in page.pieces().items():
            if piece.shared:
                page.render_part(name)


def test_parts_are_about_this_resource(organisation: Clock) -> None:
    look_at = PageRequest(OPTIMIZER, Client().get("/sign-in/").wsgi_request.GET, timezone.now())

    pieces = ResourcePage(look_at, "agent", "growth-optimizer").pieces()

    about = {name: each.topics for name, each in pieces.items() if name in SHOWN["overview"]}
    assert all("agent/growth-optimizer" in topics for topics in about.values())
    assert about["conditions"] == {"agent/growth-optimizer"}


def test_the_proposals_and_entries_of_a_resource_are_paged(
    organisation: Clock, maya: Client
) -> None:
    first = maya.get(f"{OPTIMIZER}?tab=audit").content.decode()
    entries = [int(each) for each in re.findall(r'soft not-m">(\d+)<', first)]

    assert entries == sorted(entries, reverse=True)
    assert "proposal.created" in first
    assert "resource.created" in first
    older = maya.get(f"{OPTIMIZER}?tab=audit&before={entries[0]}").content.decode()
    assert [int(each) for each in re.findall(r'soft not-m">(\d+)<', older)] == entries[1:]
    assert re.search(r"P-\d+", said(maya.get(f"{OPTIMIZER}?tab=proposals")))
    assert "Nothing was proposed before that" in said(
        maya.get(f"{OPTIMIZER}?tab=proposals&before=1")
    )


@pytest.mark.parametrize(
    "query",
    ["tab=x&span=y&view=z", "before=abc&tab=audit", "tab=audit&before=" + "9" * 400, "span=%00"],
)
def test_an_address_that_means_nothing_is_not_an_error(
    harbour: None, viewer: Client, query: str
) -> None:
    assert viewer.get(f"/resources/agent/robin?{query}").status_code == 200


@pytest.fixture
def viewer(db: None, clock: Clock, sign_in: SignIn) -> Client:
    """Return the browser of somebody who may only look."""
    people.ensure_samples(clock.now)
    return sign_in("vera")


@pytest.fixture
def harbour(db: None, clock: Clock) -> None:
    """Put a domain and an agent into the store."""
    clock.now -= timedelta(hours=2)
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))


def test_a_resource_that_nobody_measures_says_so(harbour: None, viewer: Client) -> None:
    words = said(viewer.get("/resources/agent/robin"))

    assert "Not measured" in words
    assert "No controller measures it." in words
    assert "Nobody compares it." in words
    assert "Nothing is proposed now." in words


def test_a_time_without_a_zone_from_the_form_is_read_as_utc(
    harbour: None, viewer: Client, clock: Clock
) -> None:
    then = f"{clock.now + timedelta(seconds=1):%Y-%m-%dT%H:%M:%S}"
    apply(clock.advance(minutes=10), made("Agent", "robin", {"purpose": "Paint hulls."}))

    page = viewer.get("/resources/agent/robin", {"utc": then})

    assert page.status_code == 200
    assert "purpose: Plan berths." in said(page)
    assert f'value="{then}"' in page.content.decode()
    assert viewer.get("/resources/agent/robin", {"utc": "soon"}).status_code == 400


def test_the_steps_lead_from_change_to_change(harbour: None, viewer: Client, clock: Clock) -> None:
    made_at = clock.now
    for minutes in (10, 20):
        changed_at = clock.advance(minutes=10)
        apply(changed_at, made("Agent", "robin", {"purpose": f"After {minutes} minutes."}))

    now = viewer.get("/resources/agent/robin").content.decode()
    between = viewer.get(
        "/resources/agent/robin", {"at": instant(made_at + timedelta(minutes=10))}
    ).content.decode()

    assert links_to(now) == [made_at + timedelta(minutes=10)]
    assert links_to(between) == [made_at, made_at + timedelta(minutes=20)]


def links_to(body: str) -> list[datetime]:
    """Return the times that a page leads to."""
    found = re.findall(r'class="btn sm" href="[^"]*\?at=([^"]+)"', body)
    return [datetime.fromisoformat(each.replace("%3A", ":")) for each in found]


def test_the_past_has_no_parts_that_change(harbour: None, viewer: Client, clock: Clock) -> None:
    page = viewer.get(
        "/resources/agent/robin",
        {"at": instant(clock.now)},
        headers={"Live-Parts": "title,sides,conditions"},
    )

    assert page.content == b""


def test_a_resource_that_is_deleted_meanwhile_is_not_found(
    harbour: None, viewer: Client, clock: Clock
) -> None:
    deletion.delete("Agent", "robin", actor=ALICE, now=clock.advance(minutes=1))

    assert viewer.get("/resources/agent/robin").status_code == 404
    parts = viewer.get("/resources/agent/robin", headers={"Live-Parts": "title"})
    assert parts.status_code == 404


def sampled(clock: Clock, *ago: tuple[timedelta, float]) -> Gauge:
    """Keep some points of robin's drift; return its gauge."""
    apply(clock.now, made("Controller", "keeper", {"targetKind": "Agent"}))
    keeper, robin = live("Controller", "keeper"), live("Agent", "robin")
    for before, score in ago:
        DriftSample.objects.create(
            controller=keeper, resource=robin, at=clock.now - before, score=score, drifted=False
        )
    return Gauge(
        robin.pk, "Agent", "robin", "harbour", keeper.pk, "keeper", 0.3, 0.2, "", "", "", {}
    )


@pytest.mark.parametrize(
    ("age", "chosen"),
    [
        (timedelta(minutes=5), "1h"),
        (timedelta(hours=3), "24h"),
        (timedelta(days=3), "14d"),
        (timedelta(days=40), "90d"),
        (timedelta(days=400), "90d"),
    ],
)
def test_the_plot_looks_back_as_far_as_there_is_something_to_see(
    harbour: None, clock: Clock, age: timedelta, chosen: str
) -> None:
    history = History(sampled(clock, (age, 0.3)), "", clock.now)

    assert history.name == chosen
    assert History(history.gauge, "24h", clock.now).name == "24h"


def test_the_line_begins_where_the_first_point_is_and_ends_now(
    harbour: None, clock: Clock
) -> None:
    gauge = sampled(clock, (timedelta(minutes=30), 0.1), (timedelta(minutes=10), 0.7))

    history = History(gauge, "1h", clock.now)

    assert 0.49 < history.points[0][0] < 0.52
    assert history.points[0][1] == 0.1
    assert history.points[-1] == (1.0, 0.7)
    assert history.top == 0.9
    assert history.sentence.startswith("Drift in the last hour: from 0.10 to 0.70")


def test_what_differs_stands_side_by_side() -> None:
    evidence: list[Document] = [
        {
            "dimension": "kpi",
            "subject": "kpi/errorRate",
            "verdict": "missed",
            "desired": "<= 0.02 ratio",
            "observed": 0.061,
        },
        {"dimension": "kpi", "subject": "kpi/fine", "verdict": "met"},
        {
            "dimension": "field",
            "subject": "field/spec.model.name",
            "verdict": "missed",
            "desired": "swift",
        },
    ]

    sides = changed(evidence, [Held("spec.tokenBudget.maxDaily", 5, None, "Maya Chen")])

    assert [(left.text, right.text) for left, right in sides.pairs] == [
        ("held:", "held:"),
        ("tokenBudget.maxDaily: 5  # held by Maya Chen", "# null before"),
        ("targets:", "targets:"),
        ("errorRate: 2% or less", "errorRate: 6.1%"),
        ("fields:", "fields:"),
        ("model.name: swift", "model.name: not reported"),
    ]


def test_all_lines_that_speak_of_what_is_off_stand_out() -> None:
    spec = {
        "objectives": [{"name": "errorRate", "value": 1}, {"name": "fine", "value": 2}],
        "model": {"name": "swift"},
        "tokenBudget": {"maxDaily": 5},
    }
    status = {"errorRate": 2, "model": {"name": "slow"}, "fine": 2}
    evidence = [
        {"dimension": "kpi", "subject": "kpi/errorRate", "verdict": "missed"},
        {"dimension": "field", "subject": "field/spec.model.name", "verdict": "missed"},
    ]

    sides = everything(spec, status, evidence, [Held("spec.tokenBudget.maxDaily", 5, 4, "Maya")])

    assert [each for each in sides.desired if each.tone] == [
        ("- name: errorRate", "want"),
        ("  value: 1", "want"),
        ("  name: swift", "want"),
        ("  maxDaily: 5", "held"),
    ]
    assert [each.text for each in sides.actual if each.tone] == ["errorRate: 2", "  name: slow"]


@pytest.mark.parametrize("tab", list(TABS))
def test_a_page_takes_the_same_statements_whatever_there_is(
    harbour: None, viewer: Client, clock: Clock, tab: str
) -> None:
    address = f"/resources/agent/robin?tab={tab}"
    grow(clock, 0, 2)
    viewer.get(address)
    few = statements(viewer, address)

    grow(clock, 2, 12)
    many = statements(viewer, address)

    assert many == few
    assert many == expected("web", f"resource {tab}", many)


def grow(clock: Clock, first: int, last: int) -> None:
    """Add resources that name robin, and changes of it."""
    for number in range(first, last):
        spec = {"governance": {"escalatesTo": "robin"}}
        apply(clock.advance(seconds=1), made("Agent", f"gull-{number}", spec))
        apply(clock.advance(seconds=1), made("Agent", "robin", {"purpose": f"Berth {number}."}))
