"""`ioa token` gives agents tokens and takes them back."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioa_site.work import caller
from resources.tables.models import AgentToken
from resources.usecases import tokens
from tests.cli.conftest import Run
from tests.cli.samples import agent, domain, put

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def organisation(ioa: Run, tmp_path: Path) -> None:
    """Apply one agent."""
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), agent()))


def test_a_new_token_is_printed_once_and_works(ioa: Run) -> None:
    made = ioa("token", "create", "robin")
    listed = ioa("token", "list")

    text = made.out.strip()
    token = tokens.authenticate(text, now=caller.now())
    assert made.code == 0
    assert token is not None
    assert token.agent.name == "robin"
    assert token.scopes == ["resources:read", "status:write"]
    assert token.key_id in listed.out
    assert text not in listed.out


def test_scopes_and_lifetime_can_be_chosen(ioa: Run) -> None:
    ioa("token", "create", "robin", "--scope", "status:write", "--expires", "7d")

    token = AgentToken.objects.get()
    assert token.scopes == ["status:write"]
    assert (token.expires_at - token.created_at).days == 7


def test_the_help_names_every_scope(ioa: Run) -> None:
    said = " ".join(ioa("token", "create", "--help").out.split())

    assert all(scope in said for scope in (*tokens.SCOPES, *tokens.CONTROLLER_SCOPES))


def test_a_controller_that_runs_outside_gets_a_token(ioa: Run, tmp_path: Path) -> None:
    spec = {"targetKind": "Agent", "reconcileInterval": "5m", "runner": "external"}
    document = agent() | {"kind": "Controller", "metadata": {"name": "keeper"}, "spec": spec}
    ioa("apply", "-f", put(tmp_path / "c.yaml", document))

    made = ioa("token", "create", "controller/keeper")

    token = tokens.authenticate(made.out.strip(), now=caller.now())
    assert token is not None
    assert token.scopes == sorted(tokens.CONTROLLER_SCOPES)
    assert "of controller/keeper: keep it now." in made.err
    assert "controller/keeper" in ioa("token", "list", "controller/keeper").out


def test_a_revoked_token_is_worthless_and_listed_as_such(ioa: Run) -> None:
    text = ioa("token", "create", "robin").out.strip()
    key_id = AgentToken.objects.get().key_id

    revoked = ioa("token", "revoke", key_id)

    assert revoked.out == f"Token {key_id} of agent/robin is revoked.\n"
    assert tokens.authenticate(text, now=caller.now()) is None
    assert "revoked" in ioa("token", "list", "robin").out


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("create", "nobody"), 1, "There is no agent/nobody."),
        (("create", "robin", "--scope", "all"), 1, "Choose scopes from"),
        (("create", "robin", "--expires", "5000d"), 1, "A token lasts at most"),
        (("create", "robin", "--expires", "soon"), 2, "must be a duration"),
        (("revoke", "nothing"), 1, "No token has the id nothing."),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    ioa: Run, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    ran = ioa("token", *arguments)

    assert ran.code == code
    assert ran.out == ""
    assert expected in ran.err


def test_without_tokens_it_says_so(ioa: Run) -> None:
    assert ioa("token", "list").out == "There are no tokens.\n"
