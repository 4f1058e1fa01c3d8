"""The audit log: what happened, filtered, proved and taken along."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import AsyncClient, Client
from django.utils import timezone

from controllers.access import people
from controllers.decisions import holds
from controllers.web.audit import audit_filters, ledger_check
from resources.documents.actor import SYSTEM, Actor
from resources.store import evidence
from resources.tables import ledger
from resources.tables.models import LedgerEvent, Resource
from tests.admin.counts import expected, statements
from tests.conftest import Clock, given, unprotected_ledger
from tests.rows import every_row

pytestmark = pytest.mark.sqlite

ROW = re.compile(r'<tr id="entry-(\d+)">')


@pytest.fixture
def ada(db: None) -> Client:
    """Return the browser of somebody who reads a log that others wrote."""
    write(60)
    return reader()


def reader() -> Client:
    """Sign somebody in who may only read."""
    client = Client()
    ada = given(User.objects.create(username="ada", first_name="Ada"), "viewer")
    client.force_login(ada)
    return client


def shown(client: Client, address: str) -> list[int]:
    """Return the numbers of the entries that a page shows."""
    answer = client.get(address)
    assert answer.status_code == 200
    return [int(each) for each in ROW.findall(answer.content.decode())]


def text(client: Client, address: str) -> str:
    """Return a page."""
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def write(count: int, event: str = "resource.created", severity: str = "info") -> None:
    """Add entries to the log."""
    entries = [
        ledger.Entry(f"resource/many-{number % 7}", event, "agent/many", severity=severity)
        for number in range(count)
    ]
    with transaction.atomic():
        ledger.append(entries, actor=SYSTEM, now=timezone.now())


def paused(client: Client, reason: str = "Something is off.") -> None:
    """Let somebody pause everything."""
    assert client.post("/pause", {"reason": reason, "lasts": "open"}).status_code == 303


def test_the_log_shows_the_newest_entries_first_in_words(maya: Client) -> None:
    numbers = shown(maya, "/audit")
    newest = LedgerEvent.objects.order_by("-id").values_list("id", flat=True)
    assert numbers == list(newest[:50])
    page = text(maya, "/audit")
    assert "Ended cycle 1 in" in page
    assert "controller.reconciliation-completed" in page


def test_older_entries_follow_without_a_gap(ada: Client) -> None:
    write(60)
    first = shown(ada, "/audit")
    older = re.search(r'href="/audit\?(before=\d+)">Older', text(ada, "/audit"))
    assert older is not None
    second = shown(ada, f"/audit?{older[1]}")
    newest = LedgerEvent.objects.order_by("-id").values_list("id", flat=True)
    assert first + second == list(newest[:100])
    assert "Back to the newest" in text(ada, f"/audit?{older[1]}")


def test_an_older_page_does_not_move_while_somebody_reads_it(ada: Client) -> None:
    before = LedgerEvent.objects.order_by("-id")[10].pk
    answer = ada.get(f"/audit?before={before}", headers={"Live-Parts": "audit-rows"})
    assert answer.content == b""


def test_what_people_did_is_one_click_away(maya: Client) -> None:
    paused(maya)
    numbers = shown(maya, "/audit?show=people")
    assert [each.event for each in LedgerEvent.objects.filter(pk__in=numbers)] == ["hold.placed"]
    page = text(maya, "/audit?show=people")
    assert "<b>Maya Chen</b>" in page
    assert "Paused everything: “Something is off.”" in page


def test_actions_and_errors_are_one_click_away(maya: Client) -> None:
    write(2, "controller.error", "error")
    events = LedgerEvent.objects.filter(pk__in=shown(maya, "/audit?show=errors"))
    assert {each.severity for each in events} == {"error"}
    events = LedgerEvent.objects.filter(pk__in=shown(maya, "/audit?show=actions"))
    assert {each.event for each in events} == {"controller.action-performed"}


@pytest.mark.parametrize("said", ["agent-performance", "controller/agent-performance"])
def test_entries_of_one_actor_are_found_by_name(maya: Client, said: str) -> None:
    found = LedgerEvent.objects.filter(pk__in=shown(maya, f"/audit?actor={said}"))
    assert {each.actor for each in found} == {"controller/agent-performance"}


@pytest.mark.parametrize("said", ["growth-optimizer", "agent/growth-optimizer"])
def test_entries_about_one_resource_are_found_by_name(maya: Client, said: str) -> None:
    found = LedgerEvent.objects.filter(pk__in=shown(maya, f"/audit?on={said}"))
    assert {each.subject for each in found} == {"agent/growth-optimizer"}


def test_entries_about_a_proposal_are_found_by_its_number(maya: Client) -> None:
    number = LedgerEvent.objects.filter(event="proposal.created")[0].payload["proposal"]
    found = LedgerEvent.objects.filter(pk__in=shown(maya, f"/audit?on=P-{number}"))
    assert {each.subject for each in found} == {f"proposal/{number}"}


def test_entries_are_found_by_event_and_by_its_family(maya: Client) -> None:
    found = LedgerEvent.objects.filter(pk__in=shown(maya, "/audit?event=proposal"))
    assert {each.event.partition(".")[0] for each in found} == {"proposal"}
    found = LedgerEvent.objects.filter(pk__in=shown(maya, "/audit?event=proposal.created"))
    assert {each.event for each in found} == {"proposal.created"}


def test_entries_are_found_by_time(ada: Client) -> None:
    now = timezone.now()
    with transaction.atomic():
        old = ledger.Entry("resource/old", "resource.created", "agent/old")
        ledger.append([old], actor=SYSTEM, now=now + timedelta(days=2))
    since = (now + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    found = shown(ada, f"/audit?since={since}")
    assert [each.subject for each in LedgerEvent.objects.filter(pk__in=found)] == ["agent/old"]
    assert LedgerEvent.objects.get(subject="agent/old").pk not in shown(
        ada, f"/audit?until={since}"
    )


@every_row(
    "query",
    [
        "show=nonsense",
        "before=abc",
        "before=-1",
        "before=99999999999999999999999",
        "before=%00",
        "actor=%00",
        "on=a%00b",
        f"event={'x' * 5000}",
        "since=yesterday",
        "since=0001-01-01T00:00",
        "until=9999-12-31T23:59",
        "since=%00",
        "page=abc",
    ],
    rolled_back=True,
)
def test_nonsense_in_the_address_is_ignored(ada: Client, query: str) -> None:
    assert ada.get(f"/audit?{query}").status_code == 200
    assert ada.get(f"/audit.csv?{query}").status_code == 200


def test_filters_that_find_nothing_say_so(ada: Client) -> None:
    assert "Nothing here fits" in text(ada, "/audit?actor=nobody")


def test_a_wide_filter_looks_only_so_far_and_says_so(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(30)
    monkeypatch.setattr(audit_filters, "WINDOW", 10)
    page = text(ada, "/audit?actor=agent-performance")
    assert "Looked through as many entries as one page may." in page
    further = re.search(r'href="/audit\?([^"]*)">Look further back', page)
    assert further is not None
    assert ada.get(f"/audit?{further[1]}".replace("&amp;", "&")).status_code == 200


def test_text_of_people_is_not_markup(maya: Client) -> None:
    paused(maya, "<script>alert(1)</script>")
    page = text(maya, "/audit")
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_chip_tells_of_the_newest_signature(ada: Client) -> None:
    assert "Not signed yet" in text(ada, "/audit")
    made = evidence.checkpoint(timezone.now())
    assert made is not None
    assert f"Signed up to entry {made.upto:,}" in text(ada, "/audit")


def test_the_chain_is_proved_on_request(vera: Client) -> None:
    answer = vera.post("/audit/verify", follow=True)
    count = LedgerEvent.objects.count()
    assert f"Chain verified, {count:,} entries." in answer.content.decode()
    assert vera.get("/audit/verify").status_code == 405


def tamper(pk: int) -> None:
    """Change an entry behind everybody's back."""
    with unprotected_ledger(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE resources_ledgerevent SET actor = 'person/mallory' WHERE id = %s", [pk]
        )


