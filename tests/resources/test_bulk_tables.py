"""Tables for bulk SQL are as the models are."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Model

from controllers.engine.terms import Judgement
from controllers.models import DriftSample
from controllers.models import Judgement as Row
from resources.tables.bulk_tables import columns, missing_rows, table_of, whole_table
from resources.tables.models import LedgerEvent

MODELS = [
    each for app in ("resources", "controllers") for each in apps.get_app_config(app).get_models()
]
TYPES = """
    SELECT column_name, replace(data_type, 'character varying', 'text')
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name = %s
"""


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_has_a_type(model: type[Model]) -> None:
    assert len(columns(model)) == len(model._meta.concrete_fields)


@pytest.mark.postgres
@pytest.mark.django_db
def test_the_types_are_those_of_the_database() -> None:
    with connection.cursor() as cursor:
        for model in MODELS:
            cursor.execute(TYPES, [model._meta.db_table])
            stored = dict(cursor.fetchall())
            for name, kind in columns(model).items():
                cursor.execute("SELECT format_type(%s::regtype, NULL)", [kind])
                assert cursor.fetchone() == (stored[name],), f"{model.__name__}.{name}"


def test_a_table_has_all_columns_but_the_key_or_those_that_are_named() -> None:
    assert table_of(DriftSample).names == [
        *("controller_id", "resource_id", "at", "score", "drifted", "dimensions")
    ]
    assert table_of(DriftSample, ("id", "at")).columns == (("id", "bigint"), ("at", "timestamptz"))
    assert whole_table(LedgerEvent).names[0] == "id"
    assert missing_rows(DriftSample).conflict() == "ON CONFLICT DO NOTHING"


def test_a_judgement_is_spelled_in_the_order_of_its_columns() -> None:
    named = [name.removesuffix("_id") for name in table_of(Row).names]

    assert named == ["controller", *Judgement._fields]
