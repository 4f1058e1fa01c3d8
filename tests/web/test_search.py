"""Finding things and ways."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import people
from controllers.decisions import holds
from controllers.models import Grant, Proposal
from controllers.narrative import proposal_text
from controllers.web.find import search
from resources.tables.models import LedgerEvent, Resource
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.decisions import making
from tests.resources.making import apply, made
from tests.rows import every_row

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

PALETTE = {"HX-Request": "true"}
TYPING = {"HX-Request": "true", "HX-Target": "options"}


@pytest.fixture
def organisation(db: None, clock: Clock) -> Clock:
    """Begin with people, a controller, a few agents, and what it proposes."""
    people.ensure_administrator(clock.now)
    people.ensure_samples(clock.now)
    keeper = making.controller(clock, "agent-performance")
    assert apply(clock.now, made("Domain", "growth")).written
    for name in ("growth-optimizer", "scribe", "triage", "drafter", "curator", "tester"):
        making.proposal(clock, making.agent(clock, name), keeper)
    return clock


def hits(answer: Any) -> dict[str, list[str]]:
    """Return where each group of hits leads."""
    found = re.findall(r'<section class="hits".*?</section>', answer.content.decode(), re.DOTALL)
    names = (re.search(r"<h2[^>]*>(.*?)</h2>", each) for each in found)
    links = (re.findall(r'<a\s+class="hit"[^>]*href="([^"]*)"', each) for each in found)
    return {name[1]: hrefs for name, hrefs in zip(names, links, strict=True) if name}


def test_an_empty_search_offers_the_places_and_what_was_lately(maya: Client) -> None:
    found = hits(maya.get("/search"))

    assert {"/", "/approvals", "/audit", "/profile", "/pause"} <= set(found["Go to"])
    assert len(found["Lately"]) == 5
    assert all(address.startswith("/approvals/") for address in found["Lately"])


def test_a_name_is_found_by_its_beginning_first_and_then_by_any_part(
    maya: Client, organisation: Clock
) -> None:
    making.agent(organisation, "optimizer-two")

    found = hits(maya.get("/search?q=Optimizer"))

    assert found["Resources"] == [
        "/resources/agent/optimizer-two",
        "/resources/agent/growth-optimizer",
    ]


def test_a_kind_before_the_name_narrows_the_search(maya: Client) -> None:
    found = hits(maya.get("/search?q=domain/gro"))

    assert found["Resources"] == ["/resources/domain/growth"]


def test_controllers_have_pages_of_their_own(maya: Client) -> None:
    found = hits(maya.get("/search?q=agent-perf"))

    assert found["Controllers"] == ["/controllers/agent-performance"]
    assert "/resources/controller/agent-performance" not in str(found)


@pytest.mark.parametrize("written", ["P-{}", "p-{}", "{}", "#{}"])
def test_a_proposal_is_found_by_its_number(maya: Client, written: str) -> None:
    key = Proposal.objects.order_by("pk").values_list("pk", flat=True)[0]

    found = hits(maya.get("/search", {"q": written.format(key)}))

    assert f"/approvals/{key}" in found["Proposals"]


def test_a_proposal_is_found_by_what_it_would_do(maya: Client) -> None:
    row = Proposal.objects.select_related("resource").order_by("pk")[0]
    words = " ".join(proposal_text.title(row).split()[:2])

    found = hits(maya.get("/search", {"q": words}))

    assert f"/approvals/{row.pk}" in found["Proposals"]


def test_a_person_leads_to_what_they_did(maya: Client) -> None:
    found = hits(maya.get("/search?q=okafor"))

    assert found == {"People": ["/audit?actor=person%2Fines"]}


def test_a_story_is_found_by_the_beginning_of_its_id(maya: Client, organisation: Clock) -> None:
    story = LedgerEvent.objects.order_by("-pk").values_list("correlation_id", flat=True)[0]

    assert hits(maya.get(f"/search?q={story[:10]}"))["Stories"] == [f"/audit/trace/{story}"]


def test_what_is_deleted_is_not_found(maya: Client, organisation: Clock) -> None:
    Resource.objects.filter(name="growth-optimizer").update(deleted_at=organisation.now)

    assert "Resources" not in hits(maya.get("/search?q=growth-optimizer"))


def test_nothing_found_says_what_to_try(maya: Client) -> None:
    answer = maya.get("/search?q=<b>no such thing")

    assert "Nothing is called “&lt;b&gt;no such thing”" in answer.content.decode()


@every_row(
    "typed",
    ["\x00", "%00", "'\"%_\\", "9" * 400, "a" * 5000, "/", "agent/", "P-", "☃", "﷽" * 99, "١٢"],
    rolled_back=True,
)
def test_nothing_that_is_typed_breaks_the_search(maya: Client, typed: str) -> None:
    assert maya.get("/search", {"q": typed}).status_code == 200


def test_the_palette_is_the_search_alone_and_typing_changes_only_the_results(maya: Client) -> None:
    palette = maya.get("/search", headers=PALETTE).content.decode()
    typed = maya.get("/search?q=growth", headers=TYPING)

    assert palette.lstrip().startswith('<form class="palette"')
    assert '<form class="palette"' not in typed.content.decode()
    assert 'role="option"' in typed.content.decode()
    assert "HX-Target" in typed.headers["Vary"]


def test_who_may_not_pause_is_not_offered_to(vera: Client, maya: Client) -> None:
    assert "Go to" not in hits(vera.get("/search?q=pause+all"))
    assert hits(maya.get("/search?q=pause+all"))["Go to"] == ["/pause"]


def test_when_all_is_paused_the_way_back_is_offered(maya: Client, organisation: Clock) -> None:
    user = User.objects.get(username="maya")
    wanted = holds.HoldRequest("stop", "organisation", reason="A test.")
    holds.place(wanted, person=user, now=organisation.now)

    assert hits(maya.get("/search?q=resume"))["Go to"] == ["/resume"]
    assert "Go to" not in hits(maya.get("/search?q=pause+all"))


def test_the_keys_and_more_are_pages_and_the_keys_a_dialog(maya: Client) -> None:
    page, dialog = maya.get("/shortcuts"), maya.get("/shortcuts", headers=PALETTE)

    assert b"Single keys are on" in page.content
    assert dialog.content.startswith(b'<div class="dialog-form">')
    assert b"Sign out" in maya.get("/more").content


def test_only_those_it_lets_in_see_the_admin(maya: Client, ines: Client) -> None:
    assert b">Admin<" not in maya.get("/more").content
    assert b">Admin<" in ines.get("/more").content


@pytest.mark.parametrize(("address", "name"), [("/search?q=gro", "found"), ("/more", "more")])
def test_a_part_is_the_same_alone(maya: Client, address: str, name: str) -> None:
    alone = maya.get(address, headers={"Live-Parts": name}).content.decode().strip()

    assert alone
    assert alone in maya.get(address).content.decode()


def test_a_search_costs_the_same_whatever_there_is(maya: Client, organisation: Clock) -> None:
    statements(maya, "/search?q=gro")
    few = statements(maya, "/search?q=gro")
    for number in range(12):
        agent = making.agent(organisation, f"grower-{number}")
        making.proposal(organisation, agent)
        Grant.objects.create(
            person=User.objects.create(username=f"gro{number}"),
            role="viewer",
            granted_by="system/ioa",
            granted_at=organisation.now,
        )

    assert statements(maya, "/search?q=gro") <= few
    assert expected("web", "search", few) == few


def test_each_sort_shows_only_the_first_few(maya: Client, organisation: Clock) -> None:
    for number in range(12):
        making.agent(organisation, f"grower-{number}")

    assert len(hits(maya.get("/search?q=grower"))["Resources"]) == search.MOST
