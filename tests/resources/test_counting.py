"""Counting as far as anybody reads."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from resources.tables import bounded_count
from resources.tables.models import Resource
from tests.conftest import Clock
from tests.resources.making import apply, made

pytestmark = [pytest.mark.django_db, pytest.mark.servers]


def test_a_count_ends_where_it_is_cut_and_many_are_one_statement(clock: Clock) -> None:
    apply(
        clock.now, *(made("Domain", f"d{number}") for number in range(4)), made("Agent", "robin")
    )
    rows = Resource.objects.order_by()

    with CaptureQueriesContext(connection) as queries:
        found = bounded_count.together(rows[:3], rows, rows.filter(kind="Tool"))

    assert found == [3, 5, 0]
    assert len(queries) == 1


def test_what_can_have_no_rows_counts_as_none() -> None:
    rows = Resource.objects.order_by()

    assert bounded_count.together(rows.none(), rows.filter(pk__in=[])) == [0, 0]
