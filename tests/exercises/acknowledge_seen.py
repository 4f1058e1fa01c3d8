"""The new answer where people, programs and the ledger look; run in the copy that has its file."""

from __future__ import annotations

import html
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from controllers.models import Decision, Proposal
from controllers.narrative.event_text import told
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.web import proposing
from tests.web.proposing import of, text

pytestmark = [pytest.mark.sqlite, pytest.mark.django_db]
BODY: dict[str, Any] = {
    "reason": "On it.",
    "focus": "risk",
    "ticket": "OPS-7",
    "hours": 2.5,
    "loudly": True,
    "until": "2099-03-04T10:00:00Z",
}


@pytest.fixture
def throttle(clock: Clock) -> Proposal:
    """Propose something about three agents, and return one of them."""
    proposing.settle(clock)
    return of("throttle")


def signed_in(name: str) -> Client:
    """Sign somebody of the example in."""
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def say(name: str, row: Proposal, body: dict[str, Any]) -> Any:
    """Give the answer over the API."""
    address = f"/api/v1/proposals/{row.pk}/acknowledge"
    tag = {"If-Match": f'"{row.tag}"'}
    return signed_in(name).post(address, body, content_type="application/json", headers=tag)


def entries() -> list[LedgerEvent]:
    """Return what the ledger says of it."""
    return list(LedgerEvent.objects.filter(event="proposal.acknowledged"))


def test_the_page_has_its_button_its_form_and_its_key(throttle: Proposal) -> None:
    maya = signed_in("maya")
    page = maya.get(f"/approvals/{throttle.pk}").content.decode()
    form = maya.get(f"/approvals/{throttle.pk}/decide?verdict=acknowledge").content.decode()
    keys = maya.get("/shortcuts").content.decode()

    assert 'data-verdict="acknowledge" data-key="e"' in " ".join(page.split())
    assert f"Acknowledge P-{throttle.pk}" in form
    assert "I have seen it" in form
    for name in ("focus", "ticket", "hours", "loudly", "until", "reason"):
        assert f'name="{name}"' in form
    assert 'value="risk"' in form
    assert "It waits on, and others see that you look after it." in html.unescape(form)
    assert "I have seen it" in keys


def test_it_is_given_on_the_page_and_told(throttle: Proposal) -> None:
    typed = BODY | {"hours": "2.5", "loudly": "yes", "until": "2099-03-04T10:00"}
    said = proposing.answer(signed_in("maya"), throttle, "acknowledge", **typed)

    throttle.refresh_from_db()
    assert said.status_code == 303
    assert "Acknowledged. It waits on." in text(signed_in_again(said))
    assert throttle.state == "pending"
    [entry] = entries()
    assert (entry.payload["focus"], entry.payload["hours"]) == ("risk", 2.5)
    assert (entry.payload["ticket"], entry.payload["loudly"]) == ("OPS-7", True)
    [line] = told([entry])
    assert line.text.startswith("acknowledged")
    decision = Decision.objects.get(proposal=throttle)
    assert (decision.answer, decision.counts) == ("acknowledge", False)


def signed_in_again(said: Any) -> Any:
    """Follow where somebody is led after an answer."""
    return said.client.get(said["Location"])


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"focus": ""}, "focus"), ({"hours": "many"}, "hours"), ({"until": "soon"}, "until")],
)
def test_what_does_not_fit_is_said_where_it_was_typed(
    throttle: Proposal, wrong: dict[str, str], field: str
) -> None:
    typed = {"reason": "On it.", "focus": "risk"} | wrong
    said = proposing.answer(signed_in("maya"), throttle, "acknowledge", **typed)

    assert said.status_code == 400
    assert f'id="{field}-e"' in said.content.decode()
    assert entries() == []


def test_who_may_not_is_refused_everywhere(throttle: Proposal) -> None:
    page = proposing.answer(signed_in("vera"), throttle, "acknowledge", reason="x", focus="risk")
    over_http = say("vera", throttle, BODY)

    assert page.status_code == 403
    assert "Your acknowledgement was not recorded." in page.content.decode()
    assert over_http.status_code == 403
    assert entries() == []


def test_the_api_has_it(throttle: Proposal) -> None:
    maya = signed_in("maya")
    seen = maya.get(f"/api/v1/proposals/{throttle.pk}").json()
    said = say("maya", throttle, BODY)

    assert "acknowledge" in seen["allowed"]
    assert said.status_code == 200, said.content
    [entry] = entries()
    assert entry.payload["until"] == "2099-03-04T10:00:00+00:00"
    assert entry.actor == "person/maya"


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"focus": "size"}, "/focus"),
        ({"ticket": 7}, "/ticket"),
        ({"ticket": "a\u0000b"}, "/ticket"),
        ({"hours": "two"}, "/hours"),
        ({"hours": True}, "/hours"),
        ({"loudly": "yes"}, "/loudly"),
        ({"until": "tomorrow"}, "/until"),
        ({"colour": "red"}, "/colour"),
    ],
)
def test_the_api_refuses_what_does_not_fit(
    throttle: Proposal, wrong: dict[str, Any], pointer: str
) -> None:
    said = say("maya", throttle, BODY | wrong)

    assert (said.status_code, said.json()["pointer"]) == (400, pointer)


def test_it_fits_no_more_once_somebody_decided(throttle: Proposal) -> None:
    Proposal.objects.filter(pk=throttle.pk).update(state="executing")

    said = say("maya", throttle, BODY)

    assert said.status_code == 409
    assert said.json()["detail"] == "A proposal that is executing cannot be acknowledged."
    assert "acknowledge" not in said.json()["allowed"]


def test_many_are_acknowledged_at_once(throttle: Proposal) -> None:
    rows = Proposal.objects.all()
    items = [{"id": each.pk, "tag": each.tag} for each in rows]
    body = {"answer": "acknowledge", "items": items, "reason": "On it.", "focus": "cost"}
    maya = signed_in("maya")
    said = maya.post("/api/v1/proposals/decide", body, content_type="application/json")
    bar = maya.get("/approvals", follow=True).content.decode()
    picked = [f"{each.pk}:{each.tag}" for each in rows]
    asked = maya.post("/approvals/decide", {"sel": picked, "answer": "acknowledge"})

    assert said.json()["done"] == len(entries()) == rows.count()
    assert '<button class="btn sm" name="answer" value="acknowledge">Acknowledge</button>' in bar
    assert 'name="focus"' in asked.content.decode()


def test_the_description_of_the_api_has_it(client: Client, db: None) -> None:
    found = client.get(reverse("openapi"), headers={"Accept": "application/json"}).json()

    spoken = found["paths"]["/api/v1/proposals/{id}/{answer}"]["post"]
    [answer] = [each for each in spoken["parameters"] if each["name"] == "answer"]
    body = found["components"]["schemas"]["Answer"]["properties"]
    shown = spoken["requestBody"]["content"]["application/json"]["examples"]
    allowed = found["components"]["schemas"]["Proposal"]["properties"]["allowed"]
    assert "acknowledge" in answer["schema"]["enum"]
    assert body["focus"]["enum"] == ["risk", "cost"]
    assert body["hours"]["type"] == "number"
    assert "acknowledge" in allowed["items"]["enum"]
    assert any(each["value"].get("ticket") == "OPS-7" for each in shown.values())
