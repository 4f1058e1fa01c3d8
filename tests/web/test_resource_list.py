"""All resources on pages that stay small: furthest off first, narrowed, sorted, exported."""

from __future__ import annotations

import csv
import io
import re
import time
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from controllers.access import people
from controllers.decisions import holds
from controllers.decisions.holds import HoldRequest
from controllers.models import Judgement
from controllers.web.base import spreadsheet
from controllers.web.resources.resource_table import shortened
from resources.tables.models import Resource
from tests.admin.counts import expected, statements
from tests.admin.pages import said
from tests.conftest import Clock
from tests.resources.making import live
from tests.rows import every_row
from tests.web.conftest import SignIn
from tests.web.many import watched

pytestmark = [pytest.mark.sqlite, pytest.mark.full]

FIRST_COLUMN = re.compile(r'<a class="nm" href="/resources/([^"]+)"')


@pytest.fixture
def viewer(db: None, clock: Clock, sign_in: SignIn) -> Client:
    """Return the browser of somebody who may only look, in an empty organisation."""
    people.ensure_samples(clock.now)
    return sign_in("vera")


def names(client: Client, address: str) -> list[str]:
    """Return the resources of one page, in their order."""
    answer = client.get(address)
    assert answer.status_code == 200
    return FIRST_COLUMN.findall(answer.content.decode())


def every_page(client: Client, address: str) -> list[list[str]]:
    """Follow the links to the next page until there is none."""
    found, seen = [], set()
    while address:
        assert address not in seen
        seen.add(address)
        body = client.get(address).content.decode()
        found.append(FIRST_COLUMN.findall(body))
        further = re.search(r'href="([^"]+)" rel="next"', body)
        address = further[1].replace("&amp;", "&") if further else ""
    return found


def still(body: str) -> str:
    """Leave out what moves with every second."""
    return re.sub(r">\d+ s ago<", "><", body)


def part_of(client: Client, address: str, name: str) -> str:
    return client.get(address, headers={"Live-Parts": name}).content.decode().strip()


def test_the_first_sentence_counts_and_what_drifts_most_comes_first(maya: Client) -> None:
    drifting = Judgement.objects.filter(drifted=True).values("resource").distinct().count()
    total = Resource.objects.count()

    page = maya.get("/resources")

    assert f"{total} resources, {drifting} are drifting" in said(page)
    body = page.content.decode()
    listed = FIRST_COLUMN.findall(body)
    assert len(listed) == 50
    assert listed[0] == "securitypolicy/finance-restricted"
    assert "agent/growth-optimizer" in listed[:drifting]
    assert "Tokens" not in listed
    assert 'href="/approvals/' in body
    assert listed[drifting:] == sorted(listed[drifting:], key=lambda each: each.split("/")[0])


def test_a_row_says_what_is_furthest_off_and_what_waits(maya: Client) -> None:
    row = next(
        each
        for each in maya.get("/resources").content.decode().split("<tr>")
        if "/growth-optimizer" in each
    )

    assert "Error rate 6.1%, wanted 2% or less" in row
    assert ">0.49<" in row
    assert 'class="bullet t-warn"' in row
    assert 'class="spark t-warn"' in row
    assert re.search(r'href="/approvals/\d+">P-\d+<', row)
    assert 'href="/resources?domain=growth"' in row


def test_a_kind_a_domain_a_name_and_a_state_narrow_the_list(maya: Client) -> None:
    agents = names(maya, "/resources?kind=agent")
    growing = names(maya, "/resources?kind=agent&domain=growth")
    named = names(maya, "/resources?q=OPTIM")
    drifting = names(maya, "/resources?show=drifting&kind=agent")

    assert len(agents) == Resource.objects.filter(kind="Agent").count()
    assert all(each.startswith("agent/") for each in agents)
    assert set(growing) < set(agents)
    assert named == ["agent/growth-optimizer"]
    assert set(drifting) == {
        f"agent/{each.resource.name}"
        for each in Judgement.objects.filter(drifted=True, resource__kind="Agent")
    }
    assert "23 agents in growth" not in said(maya.get("/resources?kind=agent&domain=growth"))
    assert "agents in growth" in said(maya.get("/resources?kind=agent&domain=growth"))


