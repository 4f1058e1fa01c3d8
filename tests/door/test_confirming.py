"""Before something grave: confirm that it is you, and go on with what was typed."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.models import Decision, Proposal
from tests.conftest import Clock
from tests.door.conftest import PASSWORD, Enter
from tests.web.conftest import clock as clock
from tests.web.conftest import look, organisation  # noqa: F401 - fixtures

pytestmark = pytest.mark.sqlite

LATER = timedelta(minutes=11)


@pytest.fixture
def grave(organisation: Clock) -> Proposal:  # noqa: F811
    """Return a proposal of high risk that waits, and give those who decide a password."""
    for name in ("maya", "tomas"):
        user = User.objects.get(username=name)
        user.set_password(PASSWORD)
        user.save()
    found = Proposal.objects.filter(state="pending").first()
    assert found is not None
    Proposal.objects.filter(pk=found.pk).update(risk="high", reversible=False)
    found.refresh_from_db()
    return found


def approve(
    client: Client, proposal: Proposal, reason: str = "Checked with Vera.", **headers: str
) -> Any:
    page = f"/approvals/{proposal.pk}/decide?verdict=approve"
    typed = {"tag": proposal.tag, "reason": reason}
    return client.post(page, typed, headers=headers)


def votes(proposal: Proposal) -> int:
    return Decision.objects.filter(proposal=proposal, answer="approve").count()


def test_who_signed_in_just_now_decides_at_once(grave: Proposal, enter: Enter) -> None:
    assert approve(enter("maya"), grave).status_code in (200, 303)
    assert votes(grave) == 1


def test_later_they_confirm_and_find_what_they_typed(grave: Proposal, enter: Enter) -> None:
    client = enter("maya")
    with time_machine.travel(timezone.now() + LATER):
        answer = approve(client, grave)
        assert answer.status_code == 303
        assert answer["Location"].startswith("/sign-in/again/?next=%2Fapprovals%2F")
        assert votes(grave) == 0

        wrong = client.post(answer["Location"], {"password": "a wild guess"})
        assert "The password is wrong." in wrong.content.decode()
        back = client.post(answer["Location"], {"password": PASSWORD})
        page = client.get(back["Location"]).content.decode()

        assert "Checked with Vera." in page
        assert "It is you." in page
        tag = re.search(r'name="tag" value="([^"]+)"', page)
        assert tag is not None
        said = {"tag": tag[1].replace("&quot;", '"'), "reason": "Checked with Vera."}
        client.post(back["Location"], said)
        assert votes(grave) == 1


def test_a_page_with_scripts_is_sent_there_whole(grave: Proposal, enter: Enter) -> None:
    client = enter("maya")
    with time_machine.travel(timezone.now() + LATER):
        answer = approve(client, grave, **{"HX-Request": "true"})

    assert answer.status_code == 204
    assert answer["HX-Redirect"].startswith("/sign-in/again/?next=")


def test_over_the_api_it_is_asked_for_too(grave: Proposal, enter: Enter) -> None:
    client = enter("maya")
    where = f"/api/v1/proposals/{grave.pk}/approve"
    say = {"reason": "Checked."}
    with time_machine.travel(timezone.now() + LATER):
        seen = {"If-Match": grave.tag}
        answer = client.post(where, say, content_type="application/json", headers=seen)

        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/confirm")
        assert answer.json()["at"] == "/sign-in/again/"
        client.post("/sign-in/again/", {"password": PASSWORD})
        answer = client.post(where, say, content_type="application/json", headers=seen)
        assert answer.status_code == 200, answer.json()


def test_stopping_something_never_asks(grave: Proposal, enter: Enter) -> None:
    client = enter("maya")
    with time_machine.travel(timezone.now() + LATER):
        said = {"tag": grave.tag, "reason": "No."}
        client.post(f"/approvals/{grave.pk}/decide?verdict=reject", said)

    grave.refresh_from_db()
    assert grave.state == "rejected"


def test_what_is_easily_undone_never_asks(grave: Proposal, enter: Enter) -> None:
    Proposal.objects.filter(pk=grave.pk).update(risk="low", reversible=True, people=1)
    client = enter("maya")
    with time_machine.travel(timezone.now() + LATER):
        approve(client, grave)

    assert votes(grave) == 1


def test_who_came_by_a_link_and_has_nothing_else_is_not_asked(
    grave: Proposal, enter: Enter
) -> None:
    client = enter("maya")
    maya = User.objects.get(username="maya")
    maya.set_unusable_password()
    maya.save()
    client.force_login(maya)
    with time_machine.travel(timezone.now() + LATER):
        approve(client, grave)

    assert votes(grave) == 1
