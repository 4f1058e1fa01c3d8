"""Prices in the admin: to be read by those who look after them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from controllers.budgets import price_list
from controllers.models import Price
from tests.conftest import Clock

pytestmark = pytest.mark.django_db


@pytest.fixture
def price(administrator: Client, clock: Clock) -> Price:
    ada = User.objects.get(username="ada")
    return price_list.put("openai", "gpt-4o", ("2.50", "10"), "EUR", person=ada, now=clock.now)


def test_administrators_read_what_models_cost(administrator: Client, price: Price) -> None:
    listed = administrator.get(reverse("admin:controllers_price_changelist"))
    page = administrator.get(reverse("admin:controllers_price_change", args=[price.pk]))

    for answer in (listed, page):
        assert answer.status_code == 200
        for text in ("gpt-4o", "2.5", "EUR"):
            assert text in answer.content.decode()


def test_nobody_sets_a_price_past_the_ledger(administrator: Client, price: Price) -> None:
    page = reverse("admin:controllers_price_change", args=[price.pk])

    administrator.post(page, {"input": "1", "provider": "x"})
    administrator.post(reverse("admin:controllers_price_delete", args=[price.pk]))

    price.refresh_from_db()
    assert (price.provider, price.input) == ("openai", 2_500_000)
    assert administrator.get(reverse("admin:controllers_price_add")).status_code == 403


def test_operators_do_not_see_prices(operator: Client, price: Price) -> None:
    assert operator.get(reverse("admin:controllers_price_changelist")).status_code == 403