def test_what_somebody_holds_is_marked_and_can_be_listed(
    organisation: Clock, ines: Client
) -> None:
    row = live("Agent", "growth-optimizer")
    assert "Held 0" in said(ines.get("/resources"))
    user = User.objects.get(username="ines")
    wanted = HoldRequest("pause", "resource", "We look at it first.", resource=row.pk)
    holds.place(wanted, person=user, now=organisation.now)

    page = ines.get("/resources?show=held")

    assert FIRST_COLUMN.findall(page.content.decode()) == ["agent/growth-optimizer"]
    assert "Held 1" in said(page)
    assert "1 resource." in said(page)
    assert 'class="chip human"' in page.content.decode()


@pytest.mark.parametrize("sort", ["", "&sort=name", "&sort=domain"])
@pytest.mark.parametrize("narrowed", ["", "kind=agent", "show=drifting", "q=gull-0001"])
def test_pages_show_everything_once(
    viewer: Client, clock: Clock, sort: str, narrowed: str
) -> None:
    watched(clock.now, 230, every=3)

    pages = every_page(viewer, f"/resources?{narrowed}{sort}")

    found = [name for page in pages for name in page]
    matching = Resource.objects.all()
    if "kind" in narrowed:
        matching = matching.filter(kind="Agent")
    if "show" in narrowed:
        matching = matching.filter(judged__drifted=True)
    if "q=" in narrowed:
        matching = matching.filter(name__contains="gull-0001")
    assert sorted(found) == sorted(f"{each.kind.lower()}/{each.name}" for each in matching)
    assert all(len(page) == 50 for page in pages[:-1])


def test_a_page_that_ends_with_the_last_drifting_one_goes_on_with_the_others(
    viewer: Client, clock: Clock
) -> None:
    watched(clock.now, 60, every=1)
    Judgement.objects.filter(resource__name__gte="gull-000050").update(drifted=False)

    pages = every_page(viewer, "/resources")

    assert [len(page) for page in pages] == [50, 11]


def test_the_furthest_past_its_limit_comes_first(viewer: Client, clock: Clock) -> None:
    watched(clock.now, 100, every=5)

    found = names(viewer, "/resources?show=drifting")

    scores = dict(Judgement.objects.values_list("resource__name", "score"))
    ordered = [scores[each.partition("/")[2]] or 0 for each in found]
    assert ordered == sorted(ordered, reverse=True)


def test_names_and_domains_are_in_order(viewer: Client, clock: Clock) -> None:
    watched(clock.now, 40)

    by_name = [each.partition("/")[2] for each in names(viewer, "/resources?sort=name")]
    by_domain = [
        live(each.partition("/")[0].title(), each.partition("/")[2]).domain
        for each in names(viewer, "/resources?sort=domain")
    ]

    assert by_name == sorted(by_name)
    assert by_domain == sorted(by_domain)


@every_row(
    "query",
    [
        "page=abc",
        "kind=nonsense&show=x&sort=y",
        "q=%00",
        "domain=%00&q=" + "x" * 5_000,
        "after=drift/abc/def",
        "after=drift/nan/1",
        "after=drift/0.1/" + "9" * 400,
        "after=then/%00/%00",
        "after=/",
        "sort=name&after=name/%00",
        "sort=domain&after=domain/Agent/" + "9" * 400 + "/x",
        "sort=domain&after=domain/Agent/%D9%A1/x",
        "after=%F0%9F%92%A5",
    ],
    rolled_back=True,
)
def test_an_address_that_means_nothing_is_not_an_error(
    viewer: Client, clock: Clock, query: str
) -> None:
    watched(clock.now, 3)

    assert viewer.get(f"/resources?{query}").status_code == 200
    assert b"".join(viewer.get(f"/resources.csv?{query}")).startswith(b"Kind,")


def test_an_empty_organisation_is_told_how_to_start(viewer: Client) -> None:
    page = viewer.get("/resources")

    assert "0 resources" in said(page)
    assert "Nothing is declared yet" in said(page)
    assert 'href="/welcome"' in page.content.decode()


def test_a_search_without_a_result_leads_back(viewer: Client, clock: Clock) -> None:
    watched(clock.now, 3)

    page = viewer.get("/resources?q=albatross")

    assert "Nothing matches" in said(page)
    assert "Show all resources" in said(page)
    assert 'value="albatross"' in page.content.decode()


def test_what_was_typed_and_chosen_stays(viewer: Client, clock: Clock) -> None:
    watched(clock.now, 3)

    body = viewer.get('/resources?q="><b>&kind=agent').content.decode()

    assert 'value="&quot;&gt;&lt;b&gt;"' in body
    assert '<input type="hidden" name="kind" value="agent">' in body


