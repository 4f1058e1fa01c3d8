"""Roles: what each lets people do, where it counts, and who gives and takes it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User

from controllers.access import people, roles
from controllers.access.roles import Right
from controllers.models import Grant
from resources.documents.actor import SYSTEM
from resources.documents.problems import Problem
from resources.tables.models import LedgerEvent
from tests.conftest import Clock
from tests.conftest import given as give
from tests.decisions.making import person
from tests.problems import refuses
from tests.resources.conftest import real_database
from tests.resources.making import apply, made
from tests.resources.racing import together
from tests.rows import every_row

__all__ = ["real_database"]

pytestmark = pytest.mark.django_db

Check = Callable[[User, str, datetime], None]
# Who may do what.
MATRIX: dict[str, set[str]] = {
    "check_stop": {"operator", "approver", "administrator"},
    "check_lift": {"approver", "administrator"},
    "check_propose": {"operator", "administrator"},
    "check_operate": {"operator", "administrator"},
    "check_glass": {"approver", "administrator"},
}


@pytest.fixture
def ada(clock: Clock) -> User:
    """Return the administrator, who may not decide."""
    return person(clock, "ada", "administrator")


@pytest.fixture(autouse=True)
def _domains(clock: Clock) -> None:
    for name in ("growth", "finance"):
        apply(clock.now, made("Domain", name))


def allowed(check: Check, who: User, domain: str, now: datetime) -> bool:
    try:
        check(who, domain, now)
    except Problem:
        return False
    return True


def told(username: str) -> list[tuple[str, str, Any]]:
    found = LedgerEvent.objects.filter(stream=f"person/{username}").order_by("seq")
    return [(each.event, each.actor, each.payload) for each in found]


@every_row("role", Grant.Role.values, rolled_back=True)
@every_row("name", MATRIX)
def test_each_role_may_what_the_matrix_says(clock: Clock, name: str, role: str) -> None:
    who = person(clock, "pat", role)

    assert allowed(getattr(roles, name), who, "growth", clock.now) == (role in MATRIX[name])
    assert allowed(getattr(roles, name), who, "", clock.now) == (role in MATRIX[name])


@pytest.mark.parametrize("name", MATRIX)
def test_a_role_for_a_domain_counts_in_that_domain_only(clock: Clock, name: str) -> None:
    who = person(clock, "pat", sorted(MATRIX[name])[0], domain="growth")

    found = [allowed(getattr(roles, name), who, each, clock.now) for each in ("growth", "finance")]

    assert found == [True, False]
    assert not allowed(getattr(roles, name), who, "", clock.now)


def test_a_refusal_names_the_rule(clock: Clock, vera: User) -> None:
    with refuses("forbidden") as caught:
        roles.check_lift(vera, "growth", clock.now)

    assert caught.value.rule == "NotApprover"
    assert str(caught.value) == "Only an approver or an administrator of growth lifts a hold."


def test_a_grant_ends_by_itself(clock: Clock) -> None:
    who = person(clock, "pat", "operator")
    Grant.objects.update(ends_at=clock.now + timedelta(hours=1))

    before = roles.holds_role(who, ["operator"], "", clock.now)
    after = roles.holds_role(who, ["operator"], "", clock.advance(hours=1))

    assert (before, after) == (True, False)


def test_a_clock_that_is_behind_does_not_prolong_a_grant(clock: Clock) -> None:
    """I23: the database's time ends it too."""
    who = person(clock, "pat", "operator")
    Grant.objects.update(ends_at=clock.now - timedelta(minutes=1))

    assert not roles.holds_role(who, ["operator"], "", clock.now - timedelta(hours=1))


def test_what_was_taken_away_is_gone_at_once(clock: Clock, ada: User, maya: User) -> None:
    """I18: nothing is remembered between two questions."""
    assert roles.holds_role(maya, ["approver"], "growth", clock.now)

    roles.revoke(maya, "approver", by=ada, now=clock.now)

    assert not roles.holds_role(maya, ["approver"], "growth", clock.now)


def test_who_is_not_active_holds_nothing(clock: Clock, maya: User) -> None:
    User.objects.filter(pk=maya.pk).update(is_active=False)

    assert maya.is_active
    assert not roles.holds_role(maya, ["approver"], "", clock.now)


def test_a_superuser_without_a_grant_may_nothing(clock: Clock) -> None:
    root = User.objects.create(username="root", is_superuser=True, is_staff=True)

    for name in MATRIX:
        assert not allowed(getattr(roles, name), root, "growth", clock.now)
    with refuses("forbidden"):
        roles.grant(root, Right("approver"), by=root, now=clock.now)


# Giving and taking.


