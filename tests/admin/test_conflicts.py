"""Somebody saved first: both versions are shown, and nothing typed is lost."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from resources.tables.models import Resource
from resources.usecases import deletion, specs
from tests.admin.pages import form, kept, of, said, url
from tests.conftest import Clock
from tests.resources.making import ALICE, apply, everything, live, made, report

pytestmark = pytest.mark.django_db

PURPOSE = ("Plan berths.", "Plan every berth.")
THEIRS = made("Agent", "robin", {"purpose": "Paint hulls."})


def overtake(clock: Clock) -> None:
    wish = specs.DesiredDocument(THEIRS, message="Hulls rust.")
    specs.apply([wish], actor=ALICE, now=clock.advance(minutes=1))


@pytest.mark.parametrize("step", ["review", "save"])
def test_the_conflict_names_who_when_and_what(
    harbour: Any, operator: Client, clock: Clock, step: str
) -> None:
    sent = form("Agent", "robin", PURPOSE, **{step: "1"})
    overtake(clock)
    before = everything()

    page = operator.post(of("Agent", "robin"), sent)

    assert page.status_code == 409
    assert "alice" in said(page)
    assert "generation 2 Changed spec.purpose. Hulls rust." in said(page)
    assert "<del>  purpose: Paint hulls.</del>" in page.content.decode()
    assert "<ins>  purpose: Plan every berth.</ins>" in page.content.decode()
    assert everything() == before


def test_mine_on_top_of_theirs_is_reviewed_again_and_saved(
    harbour: Any, operator: Client, clock: Clock
) -> None:
    sent = form("Agent", "robin", PURPOSE, save="1", message="Ships wait.")
    overtake(clock)
    page = operator.post(of("Agent", "robin"), sent)
    fields = {name: kept(page, name) for name in ("text", "message", "version")}

    editor = operator.post(of("Agent", "robin"), fields | {"edit": "1"})
    again = {name: kept(editor, name) for name in ("text", "message", "version")}
    review = operator.post(of("Agent", "robin"), again | {"review": "1"})
    operator.post(of("Agent", "robin"), again | {"save": "1"})

    assert kept(editor) == sent["text"]
    assert "<del>  purpose: Paint hulls.</del>" in review.content.decode()
    assert live("Agent", "robin").spec["purpose"] == "Plan every berth."
    assert live("Agent", "robin").generation == 3


def test_a_report_that_arrives_meanwhile_is_no_conflict(
    harbour: Any, operator: Client, clock: Clock
) -> None:
    sent = form("Agent", "robin", PURPOSE)
    report(clock.advance(minutes=1), "robin", {"state": "running"})

    review = operator.post(of("Agent", "robin"), sent | {"review": "1"})
    report(clock.advance(minutes=1), "robin", {"state": "idle"})
    saved = operator.post(of("Agent", "robin"), sent | {"save": "1"})

    assert (review.status_code, saved.status_code) == (200, 302)
    assert live("Agent", "robin").status == {"state": "idle"}


def test_a_report_between_reading_and_writing_is_no_conflict(
    harbour: Any, operator: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = form("Agent", "robin", PURPOSE, save="1")
    plan = specs.plan
    states = iter(["running", "idle"])

    def interrupted(*arguments: Any) -> Any:
        for state in states:
            report(clock.advance(minutes=1), "robin", {"state": state})
            break
        return plan(*arguments)

    monkeypatch.setattr(specs, "plan", interrupted)
    saved = operator.post(of("Agent", "robin"), sent)

    assert saved.status_code == 302
    assert live("Agent", "robin").spec["purpose"] == "Plan every berth."


def test_pressing_save_twice_is_no_conflict(harbour: Any, operator: Client) -> None:
    sent = form("Agent", "robin", PURPOSE, save="1")
    operator.post(of("Agent", "robin"), sent)

    page = operator.post(of("Agent", "robin"), sent)

    assert page.status_code == 200
    assert "declares what is declared already" in said(page)
    assert live("Agent", "robin").generation == 2


def test_a_resource_deleted_meanwhile_can_be_made_anew(
    harbour: Any, operator: Client, clock: Clock
) -> None:
    sent = form("Agent", "robin", PURPOSE, save="1")
    address = of("Agent", "robin")
    deletion.delete("Agent", "robin", actor=ALICE, now=clock.advance(minutes=1))

    page = operator.post(address, sent)
    fields = {name: kept(page, name) for name in ("text", "message", "version")}
    editor = operator.post(url("agent", "add"), fields | {"edit": "1"})
    again = {name: kept(editor, name) for name in ("text", "message", "version")}
    saved = operator.post(url("agent", "add"), again | {"save": "1"})

    assert page.status_code == 409
    assert "This was deleted while you were editing." in said(page)
    assert f'action="{url("agent", "add")}"' in page.content.decode()
    assert saved.status_code == 302
    assert live("Agent", "robin").spec["purpose"] == "Plan every berth."
    assert Resource.objects.filter(kind="Agent", name="robin").count() == 2


def test_typing_on_over_a_deleted_resource_keeps_the_text(
    harbour: Any, operator: Client, clock: Clock
) -> None:
    sent = form("Agent", "robin", PURPOSE, edit="1")
    address = of("Agent", "robin")
    deletion.delete("Agent", "robin", actor=ALICE, now=clock.now)

    page = operator.post(address, sent)

    assert page.status_code == 200
    assert kept(page) == sent["text"]
    assert operator.get(address).status_code == 404


def test_the_conflict_is_found_before_a_name_is_taken_by_somebody_else(
    harbour: Any, operator: Client, clock: Clock
) -> None:
    sent = form("Agent", "robin", PURPOSE, save="1")
    address = of("Agent", "robin")
    deletion.delete("Agent", "robin", actor=ALICE, now=clock.now)
    apply(clock.advance(minutes=1), THEIRS)

    page = operator.post(address, sent)

    assert page.status_code == 409
    assert live("Agent", "robin").spec["purpose"] == "Paint hulls."