def test_only_those_who_may_declare_are_offered_to(maya: Client, ines: Client) -> None:
    assert "Apply YAML" not in said(maya.get("/resources"))
    assert "Apply YAML" in said(ines.get("/resources"))


def test_a_part_alone_is_the_same_as_in_the_page(maya: Client) -> None:
    for address in ("/resources", "/resources?kind=agent&show=drifting"):
        whole = still(maya.get(address).content.decode())
        for name in ("summary", "list-actions", "picks", "rows"):
            alone = still(part_of(maya, address, name))

            assert alone.startswith("<")
            assert alone in whole


def test_the_file_holds_the_same_as_the_list(maya: Client) -> None:
    answer = maya.get("/resources.csv?kind=agent&show=drifting")

    rows = list(csv.DictReader(io.StringIO(b"".join(answer).decode())))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="resources.csv"'
    listed = names(maya, "/resources?kind=agent&show=drifting")
    assert [f"agent/{each['Name']}" for each in rows] == listed
    first = next(each for each in rows if each["Name"] == "growth-optimizer")
    assert first["Drift"] == "0.4876"
    assert first["State"] == "Drifting"
    assert first["Controller"] == "agent-performance"
    assert first["Open proposals"] == "1"


def test_the_file_holds_every_page(viewer: Client, clock: Clock) -> None:
    watched(clock.now, 1_203)

    rows = b"".join(viewer.get("/resources.csv")).decode().splitlines()

    assert len(rows) == 1 + Resource.objects.count()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_no_cell_is_taken_for_a_formula(text: str) -> None:
    (cell,) = next(csv.reader(io.StringIO(spreadsheet.rows([[text]]).text)))

    assert cell.startswith("'")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            "2 of 4 objectives miss their target: errorRate is 0.06 (wanted <= 0.02 ratio) and "
            "avgLatency is 312 (wanted <= 60 s); Ready is False (It sleeps).",
            "Error rate 6%, wanted 2% or less",
        ),
        ("Ready is False (It sleeps, and snores); x is 1.", "It sleeps, and snores"),
        ("monthly tokens: 85 used of 50 tokens; more.", "monthly tokens: 85 used of 50 tokens"),
        ("word " * 40, "word word word word word word word word word word word word…"),
        ("", "DriftDetected"),
    ],
)
def test_what_is_furthest_off_is_said_in_a_few_words(message: str, words: str) -> None:
    gauge: Any = type("G", (), {"status": "False", "message": message, "reason": "DriftDetected"})

    assert shortened(gauge) == words


def test_the_list_takes_the_same_statements_whatever_there_is(
    viewer: Client, clock: Clock
) -> None:
    watched(clock.now, 60)
    viewer.get("/resources")
    few = statements(viewer, "/resources")

    watched(clock.now, 2_000, every=100, first=60)
    many = statements(viewer, "/resources")

    assert many == few
    assert many == expected("web", "resources", many)


def test_no_statement_of_the_list_sorts_whole_documents(viewer: Client, clock: Clock) -> None:
    watched(clock.now, 2_000)

    with CaptureQueriesContext(connection) as queries:
        viewer.get("/resources")
        viewer.get("/resources?sort=domain")
        viewer.get("/resources?sort=name&kind=agent")

    listed = [each["sql"] for each in queries if "resources_resource" in each["sql"]]
    ordered = [each for each in listed if "ORDER BY" in each and "LIMIT" in each]
    assert ordered
    assert not [each for each in ordered if '"resources_resource"."spec"' in each]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_list_of_a_hundred_thousand_stays_quick_and_small(viewer: Client, clock: Clock) -> None:
    watched(clock.now, 100_000)
    addresses = ["", "?kind=agent", "?show=drifting", "?sort=name", "?sort=domain", "?q=gull-0999"]

    viewer.get("/resources")
    taken = {}
    for address in addresses:
        begun = time.perf_counter()
        answer = viewer.get(f"/resources{address}")
        taken[address] = time.perf_counter() - begun
        assert len(answer.content) < 250_000

    assert max(taken.values()) < 3, taken
    # A page that is full of what drifted asks for nothing more.
    counted = statements(viewer, "/resources")
    assert counted <= (expected("web", "resources", counted) or 0)
