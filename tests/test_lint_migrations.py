"""The linter of migrations catches what would break the version before, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState

from tests import lint_migrations
from tests.rows import every_row
from tests.services import ROOT

pytestmark = pytest.mark.sqlite

CONTRACT = "0.3: nothing reads it since 0.2"


def before() -> ProjectState:
    """Return the tables of a made-up application."""
    state = ProjectState()
    fields: list[tuple[str, Any]] = [
        ("id", models.BigAutoField(primary_key=True)),
        ("name", models.CharField(max_length=20)),
        ("note", models.TextField(null=True)),
        ("count", models.IntegerField(db_default=0)),
        ("price", models.DecimalField(max_digits=9, decimal_places=2)),
    ]
    state.add_model(ModelState("shop", "Ware", fields))
    state.add_model(ModelState("shop", "Till", [("id", models.BigAutoField(primary_key=True))]))
    return state


def lint(*operations: Operation, **said: Any) -> list[str]:
    """Return what is wrong with a made-up migration."""
    body = {"operations": list(operations), "__module__": __name__} | said
    made = type("Migration", (migrations.Migration,), body)
    return list(lint_migrations.problems(made("0002_made_up", "shop"), before()))


def alter(name: str, field: Any) -> Operation:
    return migrations.AlterField("ware", name, field)


def add(field: Any) -> Operation:
    return migrations.AddField("ware", "fresh", field)


class Unheard(Operation):
    """An operation that nobody has heard of."""

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change nothing."""


INDEX = models.Index(fields=["name"], name="by_name")
POSITIVE = models.CheckConstraint(condition=models.Q(count__gt=0), name="positive")
NARROWER = [
    (migrations.RemoveField("ware", "note"), "still uses it"),
    (migrations.DeleteModel("Till"), "still uses it"),
    (migrations.RenameField("ware", "note", "remark"), "still uses it"),
    (migrations.RenameModel("Ware", "Good"), "still uses it"),
    (migrations.AlterModelTable("ware", "goods"), "still uses it"),
    (migrations.AddConstraint("ware", POSITIVE), "may break it"),
    (migrations.AlterUniqueTogether("ware", {("name", "count")}), "may break it"),
    (alter("name", models.CharField(max_length=19)), "becomes shorter"),
    (alter("name", models.TextField()), "changes its type"),
    (alter("count", models.BigIntegerField(db_default=0)), "changes its type"),
    (alter("price", models.DecimalField(max_digits=9, decimal_places=3)), "changes its type"),
    (alter("name", models.CharField(max_length=20, db_column="title")), "changes its type"),
    (alter("note", models.TextField()), "refuses null"),
    (alter("note", models.TextField(null=True, unique=True)), "becomes unique"),
    (alter("count", models.IntegerField(default=0)), "loses the default"),
    (add(models.IntegerField()), "without it"),
    (add(models.IntegerField(default=0)), "without it"),
    (migrations.RunSQL("ALTER TABLE t DROP COLUMN c", "SELECT 1"), "takes something away"),
    (migrations.RunSQL("alter table t rename to u", "SELECT 1"), "takes something away"),
]


@every_row(("operation", "sentence"), NARROWER)
def test_what_the_version_before_cannot_live_with_is_caught(
    operation: Operation, sentence: str
) -> None:
    """F16"""
    assert any(sentence in each for each in lint(operation))


@every_row("operation", [each for each, _ in NARROWER])
def test_a_contract_step_says_since_when_nothing_uses_it(operation: Operation) -> None:
    assert lint(operation, contract=CONTRACT, locks="It is small.") == []
    assert any("names no version" in each for each in lint(operation, contract="Trust me."))


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddIndex("ware", INDEX),
        add(models.IntegerField(null=True, db_index=True)),
        add(models.ForeignKey("shop.till", models.CASCADE, null=True)),
        alter("count", models.IntegerField(db_default=0, db_index=True)),
    ],
)
def test_an_index_that_others_wait_for_says_why_they_may(operation: Operation) -> None:
    assert any("writers wait" in each for each in lint(operation))
    assert any("writers wait" in each for each in lint(operation, contract=CONTRACT))
    assert lint(operation, locks="A shop has ten wares.") == []


@pytest.mark.parametrize(
    "operation",
    [migrations.RunPython(lambda apps, editor: None), migrations.RunSQL("UPDATE t SET c = 1")],
)
def test_what_is_done_by_hand_has_a_way_back_or_says_why_not(operation: Operation) -> None:
    assert any("cannot be taken back" in each for each in lint(operation))
    assert lint(operation, irreversible="What was there is not known any more.") == []


def test_a_unique_field_of_old_rows_is_null() -> None:
    (fault,) = lint(add(models.IntegerField(unique=True, db_default=0)), locks="It is small.")

    assert "would all have the same" in fault


def test_an_unknown_operation_is_caught() -> None:
    (fault,) = lint(Unheard())

    assert "nobody here knows" in fault


def test_what_is_done_to_the_database_alone_is_looked_at() -> None:
    hidden = migrations.SeparateDatabaseAndState([migrations.RemoveField("ware", "note")])

    assert any("still uses it" in each for each in lint(hidden))


@every_row(
    "operation",
    [
        migrations.CreateModel("Shelf", [("id", models.BigAutoField(primary_key=True))]),
        add(models.IntegerField(null=True)),
        add(models.IntegerField(db_default=0)),
        add(models.ManyToManyField("shop.till")),
        alter("name", models.CharField(max_length=21)),
        alter("name", models.CharField(max_length=20, null=True)),
        alter("count", models.IntegerField(db_default=1)),
        AddIndexConcurrently("ware", INDEX),
        migrations.RunPython(lambda apps, editor: None, migrations.RunPython.noop),
        migrations.RunSQL("UPDATE t SET c = 1", migrations.RunSQL.noop),
        migrations.AlterModelOptions("ware", {"ordering": ["name"]}),
    ],
)
def test_what_only_adds_passes(operation: Operation) -> None:
    assert lint(operation) == []


def test_nobody_writes_yet_to_what_the_same_migration_makes() -> None:
    made = migrations.CreateModel("Shelf", [("id", models.BigAutoField(primary_key=True))])
    first = migrations.AddField("shelf", "width", models.IntegerField())
    second = migrations.AddIndex("shelf", models.Index(fields=["width"], name="by_width"))

    assert lint(made, first, second) == []


def test_our_own_migrations_only_add() -> None:
    assert list(lint_migrations.found()) == []


def test_the_checks_run_it() -> None:
    assert '"$bin/python" -m tests.lint_migrations' in (ROOT / ".ci" / "run").read_text()
