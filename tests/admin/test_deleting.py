"""Deleting says first what owner references bring about."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from resources.tables.models import Resource
from tests.admin.pages import of, said, url
from tests.conftest import Clock
from tests.resources.making import apply, everything, live, made, owned, report

pytestmark = pytest.mark.django_db


def version(kind: str, name: str) -> dict[str, int]:
    return {"version": live(kind, name).resource_version}


def test_the_page_says_what_follows_and_writes_nothing(
    harbour: Any, administrator: Client, clock: Clock
) -> None:
    apply(
        clock.now,
        owned("Budget", "money", ("Domain", "harbour", "cascade")),
        owned("SecurityPolicy", "locks", ("Domain", "harbour", "orphan")),
    )
    before = everything()

    page = said(administrator.get(of("Domain", "harbour", "delete")))

    assert "Deleted too, because it owns them budget/money" in page
    assert "Released: they stay, without this owner securitypolicy/locks" in page
    assert "Affected: they name it, or were watched by it agent/robin" in page
    assert "Delete harbour and 1 other" in page
    assert everything() == before


def test_deleting_does_what_the_page_said(
    harbour: Any, administrator: Client, clock: Clock
) -> None:
    apply(clock.now, owned("Budget", "money", ("Domain", "harbour", "cascade")))

    answer = administrator.post(of("Domain", "harbour", "delete"), version("Domain", "harbour"))

    assert answer.headers["Location"] == url("domain", "changelist")
    assert not Resource.objects.filter(name__in=["harbour", "money"], deleted_at=None).exists()
    assert "Deleted harbour and 1 more that it owned." in said(
        administrator.get(url("domain", "changelist"))
    )


def test_what_stands_in_the_way_is_named_and_no_button_offered(
    harbour: Any, administrator: Client, clock: Clock
) -> None:
    apply(clock.now, owned("Budget", "money", ("Domain", "harbour", "block")))
    sent = version("Domain", "harbour")

    page = administrator.get(of("Domain", "harbour", "delete"))
    answer = administrator.post(of("Domain", "harbour", "delete"), sent)

    assert "harbour cannot be deleted." in said(page)
    assert "budget/money" in said(page)
    assert '<form method="post">' not in page.content.decode()
    assert answer.status_code == 409
    assert live("Domain", "harbour")


def test_a_declaration_that_came_first_is_shown_before_asking_again(
    harbour: Any, administrator: Client, clock: Clock
) -> None:
    sent = version("Agent", "robin")
    apply(clock.advance(minutes=1), made("Agent", "robin", {"purpose": "Paint hulls."}))

    page = administrator.post(of("Agent", "robin", "delete"), sent)
    answer = administrator.post(of("Agent", "robin", "delete"), version("Agent", "robin"))

    assert page.status_code == 409
    assert "Nothing was deleted: somebody changed this first." in said(page)
    assert "Changed spec.purpose." in said(page)
    assert answer.status_code == 302


def test_a_report_that_came_first_does_not_stand_in_the_way(
    harbour: Any, administrator: Client, clock: Clock
) -> None:
    sent = version("Agent", "robin")
    report(clock.advance(minutes=1), "robin", {"state": "running"})

    assert administrator.post(of("Agent", "robin", "delete"), sent).status_code == 302


def test_deleting_twice_says_so(harbour: Any, administrator: Client) -> None:
    sent, address = version("Agent", "robin"), of("Agent", "robin", "delete")
    administrator.post(address, sent)

    answer = administrator.post(address, sent, follow=True)

    assert "Nothing left to delete: robin is gone already." in said(answer)
    assert administrator.get(address).status_code == 404


@pytest.mark.parametrize("told", ["", "0", "x", "9" * 40])
def test_without_the_version_that_was_read_nothing_is_deleted(
    harbour: Any, administrator: Client, told: str
) -> None:
    answer = administrator.post(of("Agent", "robin", "delete"), {"version": told})

    assert answer.status_code == 409
    assert live("Agent", "robin")