def test_an_administrator_gives_a_role_and_the_ledger_tells(
    clock: Clock, ada: User, vera: User
) -> None:
    end = clock.now + timedelta(days=30)
    give(ada, "approver", domain="growth")

    given = roles.grant(vera, Right("approver", "growth", "medium", end), by=ada, now=clock.now)

    assert (given.role, given.domain, given.ceiling, given.ends_at) == (
        "approver",
        "growth",
        "medium",
        end,
    )
    assert (given.granted_by, given.granted_at) == ("person/ada", clock.now)
    [(event, actor, payload)] = told("vera")
    assert (event, actor) == ("person.granted", "person/ada")
    assert payload == {
        "role": "approver",
        "domain": "growth",
        "ceiling": "medium",
        "endsAt": end.isoformat().replace("+00:00", "Z"),
    }


def test_a_role_given_again_has_the_new_ceiling_and_end(
    clock: Clock, ada: User, maya: User
) -> None:
    give(ada, "approver")
    roles.grant(maya, Right("approver", ceiling="low"), by=ada, now=clock.now)

    assert [(each.role, each.ceiling) for each in maya.grants.all()] == [("approver", "low")]


def test_who_does_not_decide_makes_nobody_decide(clock: Clock, ada: User, vera: User) -> None:
    """I19: an administrator gives no right that they do not hold themselves."""
    with refuses("forbidden") as caught:
        roles.grant(vera, Right("approver", "growth", "low"), by=ada, now=clock.now)

    assert caught.value.rule == "NotHeld"
    assert not told("vera")


def test_nobody_gives_a_higher_ceiling_than_their_own(clock: Clock, ada: User, vera: User) -> None:
    """I19: nor one that counts in more places."""
    give(ada, "approver", domain="growth")
    ada.grants.filter(role="approver").update(ceiling="medium")

    roles.grant(vera, Right("approver", "growth", "medium"), by=ada, now=clock.now)
    for wanted in (Right("approver", "growth", "high"), Right("approver", "", "low")):
        with refuses("forbidden") as caught:
            roles.grant(vera, wanted, by=ada, now=clock.now)
        assert caught.value.rule == "NotHeld"


def test_the_door_of_the_admin_follows_the_roles(clock: Clock, ada: User, vera: User) -> None:
    roles.grant(vera, Right("operator", "growth"), by=ada, now=clock.now)
    vera.refresh_from_db()
    assert vera.is_staff

    roles.revoke(vera, "operator", by=ada, now=clock.now, domain="growth")
    vera.refresh_from_db()
    assert not vera.is_staff


GIVERS = [("viewer", ""), ("operator", ""), ("approver", ""), ("auditor", "")]


@every_row(("role", "domain"), [*GIVERS, ("administrator", "finance")], rolled_back=True)
@every_row("wanted", Grant.Role.values)
def test_only_an_administrator_of_the_place_gives_or_takes_roles(
    clock: Clock, role: str, domain: str, wanted: str
) -> None:
    """I19: nobody grants what is not theirs to grant."""
    giver, somebody = person(clock, "gil", role, domain), person(clock, "sam", wanted)

    for place in ("", "growth"):
        with refuses("forbidden") as caught:
            roles.grant(somebody, Right(wanted, place), by=giver, now=clock.now)
        assert caught.value.rule == "NotAdministrator"
        with refuses("forbidden"):
            roles.revoke(somebody, wanted, by=giver, now=clock.now, domain=place)
    assert somebody.grants.count() == 1
    assert not told("sam")


def test_an_administrator_of_a_domain_gives_roles_there(clock: Clock, vera: User) -> None:
    gil = person(clock, "gil", "administrator", "growth")

    roles.grant(vera, Right("operator", "growth"), by=gil, now=clock.now)

    assert roles.holds_role(vera, ["operator"], "growth", clock.now)
    assert not roles.holds_role(vera, ["operator"], "finance", clock.now)


@pytest.mark.parametrize("role", Grant.Role.values)
@pytest.mark.parametrize("domain", ["", "growth"])
def test_nobody_raises_themselves(clock: Clock, ada: User, role: str, domain: str) -> None:
    """I19: an administrator who may not decide cannot let themselves decide."""
    with refuses("forbidden") as caught:
        roles.grant(ada, Right(role, domain), by=ada, now=clock.now)

    assert caught.value.rule == "OwnRights"
    assert ada.grants.count() == 1


def test_an_administrator_who_was_locked_out_gives_nothing(
    clock: Clock, ada: User, vera: User
) -> None:
    User.objects.filter(pk=ada.pk).update(is_active=False)

    with refuses("forbidden"):
        roles.grant(vera, Right("approver"), by=ada, now=clock.now)


