"""Coming in by an identity provider: what it signed is checked, and its groups decide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone

from controllers.access import freshness, provider_groups, roles
from controllers.models import Grant
from controllers.signin.adapter import TYPED
from ioa_site.settings import identity_provider
from resources.tables.models import LedgerEvent
from tests.conftest import given as give
from tests.door.conftest import person
from tests.door.provider import CLIENT, CODE, SECRET, Provider

pytestmark = [pytest.mark.django_db, pytest.mark.full]
MAPPED = "staff=viewer, leads=approver:medium, chiefs=approver, it=administrator, ops=operator"


@pytest.fixture
def provider(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    found = Provider()
    monkeypatch.setenv("IOA_OIDC_GROUPS", MAPPED)
    settings.OIDC_ISSUER = found.issuer
    settings.OIDC_NAME = "Example ID"
    settings.OIDC_GROUPS = identity_provider.env_groups("IOA_OIDC_GROUPS")
    settings.SOCIALACCOUNT_PROVIDERS = identity_provider.providers(
        found.issuer, "Example ID", (CLIENT, SECRET)
    )
    found.claims = {"sub": "u-1", "preferred_username": "maya", "groups": ["leads", "choir"]}
    yield found
    found.close()


def leave(client: Client, **typed: str) -> str:
    """Press the button; return where the page leads to."""
    answer = client.post("/sign-in/provider/", typed)
    assert answer.status_code == 200, answer.content
    found = re.search(r'content="0;url=([^"]+)"', answer.content.decode())
    assert found is not None
    return found[1].replace("&amp;", "&")


def come(client: Client, **typed: str) -> Any:
    """Go to the provider and come back."""
    return client.get("/sign-in/provider/oidc/", signed_in(leave(client, **typed)))


def signed_in(address: str) -> dict[str, str]:
    """Return what the provider sends somebody back with."""
    asked = parse_qs(urlsplit(address).query)
    return {"code": f"{CODE}{asked['nonce'][0]}", "state": asked["state"][0]}


def held(name: str = "maya") -> set[tuple[str, str, str]]:
    rows = Grant.objects.filter(person__username=name)
    return {(each.role, each.ceiling, each.source) for each in rows}


def test_somebody_new_comes_in_with_the_roles_of_their_groups(provider: Provider) -> None:
    client = Client()

    assert "Continue with Example ID" in client.get("/sign-in/").content.decode()
    answer = come(client, next="/approvals")

    assert (answer.status_code, answer["Location"]) == (302, "/approvals")
    assert client.get("/profile").status_code == 200
    assert held() == {("approver", "medium", "leads")}
    (asked,) = provider.asked
    assert asked["code_verifier"]
    assert asked["client_secret"] == SECRET
    events = LedgerEvent.objects.filter(subject="person/maya").values_list("event", flat=True)
    assert list(events) == ["person.added", "person.granted", "person.signed-in"]


def test_groups_that_are_gone_take_their_roles_with_them(provider: Provider, admin: User) -> None:
    provider.claims["groups"] = ["leads", "ops", "staff"]
    come(Client())
    maya = User.objects.get(username="maya")
    assert maya.is_staff
    roles.grant(maya, roles.Right("auditor"), by=admin, now=timezone.now())

    provider.claims["groups"] = ["chiefs"]
    come(Client())

    assert held() == {("approver", "high", "chiefs"), ("auditor", "high", "")}
    revoked = LedgerEvent.objects.filter(event="person.revoked")
    assert {each.payload["group"] for each in revoked} == {"ops", "staff"}


def test_a_role_that_a_person_gave_is_not_made_less_by_a_group(
    provider: Provider, admin: User
) -> None:
    come(Client())
    maya = User.objects.get(username="maya")
    give(admin, "approver")
    roles.grant(maya, roles.Right("approver", ceiling="high"), by=admin, now=timezone.now())

    come(Client())

    assert held() == {("approver", "high", "")}


@pytest.mark.parametrize("given", [[], ["choir"], None, "choir", {"leads": 1}, [1, None], 7])
def test_other_groups_give_nothing_and_open_nothing(provider: Provider, given: Any) -> None:
    provider.claims["groups"] = given
    client = Client()

    answer = come(client)

    assert answer.status_code == 403
    assert "None of your groups opens this installation" in answer.content.decode()
    assert client.get("/profile").status_code == 302
    assert not User.objects.filter(username="maya").exists()


def test_who_lost_every_group_loses_the_roles_and_stays_out(provider: Provider) -> None:
    come(Client())
    provider.claims["groups"] = []

    assert come(Client()).status_code == 403
    assert held() == set()


def test_nobody_is_taken_for_somebody_who_signs_in_otherwise(
    provider: Provider, admin: User
) -> None:
    mine = person("Maya", "Administrators")

    answer = come(Client())
    assert answer.status_code == 403
    assert "signs in here another way" in answer.content.decode()

    provider_groups.connect(mine, "u-1", by=admin, now=timezone.now())
    client = Client()
    assert come(client).status_code == 302
    assert ("approver", "medium", "leads") in held("Maya")
    assert ("administrator", "high", "") in held("Maya")


def test_who_is_shut_out_stays_out(provider: Provider) -> None:
    come(Client())
    User.objects.update(is_active=False)

    assert come(Client())["Location"] == "/sign-in/inactive/"


def other_key(provider: Provider) -> None:
    provider.signing = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def unsigned(provider: Provider) -> None:
    provider.signing, provider.algorithm = None, "none"


def by_secret(provider: Provider) -> None:
    provider.signing, provider.algorithm = "a" * 64, "HS256"


def unknown_key(provider: Provider) -> None:
    provider.kid = "two"


def said(**claims: Any) -> Any:
    def change(provider: Provider) -> None:
        provider.claims.update(claims)

    return change


@pytest.mark.parametrize(
    "change",
    [
        other_key,
        unsigned,
        by_secret,
        unknown_key,
        said(aud="another-client"),
        said(iss="https://elsewhere.example"),
        said(exp=1),
        said(exp=None),
        said(sub=None),
        said(iat=4_000_000_000),
        said(nonce=None),
        said(nonce=""),
        said(nonce="made-up"),
        said(nonce=["made-up"]),
    ],
    ids=[
        *("another key", "no signature", "a secret", "an unknown key", "another audience"),
        *("another issuer", "too old", "no end", "nobody", "from the future"),
        *("no nonce", "an empty nonce", "another nonce", "many nonces"),
    ],
)
def test_what_is_not_rightly_signed_lets_nobody_in(provider: Provider, change: Any) -> None:
    change(provider)
    client = Client()

    answer = come(client)

    assert answer.status_code == 403
    assert "Example ID did not sign you in" in answer.content.decode()
    assert client.get("/profile").status_code == 302
    assert not User.objects.exists()


def test_an_answer_that_nobody_asked_for_is_refused(provider: Provider) -> None:
    client = Client()
    leave(client)

    for state in ("", "made-up"):
        answer = client.get("/sign-in/provider/oidc/", {"code": "abc", "state": state})
        assert answer.status_code == 403
    assert Client().get("/sign-in/provider/oidc/", {"error": "denied"}).status_code == 403
    assert Client().get("/sign-in/provider/other/").status_code == 404
    assert provider.asked == []


def test_every_try_has_a_nonce_of_its_own(provider: Provider) -> None:
    client = Client()

    said = [parse_qs(urlsplit(leave(client)).query)["nonce"][0] for _ in range(3)]

    assert len(set(said)) == 3
    assert min(map(len, said)) >= 43


def test_a_token_of_another_try_lets_nobody_in(provider: Provider) -> None:
    assert come(Client()).status_code == 302
    provider.kept = provider.signed
    thief = Client()

    answer = come(thief)

    assert answer.status_code == 403
    assert "Example ID did not sign you in" in answer.content.decode()
    assert thief.get("/profile").status_code == 302


def test_an_answer_counts_once(provider: Provider) -> None:
    client = Client()
    back = signed_in(leave(client))

    assert client.get("/sign-in/provider/oidc/", back).status_code == 302
    client.post("/sign-out/")
    assert client.get("/sign-in/provider/oidc/", back).status_code == 403
    assert Client().get("/sign-in/provider/oidc/", back).status_code == 403
    assert len(provider.asked) == 1


def test_a_try_that_kept_no_nonce_lets_nobody_in(provider: Provider) -> None:
    client = Client()
    back = signed_in(leave(client))
    session = client.session
    session["socialaccount_states"][back["state"]][0].pop("nonce")
    session.save()

    for nonce in ("", "made-up"):
        provider.claims["nonce"] = nonce
        assert client.get("/sign-in/provider/oidc/", back).status_code == 403
    assert not User.objects.exists()


def test_without_a_signed_token_nobody_is_let_in(provider: Provider) -> None:
    provider.tokens = lambda: {"access_token": "x", "token_type": "Bearer"}  # type: ignore[method-assign]

    assert come(Client()).status_code == 403
    assert not User.objects.exists()


def test_a_description_of_another_issuer_is_not_believed(provider: Provider) -> None:
    client = Client()
    back = signed_in(leave(client))
    other = {**provider.configuration(), "issuer": "https://elsewhere.example"}
    provider.configuration = lambda: other  # type: ignore[method-assign]

    assert Client().post("/sign-in/provider/").status_code == 503
    assert client.get("/sign-in/provider/oidc/", back).status_code == 503
    assert provider.asked == []
    assert not User.objects.exists()


def test_a_provider_that_goes_away_in_between_is_said_to_be(provider: Provider) -> None:
    client = Client()
    back = signed_in(leave(client))
    provider.close()

    answer = client.get("/sign-in/provider/oidc/", back)

    assert answer.status_code == 503
    assert "Example ID does not answer" in answer.content.decode()


def test_a_provider_that_is_away_is_said_to_be(provider: Provider) -> None:
    provider.close()

    answer = Client().post("/sign-in/provider/")

    assert answer.status_code == 503
    assert "Example ID does not answer" in answer.content.decode()


def test_confirming_goes_by_the_provider_too_and_keeps_what_was_typed(
    provider: Provider,
) -> None:
    client = Client()
    come(client)
    maya = User.objects.get(username="maya")
    session = client.session
    session[TYPED] = {"path": "/x", "by": maya.pk, "at": 0, "typed": {"reason": "Yes."}}
    session.save()
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        assert is_stale(client, maya)
        page = client.get("/sign-in/again/?next=/approvals").content.decode()
        assert "Confirm with Example ID" in page
        address = leave(client, next="/approvals")
        assert parse_qs(urlsplit(address).query)["prompt"] == ["login"]
        back = signed_in(address)
        assert client.get("/sign-in/provider/oidc/", back)["Location"] == "/approvals"
        assert not is_stale(client, maya)
    assert client.session[TYPED]["typed"] == {"reason": "Yes."}


def is_stale(client: Client, maya: User) -> bool:
    """Tell whether somebody would be asked to confirm."""
    records = client.session["account_authentication_methods"]
    return freshness.is_stale(maya, records, timezone.now())


def test_without_a_provider_there_is_none(settings: Any) -> None:
    settings.OIDC_ISSUER = ""

    assert Client().post("/sign-in/provider/").status_code == 404
    assert Client().get("/sign-in/provider/oidc/").status_code == 404
    assert "Continue with" not in Client().get("/sign-in/").content.decode()


@pytest.mark.parametrize(
    "text", ["staff", "=viewer", "staff=king", "staff=viewer:low", "leads=approver:huge"]
)
def test_a_table_of_groups_that_makes_no_sense_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("IOA_OIDC_GROUPS", text)

    with pytest.raises(ImproperlyConfigured, match="IOA_OIDC_GROUPS"):
        identity_provider.env_groups("IOA_OIDC_GROUPS")


def test_a_provider_is_asked_only_by_https(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOA_OIDC_ISSUER", "http://id.example.com")
    with pytest.raises(ImproperlyConfigured, match="https"):
        identity_provider.env_issuer("IOA_OIDC_ISSUER")
    monkeypatch.delenv("IOA_OIDC_CLIENT_ID", raising=False)
    with pytest.raises(ImproperlyConfigured, match="IOA_OIDC_CLIENT_ID"):
        identity_provider.env_client("https://id.example.com")
