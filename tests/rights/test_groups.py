"""Groups: who makes and fills them, what stays while policies name them, and their pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from controllers.access import roles
from controllers.models import ApprovalGroup
from ioa_site.cli import main
from resources.tables.models import LedgerEvent
from tests.conftest import Clock, given
from tests.controllers.making import declare
from tests.problems import refuses
from tests.resources.making import apply, made
from tests.rights.world import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    """Return who administers the organisation."""
    return given(User.objects.create(username="ada", first_name="Ada"), "administrator")


@pytest.fixture
def gil() -> User:
    """Return who administers growth alone."""
    apply(timezone.now(), made("Domain", "growth"))
    return given(User.objects.create(username="gil"), "administrator", domain="growth")


@pytest.fixture
def nia() -> User:
    """Return an approver."""
    return given(User.objects.create(username="nia", first_name="Nia"), "approver")


@pytest.fixture
def board(ada: User) -> ApprovalGroup:
    """Return a group with nobody in it."""
    return roles.add_group("board", "Looks at payments.", by=ada, now=timezone.now())


def asked(clock: Clock, name: str = "board") -> None:
    """Let a policy name a group."""
    clock.now = timezone.now()
    rule = {"name": "payments", "people": 2, "group": name}
    declare(clock, made("Governance", "house", {"domain": "*", "approvalPolicies": [rule]}))


def story(group: ApprovalGroup) -> list[tuple[str, str, dict[str, Any]]]:
    told = LedgerEvent.objects.filter(stream=f"group/{group.uid}").order_by("seq")
    return [(each.event, each.actor, each.payload) for each in told]


def test_the_ledger_follows_a_group_through_every_name(
    ada: User, nia: User, board: ApprovalGroup
) -> None:
    to: dict[str, Any] = {"by": ada, "now": timezone.now()}

    assert roles.add_member(board, nia, **to)
    assert not roles.add_member(board, nia, **to)
    assert roles.change_group(board, name="elders", description="Decides.", **to)
    assert not roles.change_group(board, name="elders", description="Decides.", **to)
    assert roles.remove_member(board, nia, **to)
    assert not roles.remove_member(board, nia, **to)
    assert roles.delete_group(board, **to)
    assert not roles.delete_group(board, **to)

    assert story(board) == [
        ("group.made", "person/ada", {"description": "Looks at payments."}),
        ("group.joined", "person/ada", {"person": "person/nia"}),
        (
            "group.changed",
            "person/ada",
            {"name": "elders", "description": "Decides.", "formerly": "board"},
        ),
        ("group.left", "person/ada", {"person": "person/nia"}),
        ("group.deleted", "person/ada", {"members": []}),
    ]


def test_only_administrators_of_the_organisation_look_after_groups(
    gil: User, nia: User, board: ApprovalGroup
) -> None:
    to: dict[str, Any] = {"by": gil, "now": timezone.now()}
    for deed in (
        lambda: roles.add_group("other", "", **to),
        lambda: roles.add_member(board, nia, **to),
        lambda: roles.remove_member(board, nia, **to),
        lambda: roles.change_group(board, description="Mine.", **to),
        lambda: roles.delete_group(board, **to),
    ):
        with refuses("forbidden") as caught:
            deed()
        assert caught.value.rule == "NotAdministrator"
    assert len(story(board)) == 1


def test_nobody_puts_themselves_in(ada: User, board: ApprovalGroup) -> None:
    with refuses("forbidden") as caught:
        roles.add_member(board, ada, by=ada, now=timezone.now())

    assert caught.value.rule == "OwnRights"


def test_what_a_policy_names_keeps_its_name_and_stays(
    clock: Clock, ada: User, board: ApprovalGroup
) -> None:
    asked(clock)
    to: dict[str, Any] = {"by": ada, "now": timezone.now()}

    with refuses("refused", match="payments of governance/house"):
        roles.delete_group(board, **to)
    with refuses("refused", match="payments of governance/house"):
        roles.change_group(board, name="elders", description="", **to)
    assert roles.change_group(board, description="Something else.", **to)


@pytest.mark.parametrize("name", ["", "Board", "9lives", "a b", "x" * 64, "bo\x00ard"])
def test_a_name_is_one_that_policies_can_write(ada: User, name: str) -> None:
    with refuses("invalid", match="small letters"):
        roles.add_group(name, "", by=ada, now=timezone.now())


def test_there_is_one_group_of_a_name(ada: User, board: ApprovalGroup) -> None:
    to: dict[str, Any] = {"by": ada, "now": timezone.now()}
    other = roles.add_group("other", "", **to)

    with refuses("refused", match="already"):
        roles.add_group("board", "", **to)
    with refuses("refused", match="already"):
        roles.change_group(other, name="board", description="", **to)
    assert not LedgerEvent.objects.filter(event="group.changed").exists()


def test_who_is_out_cannot_be_put_in_and_what_is_gone_not_filled(
    ada: User, nia: User, board: ApprovalGroup
) -> None:
    to: dict[str, Any] = {"by": ada, "now": timezone.now()}
    User.objects.filter(pk=nia.pk).update(is_active=False)

    with refuses("refused", match="not active"):
        roles.add_member(board, nia, **to)
    User.objects.filter(pk=nia.pk).update(is_active=True)
    roles.delete_group(ApprovalGroup.objects.get(pk=board.pk), **to)
    with refuses("not-found"):
        roles.add_member(board, nia, **to)
    with refuses("not-found"):
        roles.change_group(board, description="Again.", **to)


def test_an_administrator_makes_fills_and_deletes_one_on_its_page(ada: User, nia: User) -> None:
    client = signed_in(ada)

    made_there = client.post(reverse("group-new"), {"name": "board", "description": "Pays."})
    group = ApprovalGroup.objects.get(name="board")
    there = reverse("group", args=[group.pk])
    client.post(reverse("group-member", args=[group.pk]), {"person": nia.pk, "do": "add"})
    html = client.get(there).content.decode()
    listed = client.get(reverse("groups")).content.decode()
    client.post(reverse("group-member", args=[group.pk]), {"person": nia.pk, "do": "remove"})
    empty = client.get(there).content.decode()
    gone = client.post(reverse("group-delete", args=[group.pk]))

    assert (made_there.status_code, made_there["Location"]) == (303, there)
    assert "Nia" in html
    assert "Nia" in listed
    assert "Nobody. What a policy asks" in empty
    assert gone["Location"] == reverse("groups")
    assert not ApprovalGroup.objects.exists()


def test_what_was_typed_is_shown_again(ada: User, board: ApprovalGroup) -> None:
    client = signed_in(ada)

    new = client.post(reverse("group-new"), {"name": "Not So", "description": "Kept words."})
    there = reverse("group-change", args=[board.pk])
    changed = client.post(there, {"name": "NO", "description": "Other words."})
    nobody = client.post(reverse("group-member", args=[board.pk]), {"person": "9" * 40})

    assert [each.status_code for each in (new, changed, nobody)] == [400, 400, 400]
    assert "Not So" in new.content.decode()
    assert "Kept words." in new.content.decode()
    assert "Other words." in changed.content.decode()
    assert "Choose a person." in nobody.content.decode()
    assert client.get(f"/people/groups/{2**70}").status_code == 404


def test_a_group_that_only_a_policy_knows_is_shown(clock: Clock, ada: User) -> None:
    asked(clock, "ghosts")

    html = signed_in(ada).get(reverse("groups")).content.decode()

    assert "There is no group ghosts." in html
    assert "payments of house" in html


def test_who_only_looks_sees_no_forms(nia: User, board: ApprovalGroup) -> None:
    client = signed_in(nia)

    html = client.get(reverse("group", args=[board.pk])).content.decode()

    assert "Looks at payments." in html
    assert reverse("group-member", args=[board.pk]) not in html
    assert client.post(reverse("group-delete", args=[board.pk])).status_code == 403
    assert ApprovalGroup.objects.filter(pk=board.pk).exists()


def test_somebody_of_one_domain_does_not_learn_who_else_there_is(
    ada: User, gil: User, nia: User, board: ApprovalGroup
) -> None:
    stranger = User.objects.create(username="stranger", first_name="Stranger")
    given(stranger, "approver", domain="finance")
    roles.add_member(board, stranger, by=ada, now=timezone.now())

    html = signed_in(gil).get(reverse("groups")).content.decode()

    assert "board" in html
    assert "Stranger" not in html


def test_groups_by_command(
    clock: Clock, ada: User, nia: User, capsys: pytest.CaptureFixture[str]
) -> None:
    as_ada = ["--as", "ada"]

    assert main(["group", "list"]) == 0
    assert main(["group", "make", "board", "--about", "Pays.", *as_ada]) == 0
    assert main(["group", "add", "board", "nia", *as_ada]) == 0
    assert main(["group", "list"]) == 0
    asked(clock)
    assert main(["group", "rename", "board", "elders", *as_ada]) == 1
    assert main(["group", "describe", "board", "--about", "Pays all.", *as_ada]) == 0
    assert main(["group", "remove", "board", "nia", *as_ada]) == 0
    assert main(["group", "add", "board", "nia", "--as", "nia"]) == 1
    assert main(["group", "delete", "nothing", *as_ada]) == 1

    said = capsys.readouterr()
    assert "There are no groups." in said.out
    assert "nia is in board." in said.out
    assert "payments of governance/house" in said.err
    group = ApprovalGroup.objects.get()
    assert (group.name, group.description) == ("board", "Pays all.")
