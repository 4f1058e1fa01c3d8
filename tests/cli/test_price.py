"""`ioa price` says what models cost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from controllers.models import Grant, Price
from ioa_site.work import caller
from resources.documents.actor import Actor
from resources.tables.models import LedgerEvent
from tests.cli.conftest import Run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ada(monkeypatch: pytest.MonkeyPatch) -> User:
    """An administrator, who is at the keyboard."""
    monkeypatch.setattr(caller, "person", lambda: Actor("person", "ada"))
    user = User.objects.create(username="ada")
    now = datetime.now(UTC)
    Grant.objects.create(person=user, role="administrator", granted_by="x", granted_at=now)
    return user


def test_a_price_is_set_listed_and_removed(ioa: Run) -> None:
    made = ioa("price", "set", "openai", "gpt-4o", "--input", "2.50", "--output", "10")
    listed = ioa("price", "list")

    assert made.out == "A million tokens of openai/gpt-4o cost 2.50 in and 10 out, in USD.\n"
    assert listed.last.split() == ["openai", "gpt-4o", "2.5", "10", "USD", "person/ada"]
    assert (Price.objects.get().input, Price.objects.get().output) == (2_500_000, 10_000_000)

    ioa("price", "set", "openai", "gpt-4o", "--input", "3", "--output", "0.15")
    assert (Price.objects.get().input, Price.objects.get().output) == (3_000_000, 150_000)

    assert ioa("price", "remove", "openai", "gpt-4o").code == 0
    assert ioa("price", "list").out == "There are no prices.\n"
    told = LedgerEvent.objects.filter(event__startswith="price.").values_list("event", flat=True)
    assert list(told) == ["price.set", "price.set", "price.removed"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("openai", "gpt-4o", "--input", "cheap", "--output", "1"), "'cheap' is not an amount"),
        (("openai", "gpt-4o", "--input=-1", "--output", "1"), "from 0 to"),
        (("openai", "gpt-4o", "--input", "NaN", "--output", "1"), "from 0 to"),
        (("openai", "gpt-4o", "--input", "0.0000001", "--output", "1"), "six decimals"),
        (("open ai", "gpt-4o", "--input", "1", "--output", "1"), "such as openai gpt-4o"),
        (
            ("openai", "gpt-4o", "--input", "1", "--output", "1", "--currency", "dollars"),
            "three capital letters",
        ),
    ],
)
def test_what_is_no_price_is_refused_with_a_sentence(
    ioa: Run, given: tuple[str, ...], said: str
) -> None:
    ran = ioa("price", "set", *given)

    assert ran.code == 1
    assert said in ran.err
    assert not Price.objects.exists()


def test_only_administrators_set_prices(ioa: Run) -> None:
    Grant.objects.all().delete()

    ran = ioa("price", "set", "openai", "gpt-4o", "--input", "1", "--output", "1")

    assert (ran.code, Price.objects.count()) == (1, 0)
    assert "Only an administrator" in ran.err