@pytest.mark.sqlite
@pytest.mark.parametrize("most", [ledger_check.MOST, 40])
def test_a_broken_chain_is_named(ada: Client, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("The triggers of PostgreSQL are tested with the ledger.")
    monkeypatch.setattr(ledger_check.check, "__defaults__", (most,))
    event = LedgerEvent.objects.order_by("-id")[5]
    tamper(event.pk)
    page = ada.post("/audit/verify", follow=True).content.decode()
    assert "Chain broken." in page
    assert f"{event.stream} entry {event.seq} was changed." in page


def test_a_long_chain_is_proved_as_far_as_somebody_waits(ada: Client) -> None:
    total = LedgerEvent.objects.count()
    evidence.checkpoint(timezone.now())
    verdict = ledger_check.check(40)
    assert verdict.whole
    assert f"the newest 40 of {total:,} entries" in verdict.sentence


def test_one_check_runs_at_a_time(ada: Client) -> None:
    with ledger_check.running:
        page = ada.post("/audit/verify", follow=True).content.decode()
    assert "A check is already running." in page


def lines(client: Client, address: str) -> list[dict[str, str]]:
    """Read an export."""
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == 'attachment; filename="audit-log.csv"'
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode())))


def test_the_export_has_every_entry_that_the_filters_choose(ada: Client) -> None:
    there = LedgerEvent.objects.count()
    rows = lines(ada, "/audit.csv")
    assert len(rows) == there
    assert [int(each["number"]) for each in rows] == sorted(
        (int(each["number"]) for each in rows), reverse=True
    )
    rows = lines(ada, "/audit.csv?on=agent/many")
    assert {each["subject"] for each in rows} == {"agent/many"}


