"""How somebody signs in, on their page: an administrator signs them out, unlocks, forgets."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.access import lockout
from controllers.models import Lockout
from resources.tables.models import LedgerEvent
from tests.door.conftest import PASSWORD
from tests.managing.conftest import confirm, later
from tests.rights.world import signed_in

pytestmark = pytest.mark.sqlite


@pytest.fixture
def nia(vic: User) -> User:
    """Return somebody with a password, a second factor, and a browser that is signed in."""
    vic.set_password(PASSWORD)
    vic.save()
    return vic


def entered() -> Client:
    browser = Client(headers={"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"})
    answer = browser.post("/sign-in/", {"login": "vic", "password": PASSWORD})
    assert answer.status_code == 302
    return browser


def told(person: User) -> list[str]:
    rows = LedgerEvent.objects.filter(stream=f"person/{person}").order_by("seq")
    return list(rows.values_list("event", flat=True))


def test_an_administrator_sees_where_somebody_is_signed_in(client: Client, nia: User) -> None:
    assert "They are signed in nowhere." in client.get(f"/people/{nia.pk}").content.decode()
    entered()

    html = client.get(f"/people/{nia.pk}").content.decode()

    assert "Firefox on Linux" in html
    assert "a password" in html


def test_they_are_signed_out_everywhere(client: Client, nia: User) -> None:
    browser = entered()
    where = f"/people/{nia.pk}/door"

    assert "Sign vic out everywhere?" in client.get(f"{where}?do=sign-out").content.decode()
    assert browser.get("/resources").status_code == 200
    said = client.post(where, {"do": "sign-out"}, follow=True).content.decode()

    assert "vic is signed out everywhere." in said
    assert browser.get("/resources").status_code == 302
    assert told(nia)[-1] == "person.signed-out"
    assert LedgerEvent.objects.get(event="person.signed-out").actor == "person/ada"


def test_who_tried_too_often_is_unlocked(client: Client, nia: User) -> None:
    now = timezone.now()
    Lockout.objects.create(
        account="vic", address="10.1.2.3", failures=5, since=now, until=now + lockout.WINDOW
    )

    assert "kept waiting until" in client.get(f"/people/{nia.pk}").content.decode()
    client.post(f"/people/{nia.pk}/door", {"do": "unlock"})

    assert not Lockout.objects.exists()
    assert told(nia) == ["person.unlocked"]


def test_lost_factors_are_taken_away(client: Client, nia: User) -> None:
    Authenticator.objects.create(user=nia, type="totp", data={})

    assert "an authenticator app" in client.get(f"/people/{nia.pk}").content.decode()
    client.post(f"/people/{nia.pk}/door", {"do": "factors"})

    assert not Authenticator.objects.exists()
    assert told(nia) == ["person.factors-forgotten"]


def test_taking_factors_away_asks_to_confirm_and_signing_out_does_not(
    stale: Client, nia: User
) -> None:
    Authenticator.objects.create(user=nia, type="totp", data={})
    where = f"/people/{nia.pk}/door"
    with later():
        asked = stale.post(f"{where}?do=factors", {"do": "factors"})
        assert Authenticator.objects.exists()
        page = stale.get(confirm(stale, asked["Location"])).content.decode()
        assert "Take the second factors of vic away?" in page
        stale.post(where, {"do": "factors"})
        assert not Authenticator.objects.exists()
    with later():
        assert stale.post(where, {"do": "sign-out"})["Location"] == f"/people/{nia.pk}"


def test_nobody_else_sees_or_does_it(gil: User, audrey: User, nia: User) -> None:
    where = f"/people/{nia.pk}/door"
    for browser in (signed_in(audrey), signed_in(nia)):
        assert "Signing in</h2>" not in browser.get(f"/people/{nia.pk}").content.decode()
        assert browser.get(where).status_code == 403
        assert browser.post(where, {"do": "factors"}).status_code == 403


def test_nobody_does_it_to_themselves(client: Client, ada: User) -> None:
    assert "Signing in</h2>" not in client.get(f"/people/{ada.pk}").content.decode()
    answer = client.post(f"/people/{ada.pk}/door", {"do": "factors"})
    assert answer.status_code == 403
    assert "Somebody else does this for you." in answer.content.decode()


@pytest.mark.parametrize("do", ["dance", "\x00", "x" * 5_000])
def test_there_is_nothing_else_to_do(client: Client, nia: User, do: str) -> None:
    assert client.post(f"/people/{nia.pk}/door", {"do": do}).status_code == 404
    assert client.get(f"/people/{2**70}/door").status_code == 404
