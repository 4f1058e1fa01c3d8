"""A person's own page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.access import people, roles
from controllers.models import Delegation, Preference
from resources.tables.models import LedgerEvent
from tests.admin.counts import expected, statements
from tests.conftest import Clock
from tests.rows import every_row

pytestmark = pytest.mark.sqlite

TODAY = datetime.now(UTC).date()


@pytest.fixture
def organisation(db: None, clock: Clock) -> Clock:
    """Begin with people alone."""
    people.ensure_administrator(clock.now)
    people.ensure_samples(clock.now)
    return clock


def name(client: Client, **typed: str) -> Any:
    """Name a deputy on the page."""
    form = {"deputy": "tomas", "to": f"{TODAY + timedelta(days=3)}", "reason": "On leave."}
    return client.post("/profile/deputies", form | typed)


def text(answer: Any) -> str:
    """Return what an answer says."""
    return str(answer.content.decode())


def test_it_says_what_somebody_may_do(maya: Client, vera: Client) -> None:
    assert "Decide proposals, pause, override and lift." in text(maya.get("/profile"))
    assert "See what is there." in text(vera.get("/profile"))


def test_who_has_no_role_is_told_so(maya: Client) -> None:
    User.objects.get(username="maya").grants.all().delete()

    assert "You have no role" in text(maya.get("/profile"))


def test_single_keys_can_be_switched_off_and_on(maya: Client) -> None:
    answer = maya.post("/profile", {"theme": "system"})

    assert answer.status_code == 303
    assert 'data-keys="off"' in text(maya.get("/profile"))
    assert not Preference.objects.get(person__username="maya").shortcuts
    maya.post("/profile", {"theme": "system", "shortcuts": "on"})
    assert 'data-keys="off"' not in text(maya.get("/profile"))


def test_the_theme_works_without_scripts(maya: Client) -> None:
    maya.post("/profile", {"theme": "dark", "shortcuts": "on"})
    assert '<html lang="en" data-theme="dark">' in text(maya.get("/profile"))

    maya.post("/profile", {"theme": "system", "shortcuts": "on"})
    assert "data-theme" not in text(maya.get("/profile")).partition(">\n")[0]


def test_an_unknown_theme_changes_nothing(maya: Client) -> None:
    maya.post("/profile", {"theme": "dark"})
    maya.post("/profile", {"theme": "</script>"})

    assert maya.cookies["theme"].value == "dark"


def test_naming_a_deputy_lets_them_decide_until_the_end_of_the_last_day(maya: Client) -> None:
    answer = name(maya)

    assert answer.status_code == 303
    row = Delegation.objects.get()
    assert row.ends_at == datetime.combine(
        TODAY + timedelta(days=4), datetime.min.time(), tzinfo=UTC
    )
    assert "Tomás Silva decides for you in that time." in text(maya.get("/profile"))
    assert LedgerEvent.objects.filter(event="person.delegated").count() == 1


def test_both_people_see_it_and_both_may_end_it(maya: Client, organisation: Clock) -> None:
    name(maya)
    tomas = Client()
    tomas.force_login(User.objects.get(username="tomas"))
    key = Delegation.objects.get().pk

    assert "End: you decide for Maya Chen" in text(tomas.get("/profile"))
    assert tomas.post("/profile/deputies", {"end": key}).status_code == 303
    assert Delegation.objects.get().revoked_at
    assert "End: decides for you, Tomás Silva" not in text(maya.get("/profile"))


def test_others_may_not_end_it(maya: Client, vera: Client) -> None:
    name(maya)

    answer = vera.post("/profile/deputies", {"end": Delegation.objects.get().pk})

    assert answer.status_code == 403
    assert "Only the two people of a delegation and administrators end it." in text(answer)
    assert Delegation.objects.get().revoked_at is None


@every_row(
    ("typed", "said"),
    [
        ({"deputy": ""}, "Choose who decides for you."),
        ({"deputy": "nobody\x00"}, "Choose who decides for you."),
        ({"deputy": "maya"}, "Nobody is their own deputy."),
        ({"to": ""}, "Choose the last day."),
        ({"to": "soon"}, "Choose the last day."),
        ({"to": "9999-12-31"}, "Choose an earlier last day."),
        ({"to": "2020-01-01"}, "A delegation ends after it begins, and not in the past."),
        ({"to": f"{TODAY + timedelta(days=200)}"}, "A delegation lasts at most 90 days."),
        ({"from": "x"}, "Choose the first day."),
        ({"reason": "r" * 501}, "A reason has at most 500 characters."),
        ({"reason": "a\x00b"}, "The reason cannot be kept"),
    ],
    rolled_back=True,
)
def test_what_cannot_be_is_said_and_what_was_typed_stays(
    maya: Client, typed: dict[str, str], said: str
) -> None:
    answer = name(maya, **({"reason": "Two weeks off."} | typed))

    assert answer.status_code == 400
    assert said in text(answer)
    assert typed.get("reason", "Two weeks off.")[:200] in text(answer)
    assert not Delegation.objects.exists()


def test_who_may_not_decide_names_nobody(vera: Client) -> None:
    assert "Let them decide for me" not in text(vera.get("/profile"))

    answer = name(vera)

    assert answer.status_code == 403
    assert "Only who may decide names a deputy." in text(answer)


@pytest.mark.parametrize("key", ["", "abc", "0", "9" * 30, "-1"])
def test_ending_what_is_not_there_says_so(maya: Client, key: str) -> None:
    answer = maya.post("/profile/deputies", {"end": key})

    assert answer.status_code == 404
    assert "There is no" in text(answer)


def test_the_parts_are_the_same_alone(maya: Client) -> None:
    name(maya)
    maya.get("/profile")
    whole = text(maya.get("/profile"))

    for part in ("grants", "deputies"):
        alone = text(maya.get("/profile", headers={"Live-Parts": part})).strip()
        assert alone
        assert alone in whole


def test_the_profile_costs_the_same_whatever_there_is(maya: Client, organisation: Clock) -> None:
    statements(maya, "/profile")
    few = statements(maya, "/profile")
    user = User.objects.get(username="maya")
    for number in range(10):
        roles.delegate(
            User.objects.create(username=f"deputy-{number}"),
            person=user,
            starts_at=organisation.now,
            ends_at=organisation.now + timedelta(days=5),
            now=organisation.now,
        )

    assert statements(maya, "/profile") == few
    assert expected("web", "profile", few) == few