def test_the_export_runs_no_formula(maya: Client) -> None:
    paused(maya, '=HYPERLINK("http://evil.example")')
    (row,) = lines(maya, "/audit.csv?show=people")
    assert row["reason"] == '\'=HYPERLINK("http://evil.example")'


def test_the_evidence_can_be_proved_elsewhere(ada: Client) -> None:
    evidence.checkpoint(timezone.now())
    newest = LedgerEvent.objects.order_by("-id")[0]
    there = LedgerEvent.objects.count()
    pack = json.loads(ada.get("/audit.csv?format=json").getvalue())
    assert len(pack["entries"]) == there
    assert pack["checkpoints"][0]["signature"]
    assert pack["entries"][0] == json.loads(json.dumps(ledger.as_cloudevent(newest)))


@pytest.mark.django_db(transaction=True)
async def test_the_export_is_sent_piece_by_piece() -> None:
    user = await User.objects.acreate(username="ada")
    await sync_to_async(given)(user, "viewer")
    client = AsyncClient()
    await client.aforce_login(user)
    answer: Any = await client.get("/audit.csv")
    assert answer.is_async
    written = b"".join([piece async for piece in answer.streaming_content])
    assert written.startswith(b"number,time,event")


def test_parts_equal_the_page(ada: Client) -> None:
    page = text(ada, "/audit")
    for name in ("audit-rows", "audit-seal"):
        part = ada.get("/audit", headers={"Live-Parts": name}).content.decode().strip()
        assert part
        assert part in page


def test_nobody_reads_the_log_without_signing_in(organisation: Clock) -> None:
    for address in ("/audit", "/audit.csv", "/audit/trace/x"):
        assert Client().get(address).status_code == 302


def test_the_page_costs_the_same_for_a_long_log(vera: Client) -> None:
    text(vera, "/audit")
    few = statements(vera, "/audit")
    write(400)
    assert statements(vera, "/audit") == few
    assert few == expected("web", "audit", few)


def test_an_empty_log_says_what_begins_it(db: None) -> None:
    assert "Nothing has happened yet" in text(reader(), "/audit")


def test_entries_of_holds_lead_to_their_page(maya: Client) -> None:
    ines = User.objects.get(username="ines")
    agent = Resource.objects.get(kind="Agent", name="growth-optimizer")
    wanted = holds.HoldRequest("pause", "resource", "Odd replies.", resource=agent.pk)
    placed = holds.place(wanted, person=ines, now=timezone.now())
    assert f'href="/overrides/{placed.hold.pk}"' in text(maya, "/audit?show=people")
    assert people.actor_for(ines) == Actor("person", "ines")