@pytest.mark.parametrize(
    ("right", "sentence"),
    [
        (Right("king"), "Choose a role"),
        (Right("approver", ceiling="none"), "Choose a ceiling"),
        (Right("approver", "nowhere"), "There is no domain/nowhere"),
        (Right("approver", ends_at=datetime.fromisoformat("2020-01-01T00:00Z")), "lies ahead"),
    ],
)
def test_a_grant_that_makes_no_sense_is_refused(
    clock: Clock, ada: User, vera: User, right: Right, sentence: str
) -> None:
    with refuses("invalid", match=sentence):
        roles.grant(vera, right, by=ada, now=clock.now)

    assert vera.grants.count() == 1
    assert not told("vera")


def test_a_role_is_taken_once(clock: Clock, ada: User, ines: User) -> None:
    first = roles.revoke(ines, "operator", by=ada, now=clock.now)
    second = roles.revoke(ines, "operator", by=ada, now=clock.now)

    assert (first, second) == (True, False)
    assert told("ines") == [("person.revoked", "person/ada", {"role": "operator", "domain": ""})]


def test_anybody_may_step_back(clock: Clock, ines: User) -> None:
    assert roles.revoke(ines, "operator", by=ines, now=clock.now)
    assert not ines.grants.exists()


def test_the_organisation_keeps_an_administrator(clock: Clock, ada: User) -> None:
    bea = person(clock, "bea", "administrator")
    end = clock.now + timedelta(days=1)
    roles.grant(ada, Right("administrator", ends_at=end), by=bea, now=clock.now)

    for last in (
        partial(roles.revoke, bea, "administrator", by=bea),
        partial(roles.revoke, bea, "administrator", by=ada),
        partial(roles.grant, bea, Right("administrator", ends_at=end), by=ada),
    ):
        with refuses("refused", match="needs an administrator"):
            last(now=clock.now)

    assert roles.revoke(ada, "administrator", by=bea, now=clock.now)
    assert [each.person for each in Grant.objects.filter(role="administrator")] == [bea]


@pytest.mark.django_db(transaction=True)
def test_two_administrators_who_dismiss_each_other_leave_one(
    clock: Clock, real_database: None
) -> None:
    """Rights change one after the other."""

    def dismiss(whom: User, by: User) -> str:
        try:
            roles.revoke(whom, "administrator", by=by, now=clock.now)
        except Problem as problem:
            return problem.code
        return "done"

    for number in range(4):
        pair = [person(clock, f"{name}{number}", "administrator") for name in ("ada", "bea")]
        found = together([partial(dismiss, *pair), partial(dismiss, *reversed(pair))])
        assert sorted(found) == ["done", "forbidden"]
        assert Grant.objects.filter(role="administrator").count() == 1
        Grant.objects.all().delete()


# People.


def granted(user: User) -> list[tuple[str, str, str]]:
    found = user.grants.order_by("pk").values_list("role", "domain", "ceiling")
    return list(found)


@pytest.mark.parametrize("group", people.ROLES)
def test_somebody_who_is_added_holds_the_role_of_their_group(clock: Clock, group: str) -> None:
    user = people.add_person("pat", name="Pat", role=group, actor=SYSTEM, now=clock.now)

    assert granted(user) == [(group.removesuffix("s").lower(), "", "high")]
    assert [each.name for each in user.groups.all()] == [group]


def test_the_first_administrator_also_decides(clock: Clock) -> None:
    first = people.ensure_administrator(clock.now)

    assert granted(first) == [("administrator", "", "high"), ("approver", "", "high")]
    assert [event for event, _, _ in told("admin")] == ["person.added", "person.granted"]


def test_what_people_took_from_the_first_administrator_stays_taken(clock: Clock) -> None:
    first = people.ensure_administrator(clock.now)
    roles.revoke(first, "approver", by=first, now=clock.now)

    people.ensure_administrator(clock.advance(days=1))

    assert granted(first) == [("administrator", "", "high")]


def test_the_people_of_the_example_hold_their_roles(clock: Clock) -> None:
    found = {each.username: granted(each)[0][0] for each in people.ensure_samples(clock.now)}

    assert found == {
        "maya": "approver",
        "tomas": "approver",
        "ines": "operator",
        "vera": "viewer",
    }


def test_people_from_before_the_grants_keep_their_roles(clock: Clock) -> None:
    """The migration may run again: what is granted stays as it is."""
    first = people.ensure_administrator(clock.now)
    second = people.add_person(
        "bea", name="Bea", role="Administrators", actor=SYSTEM, now=clock.now
    )
    everybody = [first, second, *people.ensure_samples(clock.now)]
    outsider = User.objects.create(username="olga")
    before = [granted(each) for each in everybody]
    Grant.objects.all().delete()
    person(clock, "lone", "viewer")

    migration = import_module("controllers.migrations.0004_grants_from_groups")
    for _ in range(2):
        migration.grant(apps, None)

    assert [sorted(granted(each)) for each in everybody] == [sorted(each) for each in before]
    assert not outsider.grants.exists()
    assert Grant.objects.filter(granted_by="system/ioa").count() == Grant.objects.count()
