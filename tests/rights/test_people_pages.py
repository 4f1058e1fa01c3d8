"""The pages about people: who is there, who brings them in, who gives and takes roles."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from controllers.access import people, roles
from controllers.models import Grant
from resources.tables.models import LedgerEvent
from tests.conftest import given
from tests.problems import refuses
from tests.resources.making import apply, made
from tests.rights.world import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _domains() -> None:
    for name in ("growth", "finance"):
        apply(timezone.now(), made("Domain", name))


@pytest.fixture
def ada() -> User:
    """Return who administers and decides for the organisation."""
    return given(User.objects.create(username="ada"), "administrator", "approver")


@pytest.fixture
def gil() -> User:
    """Return who administers growth alone."""
    return given(User.objects.create(username="gil"), "administrator", domain="growth")


def person(name: str, *held: str, domain: str = "") -> User:
    return given(User.objects.create(username=name), *held, domain=domain)


def events(name: str) -> list[str]:
    told = LedgerEvent.objects.filter(stream=f"person/{name}").order_by("seq")
    return list(told.values_list("event", flat=True))


def invited(client: Client, **typed: str) -> str:
    answer = client.post(reverse("people-invite"), {"name": "Nia Roy", "role": "viewer", **typed})
    return answer.content.decode()


def test_an_invitation_shows_a_link_that_signs_in_once(ada: User) -> None:
    html = invited(signed_in(ada), username="nia", domain="growth")

    link = re.search(r"http://testserver(/sign-in/\S+/)<", html)
    assert link is not None
    guest = Client()
    assert guest.post(link[1]).status_code == 302
    assert guest.get(reverse("resources")).status_code == 200
    assert Client().post(link[1]).status_code == 410
    assert events("nia") == ["person.added", "person.granted", "person.signed-in"]
    entries = LedgerEvent.objects.values_list("payload", flat=True)
    assert not [each for each in entries if link[1] in str(each)]


def test_an_administrator_of_a_domain_invites_there_and_nowhere_else(gil: User) -> None:
    client = signed_in(gil)

    refused = client.post(
        reverse("people-invite"),
        {"name": "Nia", "username": "nia", "role": "viewer", "domain": "finance"},
    )
    assert refused.status_code == 403
    assert 'value="nia"' in refused.content.decode()
    assert not User.objects.filter(username="nia").exists()
    assert "/sign-in/" in invited(client, username="nia", domain="growth")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"username": "Nia Roy"}, "small letters"),
        ({"username": "ada"}, "called ada already"),
        ({"username": "nia", "name": ""}, "what they are called"),
        ({"username": "nia", "role": "king"}, "Choose a role"),
        ({"username": "nia", "until": "someday"}, "Choose the last day"),
    ],
)
def test_what_cannot_be_meant_is_said_and_kept(
    ada: User, typed: dict[str, str], sentence: str
) -> None:
    html = invited(signed_in(ada), **{"domain": "growth", **typed})

    assert sentence in html
    assert f'value="{typed["username"]}"' in html
    assert User.objects.count() == 1


def test_a_role_is_given_with_an_end_and_taken_at_once(ada: User) -> None:
    vic, client = person("vic"), signed_in(ada)
    editor = signed_in(vic)
    right = {"role": "operator", "domain": "growth", "until": "2099-01-01"}

    assert client.post(reverse("person-grant", args=[vic.pk]), right).status_code == 303
    assert editor.get(reverse("apply-documents")).status_code == 200
    held = Grant.objects.get(person=vic)
    assert (held.role, held.domain, str(held.ends_at)[:10]) == ("operator", "growth", "2099-01-02")

    assert client.post(reverse("person-revoke", args=[vic.pk]), right).status_code == 303
    assert editor.get(reverse("apply-documents")).status_code == 404
    assert events("vic") == ["person.granted", "person.revoked"]


def test_nobody_gives_what_they_do_not_hold(gil: User) -> None:
    vic = person("vic", "viewer", domain="growth")

    answer = signed_in(gil).post(
        reverse("person-grant", args=[vic.pk]), {"role": "approver", "domain": "growth"}
    )

    assert answer.status_code == 403
    assert "Nobody gives what they do not hold" in answer.content.decode()


def test_who_is_sent_away_is_out_at_once_and_may_come_back(ada: User) -> None:
    vic, client = person("vic", "viewer"), signed_in(ada)
    browser = signed_in(vic)
    where = reverse("person-active", args=[vic.pk])

    assert client.post(where, {"do": "out"}).status_code == 303
    assert browser.get(reverse("resources")).status_code == 302
    assert client.post(where, {"do": "back"}).status_code == 303
    assert signed_in(vic).get(reverse("resources")).status_code == 200
    told = ["person.deactivated", "person.signed-out", "person.reactivated"]
    assert events("vic") == told


def test_the_last_administrator_is_not_sent_away(ada: User) -> None:
    bea = person("bea", "administrator")
    roles.deactivate(ada, by=bea, now=timezone.now())

    with refuses("forbidden"):
        roles.deactivate(bea, by=bea, now=timezone.now())
    with refuses("forbidden"):
        roles.deactivate(bea, by=ada, now=timezone.now())
    assert User.objects.get(username="bea").is_active


def test_an_administrator_of_a_domain_does_not_reach_people_of_more(gil: User, ada: User) -> None:
    client = signed_in(gil)
    stranger = person("stranger", "viewer", domain="finance")

    assert client.post(reverse("person-active", args=[ada.pk])).status_code == 403
    assert client.get(reverse("person", args=[stranger.pk])).status_code == 404
    assert client.post(reverse("person-active", args=[stranger.pk])).status_code == 404
    assert "stranger" not in client.get(reverse("people")).content.decode()


def test_no_link_is_made_for_who_has_been_here(ada: User) -> None:
    vic = person("vic", "approver")
    assert people.redeem(vic, timezone.now())

    answer = signed_in(ada).post(reverse("person-link", args=[vic.pk]))

    assert answer.status_code == 409
    assert f"/sign-in/{vic.pk}/" not in answer.content.decode()


def test_who_only_looks_sees_people_and_no_forms(ada: User) -> None:
    html = signed_in(person("vic", "viewer")).get(reverse("people")).content.decode()

    assert "ada" in html
    assert reverse("people-invite") not in html
