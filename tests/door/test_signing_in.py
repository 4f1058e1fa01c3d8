"""The door: by password and link, nobody signs up, and where one goes on."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.test import Client
from django.urls import NoReverseMatch, reverse

from controllers.access import people
from controllers.models import Visit
from resources.tables.models import LedgerEvent
from tests.door.conftest import PASSWORD, Enter, person

pytestmark = pytest.mark.django_db


def events(name: str) -> list[str]:
    """Return what happened to somebody."""
    rows = LedgerEvent.objects.filter(subject=f"person/{name}").order_by("pk")
    return [each.event for each in rows]


def test_somebody_signs_in_by_name_and_password(maya: User, enter: Enter) -> None:
    client = enter("maya")

    assert client.get("/profile").status_code == 200
    entry = LedgerEvent.objects.filter(event="person.signed-in").get()
    assert (entry.actor, entry.payload) == ("person/maya", {"by": "password"})


@pytest.mark.parametrize(
    ("name", "password"), [("maya", "a wild guess"), ("nobody", PASSWORD), ("shut", PASSWORD)]
)
def test_who_is_not_let_in_is_not_told_why(maya: User, name: str, password: str) -> None:
    person("shut")
    User.objects.filter(username="shut").update(is_active=False)
    client = Client()

    answer = client.post("/sign-in/", {"login": name, "password": password}, follow=True)

    assert client.get("/profile").status_code == 302
    if name != "shut":
        assert "The name or the password is wrong." in answer.content.decode()
        assert name in answer.content.decode()
        assert password not in answer.content.decode()
    else:
        assert (answer.status_code, "You are shut out" in answer.content.decode()) == (403, True)


@pytest.mark.parametrize(
    ("onward", "there"),
    [
        ("/approvals?state=open", "/approvals?state=open"),
        ("//elsewhere.example/", "/"),
        ("https://elsewhere.example/", "/"),
        ("http://localhost/admin/", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_one_goes_on_only_inside_the_product(maya: User, onward: str, there: str) -> None:
    asked = {"login": "maya", "password": PASSWORD, "next": onward}

    assert Client().post("/sign-in/", asked)["Location"] == there


def test_nobody_signs_up_and_no_password_is_sent_by_mail() -> None:
    for name in ("account_signup", "account_reset_password", "socialaccount_signup"):
        with pytest.raises(NoReverseMatch):
            reverse(name)
    for path in ("/signup/", "/accounts/signup/", "/password/reset/"):
        assert Client().get(path).status_code == 404


def test_passwords_are_kept_by_argon2(settings: Any) -> None:
    from ioa_site import settings as ours

    settings.PASSWORD_HASHERS = ours.PASSWORD_HASHERS
    assert make_password(PASSWORD).startswith("argon2$argon2id$")


def test_a_link_leads_to_setting_a_password(settings: Any) -> None:
    user = person("vera", password="")
    client = Client()

    answer = client.post(people.sign_in_link(user, "http://testserver"))

    assert answer["Location"] == "/profile/password/new?next=/"
    typed = {"password1": "one two three four", "password2": "one two three four", "next": "/"}
    answer = client.post("/profile/password/new", typed)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.get("/profile").status_code == 200
    user.refresh_from_db()
    assert user.check_password("one two three four")
    assert events("vera") == ["person.added", "person.signed-in", "person.password-changed"]


def test_in_the_demo_a_link_is_enough(settings: Any) -> None:
    settings.DEMO = True
    user = person("vera", password="")

    assert Client().post(people.sign_in_link(user, "http://testserver"))["Location"] == "/"


def test_a_link_signs_out_whoever_was_signed_in_there(maya: User, enter: Enter) -> None:
    client = enter("maya")
    vera = person("vera")

    answer = client.post(people.sign_in_link(vera, "http://testserver"))

    assert (answer.status_code, answer["Location"]) == (302, "/")
    (visit,) = Visit.objects.all()
    assert (visit.person, visit.session) == (vera, client.session.session_key)
    assert client.session["account_authentication_methods"][0]["method"] == "link"
    assert events("maya")[-1] == "person.signed-out"
    assert events("vera")[-1] == "person.signed-in"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("short", "short", "at least 12 characters"),
        ("qwerty123456", "qwerty123456", "too common"),
        ("one two three four", "another one instead", "same password"),
        ("", "", "required"),
    ],
)
def test_a_password_that_is_not_good_is_explained(first: str, second: str, said: str) -> None:
    user = person("vera", password="")
    client = Client()
    client.post(people.sign_in_link(user, "http://testserver"))

    answer = client.post("/profile/password/new", {"password1": first, "password2": second})

    assert answer.status_code == 200
    assert said in answer.content.decode()
    user.refresh_from_db()
    assert not user.has_usable_password()


def test_a_new_password_signs_out_everywhere_else(maya: User, enter: Enter) -> None:
    here, there = enter("maya"), enter("maya")
    new = "quite another phrase"

    answer = here.post(
        "/profile/password", {"oldpassword": PASSWORD, "password1": new, "password2": new}
    )

    assert answer.status_code == 302, answer.content.decode()[-3000:]
    assert here.get("/profile").status_code == 200
    assert there.get("/profile").status_code == 302
    (visit,) = Visit.objects.all()
    assert visit.session == here.session.session_key
    assert "person.password-changed" in events("maya")


def test_signing_out_ends_the_session_and_what_is_kept_of_it(maya: User, enter: Enter) -> None:
    client = enter("maya")

    answer = client.post("/sign-out/")

    assert answer["Location"] == "/sign-in/"
    assert client.get("/profile").status_code == 302
    assert not Visit.objects.exists()
    assert events("maya")[-1] == "person.signed-out"


def test_looking_at_the_door_signs_nobody_out(maya: User, enter: Enter) -> None:
    client = enter("maya")

    assert client.get("/sign-out/").status_code == 405
    assert client.get("/profile").status_code == 200


def test_the_admin_is_behind_the_same_door(admin: User, maya: User, enter: Enter) -> None:
    answer = Client().get("/admin/", follow=True)
    assert answer.redirect_chain[-1][0].startswith("/sign-in/?next=")

    assert enter("ada").get("/admin/").status_code == 200
    assert enter("maya").get("/admin/", follow=True).status_code == 403
    assert (
        Client().post("/admin/login/", {"username": "ada", "password": PASSWORD}).status_code
        == 302
    )


def test_nothing_that_people_sign_in_with_is_in_the_admin(admin: User, enter: Enter) -> None:
    User.objects.filter(username="ada").update(is_superuser=True)
    client = enter("ada")

    for path in ("mfa/authenticator", "socialaccount/socialapp", "account/emailaddress"):
        assert client.get(f"/admin/{path}/").status_code == 404
