"""Each kind has its page; rights are those of resources, whatever the kind."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from resources.documents import kinds
from resources.tables.models import PAGE_MODELS
from tests.admin.pages import of, said, url
from tests.conftest import Clock
from tests.resources.making import apply, live, made, report

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", kinds.ALL, ids=lambda kind: kind.name)
def test_every_kind_has_a_list_and_a_form(administrator: Client, kind: Any) -> None:
    listed = administrator.get(url(kind.path, "changelist"))
    form = administrator.get(url(kind.path, "add"))

    assert f"<h1>{kind.plural}</h1>" in listed.content.decode()
    assert f"kind: {kind.name}" in form.content.decode()


def test_a_kind_brings_no_permission_of_its_own() -> None:
    names = {f"view_{model._meta.model_name}" for model in PAGE_MODELS.values()}

    ours = Permission.objects.filter(content_type__app_label="resources")

    assert not ours.filter(codename__in=names).exists()


def test_the_list_tells_conditions_in_words(
    harbour: Any, administrator: Client, clock: Clock
) -> None:
    conditions = [{"type": "Ready", "status": "False"}, {"type": "Paused", "status": "False"}]
    report(clock.now, "robin", {"conditions": conditions})

    page = said(administrator.get(url("agent", "changelist")))

    assert "robin harbour none 1 1 of 3 not met" in page


def test_only_the_living_of_the_kind_are_listed(
    harbour: Any, administrator: Client, clock: Clock
) -> None:
    apply(clock.now, made("Agent", "gone"))
    administrator.post(
        of("Agent", "gone", "delete"), {"version": live("Agent", "gone").resource_version}
    )

    page = administrator.get(url("agent", "changelist")).content.decode()

    assert ">robin</a>" in page
    assert ">gone</a>" not in page
    assert ">harbour</a></th>" not in page


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"q": "rob"}, {"robin"}),
        ({"q": "nobody"}, set()),
        ({"domain": "pier"}, {"tern"}),
        ({"domain": "nowhere"}, set()),
        ({"domain": "\x00"}, set()),
        ({"q": "\x00"}, {"robin", "tern"}),
        ({}, {"robin", "tern"}),
    ],
)
def test_the_list_is_searched_by_name_and_narrowed_by_domain(
    harbour: Any, administrator: Client, clock: Clock, query: dict[str, str], shown: set[str]
) -> None:
    apply(clock.now, made("Agent", "tern", {"domain": "pier"}))

    page = administrator.get(url("agent", "changelist"), query).content.decode()

    assert {name for name in ("robin", "tern") if f">{name}</a></th>" in page} == shown


def test_the_list_offers_no_action_and_writes_nothing(harbour: Any, administrator: Client) -> None:
    key = live("Agent", "robin").pk

    administrator.post(
        url("agent", "changelist"),
        {"action": "delete_selected", "_selected_action": [key], "post": "yes"},
    )

    assert live("Agent", "robin").deleted_at is None
    assert 'name="action"' not in administrator.get(url("agent", "changelist")).content.decode()


@pytest.mark.parametrize("action", ["change", "history", "delete"])
def test_a_viewer_does_not_reach_the_admin(harbour: Any, viewer: Client, action: str) -> None:
    answer = viewer.get(of("Agent", "robin", action))

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(reverse("admin:login"))


@pytest.mark.parametrize(
    ("action", "status"), [("change", 200), ("history", 200), ("delete", 403)]
)
def test_an_operator_edits_but_does_not_delete(
    harbour: Any, operator: Client, action: str, status: int
) -> None:
    assert operator.get(of("Agent", "robin", action)).status_code == status


def test_an_operator_is_not_offered_to_delete(harbour: Any, operator: Client) -> None:
    assert "Delete" not in said(operator.get(of("Agent", "robin")))


def test_an_operator_cannot_delete_past_the_button(harbour: Any, operator: Client) -> None:
    version = live("Agent", "robin").resource_version

    answer = operator.post(of("Agent", "robin", "delete"), {"version": version})

    assert answer.status_code == 403
    assert live("Agent", "robin")


def test_staff_who_may_only_view_are_led_to_the_page(harbour: Any, viewer: Client) -> None:
    User.objects.update(is_staff=True)

    answer = viewer.get(of("Agent", "robin"))

    assert answer.headers["Location"] == "/resources/agent/robin"
    assert viewer.post(of("Agent", "robin"), {"save": "1"}).status_code == 403
    assert viewer.get(url("agent", "add")).status_code == 403
    assert viewer.post(of("Agent", "robin", "check_one")).status_code == 403


def test_a_row_of_another_kind_is_not_found(harbour: Any, administrator: Client) -> None:
    domain = live("Domain", "harbour").pk

    assert administrator.get(url("agent", "change", domain)).status_code == 404


@pytest.mark.parametrize("key", ["0", "x", "9" * 30, "9" * 5000, "-1", "\u0661"])
def test_a_key_that_is_none_is_not_found(administrator: Client, key: str) -> None:
    assert administrator.get(url("agent", "change", key)).status_code == 404


def test_the_ledger_is_the_history_and_no_log_entry_is_written(
    harbour: Any, administrator: Client
) -> None:
    version = live("Agent", "robin").resource_version

    administrator.post(of("Agent", "robin", "delete"), {"version": version})

    assert LogEntry.objects.count() == 0


def test_no_kind_can_be_saved_past_the_use_cases() -> None:
    for model in PAGE_MODELS.values():
        page = admin.site._registry[model]

        assert page.actions is None
        assert not getattr(page, "list_editable", ())
