"""The tables as files: every row that the filters choose, in a known number of statements."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from controllers.decisions import holds
from controllers.models import Proposal
from controllers.web.audit import table_exports
from resources.tables.models import Resource
from tests.admin.counts import expected
from tests.conftest import Clock

pytestmark = pytest.mark.sqlite


def lines(client: Client, address: str) -> list[dict[str, str]]:
    """Read a file."""
    answer = client.get(address)
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    return list(csv.DictReader(io.StringIO(answer.getvalue().decode())))


def pause(clock: Clock, reason: str) -> None:
    """Pause an agent for an hour."""
    agent = Resource.objects.get(kind="Agent", name="campaign-writer")
    ends = clock.now + timedelta(hours=1)
    wanted = holds.HoldRequest("pause", "resource", reason, resource=agent.pk, ends_at=ends)
    holds.place(wanted, now=clock.now, person=User.objects.get(username="maya"))


def test_the_file_of_proposals_holds_what_the_filters_choose(maya: Client) -> None:
    every = lines(maya, "/approvals.csv")
    one = lines(maya, "/approvals.csv?controller=security-auditor")

    assert [each["Number"] for each in every] == [
        f"P-{key}" for key in Proposal.objects.order_by("pk").values_list("pk", flat=True)
    ]
    assert [each["Resource"] for each in one] == ["finance-restricted"]
    assert one[0]["Title"].startswith("Revoke refund-resolver")
    assert (one[0]["State"], one[0]["Risk"], one[0]["Domain"]) == ("Open", "Medium", "finance")
    assert lines(maya, "/approvals.csv?state=decided") == []


def test_only_what_waits_for_somebody_is_in_their_file(maya: Client, vera: Client) -> None:
    assert len(lines(maya, "/approvals.csv?mine=1")) == Proposal.objects.count()
    assert lines(vera, "/approvals.csv?mine=1") == []


def test_the_page_leads_to_its_file_with_the_filters(maya: Client) -> None:
    page = maya.get("/approvals?risk=low", follow=True).content.decode()

    assert 'href="/approvals.csv?risk=low"' in page
    assert 'href="/controllers.csv"' in maya.get("/controllers").content.decode()
    assert 'href="/overrides.csv"' in maya.get("/overrides").content.decode()


def test_the_file_of_controllers_is_in_the_order_of_the_table(maya: Client) -> None:
    rows = lines(maya, "/controllers.csv?sort=drifting")

    assert [int(each["Drifting"]) for each in rows] == sorted(
        (int(each["Drifting"]) for each in rows), reverse=True
    )
    first = next(each for each in rows if each["Name"] == "agent-performance")
    assert (first["Mode"], first["Watches"], first["Watched"]) == ("Warn", "Agent", "23")


def test_the_file_of_holds_says_who_and_why_and_runs_no_formula(
    organisation: Clock, maya: Client
) -> None:
    pause(organisation, "=1+1")

    (row,) = lines(maya, "/overrides.csv")

    assert (row["What"], row["Kind"], row["Who"]) == ("campaign-writer", "pause", "Maya Chen")
    assert row["Why"] == "'=1+1"
    assert row["Ends"]


def test_files_go_on_after_a_piece(organisation: Clock, maya: Client) -> None:
    whole = lines(maya, "/approvals.csv")
    table_exports.CHUNK, usual = 2, table_exports.CHUNK
    try:
        assert lines(maya, "/approvals.csv") == whole
    finally:
        table_exports.CHUNK = usual


def test_files_take_a_known_number_of_statements(organisation: Clock, maya: Client) -> None:
    pause(organisation, "We count stock.")
    names = ("approvals", "controllers", "overrides")

    def taken(name: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            maya.get(f"/{name}.csv").getvalue()
        return len(queries)

    maya.get("/controllers.csv").getvalue()
    found = {name: taken(name) for name in names}

    assert found == {name: expected("file", name, count) for name, count in found.items()}


def test_nobody_reads_a_file_without_signing_in(organisation: Clock) -> None:
    for name in ("approvals", "controllers", "overrides", "resources"):
        assert Client().get(f"/{name}.csv").status_code == 302
