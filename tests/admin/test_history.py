"""The history of a resource: who, when, what, and the way back."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from resources.tables.models import Resource, ResourceRevision
from resources.usecases import deletion, specs
from tests.admin.pages import kept, of, said, url
from tests.conftest import Clock
from tests.resources.making import ALICE, apply, live, made, report

pytestmark = pytest.mark.django_db


@pytest.fixture
def changed(harbour: Any, clock: Clock) -> None:
    """Let the agent be declared twice, with a report in between."""
    report(clock.advance(minutes=1), "robin", {"state": "running"})
    document = made("Agent", "robin", {"purpose": "Paint hulls."}, metadata={"labels": {"a": "b"}})
    wish = specs.DesiredDocument(document, message="Hulls rust.")
    specs.apply([wish], actor=ALICE, now=clock.advance(minutes=1))


def first(kind: str, name: str) -> int:
    """Return the version of a resource's first revision."""
    found = ResourceRevision.objects.filter(resource=live(kind, name)).order_by("resource_version")
    return found[0].resource_version


def test_the_history_tells_what_changed_newest_first(changed: None, operator: Client) -> None:
    page = said(operator.get(of("Agent", "robin", "history")))

    newest, oldest = (
        page.index("Changed spec.purpose; added metadata.labels."),
        page.index("Created."),
    )
    assert newest < oldest
    assert "Hulls rust." in page
    assert "alice" in page
    assert "reported" not in page.lower().replace("with reports", "")


def test_reports_are_shown_when_asked_for(changed: None, operator: Client) -> None:
    page = said(operator.get(of("Agent", "robin", "history"), {"reports": "1"}))

    assert "agent/robin" in page
    assert "Reported state." in page


def test_the_history_goes_on_page_by_page(
    harbour: Any, operator: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.admin.history.PAGE", 2)
    for number in range(3):
        apply(clock.advance(minutes=1), made("Agent", "robin", {"purpose": f"Plan {number}."}))

    page = operator.get(of("Agent", "robin", "history"))
    older = page.context["before"]
    rest = operator.get(of("Agent", "robin", "history"), {"before": older})

    assert [each.revision.generation for each in page.context["changes"]] == [4, 3]
    assert [each.revision.generation for each in rest.context["changes"]] == [2, 1]
    assert [each.what for each in rest.context["changes"]] == ["Changed spec.purpose.", "Created."]
    assert rest.context["before"] is None


@pytest.mark.parametrize("before", ["x", "-1", "9" * 40, "\x00"])
def test_a_page_that_is_none_is_the_first(harbour: Any, operator: Client, before: str) -> None:
    page = operator.get(of("Agent", "robin", "history"), {"before": before})

    assert page.status_code == 200
    assert "Created." in said(page)


def test_a_revision_shows_its_document_beside_now(changed: None, operator: Client) -> None:
    page = operator.get(of("Agent", "robin", "revision", first("Agent", "robin")))

    assert "<del>  purpose: Plan berths.</del>" in page.content.decode()
    assert "<ins>  purpose: Paint hulls.</ins>" in page.content.decode()
    assert f"?restore={first('Agent', 'robin')}" in page.content.decode()


def test_the_revision_in_force_offers_nothing_to_restore(changed: None, operator: Client) -> None:
    version = live("Agent", "robin").resource_version

    page = operator.get(of("Agent", "robin", "revision", version))

    assert "This is what is declared now." in said(page)
    assert "?restore=" not in page.content.decode()


def test_restoring_is_reviewed_and_saved_like_any_change(changed: None, operator: Client) -> None:
    address = of("Agent", "robin")
    review = operator.get(address, {"restore": first("Agent", "robin")})
    fields = {name: kept(review, name) for name in ("text", "message", "version")}
    generation = live("Agent", "robin").generation

    operator.post(address, fields | {"save": "1"})

    row = live("Agent", "robin")
    revision = ResourceRevision.objects.get(resource_version=row.resource_version)
    assert "Nothing is saved yet." in said(review)
    assert (generation, row.generation) == (2, 3)
    assert row.spec["purpose"] == "Plan berths."
    assert row.metadata == {}
    assert revision.message == "Restored generation 1"


def test_restoring_what_is_declared_already_says_so(changed: None, operator: Client) -> None:
    version = live("Agent", "robin").resource_version

    page = operator.get(of("Agent", "robin"), {"restore": version})

    assert "declares what is declared already" in said(page)


@pytest.mark.parametrize("version", ["0", "x", "9" * 40, "\x00"])
def test_a_revision_that_is_none_is_not_found(
    changed: None, operator: Client, version: str
) -> None:
    assert operator.get(of("Agent", "robin"), {"restore": version}).status_code == 404


def test_a_revision_of_another_resource_is_not_found(changed: None, operator: Client) -> None:
    version = live("Domain", "harbour").resource_version

    assert operator.get(of("Agent", "robin"), {"restore": version}).status_code == 404
    assert operator.get(of("Agent", "robin", "revision", version)).status_code == 404


def test_the_history_of_a_deleted_resource_can_still_be_read(
    changed: None, administrator: Client, clock: Clock
) -> None:
    deletion.delete("Agent", "robin", actor=ALICE, now=clock.now)
    row = Resource.objects.get(kind="Agent", name="robin")

    page = said(administrator.get(url("agent", "history", row.pk)))
    revision = administrator.get(url("agent", "revision", row.pk, row.resource_version))

    assert "robin was deleted" in page
    assert "Deleted." in page
    assert "?restore=" not in revision.content.decode()
