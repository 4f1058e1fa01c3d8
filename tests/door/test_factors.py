"""Second factors: an app, passkeys, recovery codes, and roles that need one."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.access import people
from controllers.common import secrets
from ioa_site.cli import main
from resources.tables.models import LedgerEvent
from tests.door.conftest import PASSWORD, Enter, person
from tests.door.device import HOST, Device

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]


def code_of(secret: str, steps: int = 0) -> str:
    """Return what an app shows."""
    step = int(timezone.now().timestamp()) // 30 + steps
    return str(format_hotp_value(hotp_value(secret, step)))


def set_up(client: Client) -> str:
    """Set an app up; return its key."""
    page = client.get("/profile/app").content.decode()
    secret = re.search(r'<code class="wrap">(\w+)</code>', page)
    assert secret is not None
    answer = client.post("/profile/app", {"code": code_of(secret[1])})
    assert answer["Location"] == "/profile/codes"
    return secret[1]


def test_an_app_is_asked_for_after_the_password(maya: User, enter: Enter) -> None:
    secret = set_up(enter("maya"))
    client = Client()

    answer = client.post("/sign-in/", {"login": "maya", "password": PASSWORD})
    assert answer["Location"] == "/sign-in/code/"
    assert client.get("/profile").status_code == 302
    assert "is not right" in client.post("/sign-in/code/", {"code": "000000"}).content.decode()
    answer = client.post("/sign-in/code/", {"code": code_of(secret, 1)})

    assert answer["Location"] == "/"
    assert client.get("/profile").status_code == 200
    kept = json.dumps([each.data for each in Authenticator.objects.all()])
    assert secret not in kept
    assert secrets.decrypt(Authenticator.objects.get(type="totp").data["secret"]) == secret
    assert LedgerEvent.objects.filter(event="person.second-factor-added").count() == 1


def test_a_code_of_an_app_works_once(maya: User, enter: Enter) -> None:
    from django.core.cache import cache

    secret = set_up(enter("maya"))
    with time_machine.travel(timezone.now(), tick=False):
        used = code_of(secret, 1)
        for expected in ("/", None):
            client = Client()
            client.post("/sign-in/", {"login": "maya", "password": PASSWORD})
            answer = client.post("/sign-in/code/", {"code": used})
            assert answer.headers.get("Location") == expected
            # Another process does not know what this one remembers.
            cache.clear()


def test_a_recovery_code_works_once(maya: User, enter: Enter) -> None:
    first = enter("maya")
    set_up(first)
    codes = re.findall(r"<code>(\d{8})</code>", first.get("/profile/codes").content.decode())
    assert len(codes) == 10

    for expected in ("/", None):
        client = Client()
        client.post("/sign-in/", {"login": "maya", "password": PASSWORD})
        answer = client.post("/sign-in/code/", {"code": codes[0]})
        assert answer.headers.get("Location") == expected
    assert "9 left" in first.get("/profile/security").content.decode()
    assert not any(
        code in json.dumps([a.data for a in Authenticator.objects.all()]) for code in codes
    )


def test_guessing_codes_is_counted_like_guessing_passwords(maya: User, enter: Enter) -> None:
    secret = set_up(enter("maya"))
    client = Client()
    client.post("/sign-in/", {"login": "maya", "password": PASSWORD})
    for _ in range(5):
        client.post("/sign-in/code/", {"code": "000000"})

    answer = client.post("/sign-in/code/", {"code": code_of(secret, 1)})

    assert "Too many tries" in answer.content.decode()
    assert client.get("/profile").status_code == 302


def test_who_stops_half_way_begins_again(maya: User, enter: Enter) -> None:
    set_up(enter("maya"))
    client = Client()
    client.post("/sign-in/", {"login": "maya", "password": PASSWORD})

    client.post("/sign-out/")

    assert client.get("/sign-in/").status_code == 200
    assert client.get("/sign-in/code/")["Location"] == "/sign-in/"


def add_passkey(client: Client, device: Device) -> Any:
    page = client.get("/profile/passkeys/new", headers={"host": HOST}).content.decode()
    found = re.search(r'<script id="passkey-options"[^>]*>(.*?)</script>', page)
    assert found is not None
    asked = json.loads(found[1])["publicKey"]
    assert asked["authenticatorSelection"]["userVerification"] == "required"
    sent = {"name": "Laptop", "passwordless": "on", "credential": device.registered(asked)}
    return client.post("/profile/passkeys/new", sent, headers={"host": HOST})


def by_passkey(client: Client, device: Device) -> Any:
    said = {"host": HOST, "accept": "application/json"}
    asked = client.get("/sign-in/passkey/", headers=said).json()["request_options"]["publicKey"]
    sent = {"credential": device.asserted(asked)}
    return client.post("/sign-in/passkey/", sent, headers={"host": HOST})


def test_a_passkey_signs_in_by_itself(maya: User, enter: Enter) -> None:
    device = Device()
    assert add_passkey(enter("maya"), device).status_code == 302
    client = Client()

    assert by_passkey(client, device)["Location"] == "/"

    assert client.get("/profile", headers={"host": HOST}).status_code == 200
    assert LedgerEvent.objects.filter(event="person.passkey-added").count() == 1
    last = LedgerEvent.objects.filter(event="person.signed-in").last()
    assert last is not None
    assert last.payload == {"by": "passkey"}


def test_a_passkey_that_somebody_else_holds_signs_nobody_in(maya: User, enter: Enter) -> None:
    device, other = Device(), Device()
    add_passkey(enter("maya"), device)
    other.owner, other.id = device.owner, device.id
    client = Client()

    assert by_passkey(client, other)["Location"] == "/sign-in/"
    assert client.get("/profile").status_code == 302


def test_a_passkey_made_on_another_site_is_refused(maya: User, enter: Enter) -> None:
    answer = add_passkey(enter("maya"), Device("http://elsewhere.example"))

    assert answer.status_code == 200
    assert not Authenticator.objects.filter(type="webauthn").exists()


@pytest.mark.parametrize(
    "odd",
    ["", "{}", "[]", "null", '{"id": 1}', "x" * 1000, '{"id": "a", "rawId": "a", "response": {}}'],
)
def test_odd_answers_of_a_device_are_refused_in_words(odd: str, maya: User, enter: Enter) -> None:
    client = enter("maya")
    client.get("/profile/passkeys/new", headers={"host": HOST})

    sent = {"name": "x", "credential": odd}
    assert client.post("/profile/passkeys/new", sent, headers={"host": HOST}).status_code == 200
    outside = Client()
    answer = outside.post("/sign-in/passkey/", {"credential": odd}, headers={"host": HOST})
    assert answer.status_code == 302
    assert outside.get("/profile").status_code == 302


def test_what_was_added_is_removed_again(maya: User, enter: Enter) -> None:
    client, device = enter("maya"), Device()
    set_up(client)
    add_passkey(client, device)
    key = Authenticator.objects.get(type="webauthn").pk

    assert client.post(f"/profile/passkeys/{key}/remove").status_code == 302
    assert client.post("/profile/app/remove").status_code == 302

    assert not Authenticator.objects.exists()
    assert by_passkey(Client(), device)["Location"] == "/sign-in/"


def test_nobody_removes_a_passkey_of_somebody_else(maya: User, enter: Enter) -> None:
    add_passkey(enter("maya"), Device())
    person("mallory")
    key = Authenticator.objects.get(type="webauthn").pk

    assert enter("mallory").post(f"/profile/passkeys/{key}/remove").status_code == 404


def test_ways_in_are_changed_only_by_who_confirmed_lately(maya: User, enter: Enter) -> None:
    client = enter("maya")
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        answer = client.get("/profile/app")

        assert answer["Location"] == "/sign-in/again/?next=%2Fprofile%2Fapp"
        answer = client.post(answer["Location"], {"password": PASSWORD})
        assert answer["Location"] == "/profile/app"
        assert client.get("/profile/app").status_code == 200


def test_the_page_asks_deciders_for_a_second_factor(maya: User, enter: Enter) -> None:
    person("vera")

    assert "Protect that" in enter("maya").get("/profile/security").content.decode()
    assert "Protect that" not in enter("vera").get("/profile/security").content.decode()


def test_where_it_is_required_deciders_set_one_up_first(
    maya: User, enter: Enter, settings: Any
) -> None:
    settings.REQUIRE_SECOND_FACTOR = True
    person("vera")
    client = enter("maya")

    assert client.get("/approvals")["Location"] == "/profile/security"
    assert client.get("/api/v1/proposals").status_code == 403
    assert client.get("/profile/security").status_code == 200
    assert enter("vera").get("/approvals").status_code == 200
    set_up(client)

    assert client.get("/approvals").status_code == 200
    assert client.get("/api/v1/proposals").status_code == 200


def test_a_link_asks_for_the_second_factor_too(maya: User, enter: Enter) -> None:
    secret = set_up(enter("maya"))
    maya.refresh_from_db()
    client = Client()

    answer = client.post(people.sign_in_link(maya, "http://testserver"))

    assert answer["Location"] == "/sign-in/code/"
    assert client.get("/profile").status_code == 302
    client.post("/sign-in/code/", {"code": code_of(secret, 1)})
    assert client.get("/profile").status_code == 200


def test_an_administrator_takes_away_what_somebody_lost(
    maya: User, admin: User, enter: Enter, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(enter("maya"))

    assert main(["door", "forget-factors", "maya", "--as", "maya"]) == 1
    assert main(["door", "forget-factors", "maya", "--as", "ada"]) == 0

    assert "maya signs in without a second factor." in capsys.readouterr().out
    assert enter("maya").get("/profile").status_code == 200
    assert LedgerEvent.objects.filter(event="person.factors-forgotten").count() == 1
