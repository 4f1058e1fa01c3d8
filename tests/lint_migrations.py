"""Check that migrations only add: the version before goes on while a release is rolled out.

`python -m tests.lint_migrations` checks every migration after the baseline. A migration may say

- `contract = "0.3: nothing reads it since 0.2"`: it takes something away or makes it narrower,
  and names the version whose code no longer uses it;
- `locks = "why"`: it makes an index while others wait, on a table that is small;
- `irreversible = "why"`: what it does to rows cannot be taken back.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import django
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db.migrations import Migration, operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import NOT_PROVIDED, Field

# The newest migrations of what is not released yet: from here on rows and versions mix.
BASELINE = {"controllers": "0011_triggers", "resources": "0006_when_conditions_changed"}
VERSION = re.compile(r"\b\d+\.\d+")
NARROWING_SQL = re.compile(
    r"\b(DROP\s+(TABLE|COLUMN|VIEW|TRIGGER|FUNCTION)|RENAME|ALTER\s+COLUMN|SET\s+NOT\s+NULL"
    r"|ADD\s+CONSTRAINT|TRUNCATE)\b",
    re.IGNORECASE,
)
# What takes away what the version before uses.
TAKES_AWAY = (
    operations.RemoveField,
    operations.DeleteModel,
    operations.RenameField,
    operations.RenameModel,
    operations.AlterModelTable,
    operations.AlterOrderWithRespectTo,
)
# What may refuse rows that the version before writes.
REFUSES_ROWS = (operations.AddConstraint, operations.AlterUniqueTogether)
HARMLESS = (
    operations.CreateModel,
    operations.RemoveIndex,
    RemoveIndexConcurrently,
    operations.RenameIndex,
    operations.RemoveConstraint,
    operations.AlterConstraint,
    operations.AlterModelOptions,
    operations.AlterModelManagers,
    operations.AlterModelTableComment,
    AddIndexConcurrently,
)
# What of a field has to stay as it was.
FIXED = ("max_digits", "decimal_places", "primary_key", "db_collation")


class Look:
    """One migration, the tables before each of its operations, and what is wrong with it."""

    def __init__(self, migration: Migration, state: ProjectState) -> None:
        self.migration, self.state = migration, state
        self.app = migration.app_label
        # Nobody writes to what this very migration makes.
        self.new: set[str] = set()

    def said(self, name: str) -> str:
        """Return what the migration says for itself."""
        return str(getattr(self.migration, name, "")).strip()

    def field(self, model: str, name: str) -> Field[Any, Any]:
        """Return a field as it is before the operation."""
        found: Field[Any, Any] = self.state.models[self.app, model.lower()].fields[name]
        return found


def problems(migration: Migration, state: ProjectState) -> Iterator[str]:
    """Yield what is wrong with a migration; the state is the one before it, and moves on."""
    look = Look(migration, state)
    contract = look.said("contract")
    if contract and not VERSION.search(contract):
        yield "`contract` names no version whose code no longer uses it."
    for operation in migration.operations:
        for each in flattened(operation):
            yield from faults(each, look, excused=bool(contract))
            if isinstance(each, operations.CreateModel):
                look.new.add(each.name_lower)
        operation.state_forwards(look.app, state)


def flattened(operation: Operation) -> Iterator[Operation]:
    """Yield what is done to the database."""
    if isinstance(operation, operations.SeparateDatabaseAndState):
        for each in operation.database_operations:
            yield from flattened(each)
    else:
        yield operation


def faults(operation: Operation, look: Look, *, excused: bool) -> Iterator[str]:
    """Yield what is wrong with one operation."""
    what = operation.describe()
    model = str(getattr(operation, "model_name", getattr(operation, "name", ""))).lower()
    if model in look.new:
        return
    for check, contracts in CHECKS:
        if not (contracts and excused):
            yield from (f"{what}: {fault}" for fault in check(operation, look))


def taken_away(operation: Operation, look: Look) -> Iterator[str]:
    """Nothing that the version before uses goes away."""
    if isinstance(operation, TAKES_AWAY):
        yield "the version before still uses it. Say in `contract` since when not."
    if isinstance(operation, REFUSES_ROWS):
        yield "rows of the version before may break it. Say in `contract` why not."


def added(operation: Operation, look: Look) -> Iterator[str]:
    """Rows that know nothing of a field can still be inserted."""
    if not isinstance(operation, operations.AddField) or operation.field.many_to_many:
        return
    field = operation.field
    if not field.null and field.db_default is NOT_PROVIDED:
        yield "the version before inserts rows without it. Give it db_default or null."
    if field.unique and not field.null:
        yield "rows of the version before would all have the same. Let it be null."


def altered(operation: Operation, look: Look) -> Iterator[str]:
    """A field becomes wider, or stays."""
    if not isinstance(operation, operations.AlterField):
        return
    before, after = look.field(operation.model_name, operation.name), operation.field
    if before.get_internal_type() != after.get_internal_type() or moved(before, after):
        yield "it changes its type. Add another field, and move over."
        return
    if before.null and not after.null:
        yield "it refuses null, which the version before may write."
    if after.unique and not before.unique:
        yield "it becomes unique, which the version before does not know."
    if shorter(before.max_length, after.max_length):
        yield "it becomes shorter than what the version before may write."
    if before.db_default is not NOT_PROVIDED and after.db_default is NOT_PROVIDED:
        yield "it loses the default that the version before relies on."


def moved(before: Field[Any, Any], after: Field[Any, Any]) -> bool:
    """Tell whether a field is kept elsewhere, or as something else."""
    places = [
        (each.db_column, each.remote_field and each.remote_field.model) for each in (before, after)
    ]
    fixed = [[getattr(each, name, None) for name in FIXED] for each in (before, after)]
    return places[0] != places[1] or fixed[0] != fixed[1]


def shorter(before: int | None, after: int | None) -> bool:
    """Tell whether less fits."""
    return after is not None and (before is None or after < before)


def indexed(operation: Operation, look: Look) -> Iterator[str]:
    """Nobody waits for an index of a large table."""
    if look.said("locks"):
        return
    plain = isinstance(operation, operations.AddIndex) and not isinstance(
        operation, AddIndexConcurrently
    )
    if plain or isinstance(operation, operations.AlterIndexTogether) or gains(operation, look):
        yield "writers wait for its index. Add it concurrently, or say in `locks` why not."


def gains(operation: Operation, look: Look) -> bool:
    """Tell whether a field brings an index with it."""
    if isinstance(operation, operations.AddField):
        field: Any = operation.field
        return bool(not field.many_to_many and (field.db_index or field.unique))
    if isinstance(operation, operations.AlterField):
        before: Any = look.field(operation.model_name, operation.name)
        after: Any = operation.field
        return bool(after.db_index and not before.db_index)
    return False


def free_hand(operation: Operation, look: Look) -> Iterator[str]:
    """What is done by hand can be taken back, or says why not."""
    if isinstance(operation, operations.RunPython | operations.RunSQL):
        if not operation.reversible and not look.said("irreversible"):
            yield "it cannot be taken back. Give it a way back, or say in `irreversible` why."
    elif not isinstance(operation, KNOWN):
        yield "nobody here knows what that does."


def narrowing_sql(operation: Operation, look: Look) -> Iterator[str]:
    """SQL by hand takes nothing away either."""
    if isinstance(operation, operations.RunSQL) and NARROWING_SQL.search(str(operation.sql)):
        yield "it takes something away or makes it narrower. Say in `contract` since when."


KNOWN = (
    *TAKES_AWAY,
    *REFUSES_ROWS,
    *HARMLESS,
    operations.AddField,
    operations.AlterField,
    operations.AddIndex,
    operations.AlterIndexTogether,
)
Check = Callable[[Operation, Look], Iterator[str]]
# Each rule, and whether a contract excuses it.
CHECKS: tuple[tuple[Check, bool], ...] = (
    (taken_away, True),
    (added, True),
    (altered, True),
    (narrowing_sql, True),
    (indexed, False),
    (free_hand, False),
)


def found() -> Iterator[str]:
    """Yield what is wrong with the migrations after the baseline."""
    loader = MigrationLoader(None)
    for app, newest in BASELINE.items():
        old = set(loader.graph.forwards_plan((app, newest)))
        for key in sorted(each for each in loader.disk_migrations if each[0] == app):
            if key not in old:
                state = loader.project_state(key, at_end=False)
                for each in problems(loader.disk_migrations[key], state):
                    yield f"{app} {key[1]}: {each}"


def main() -> int:
    """Say what is wrong, if anything is."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ioa_site.settings")
    django.setup()
    wrong = list(found())
    sys.stdout.write("".join(f"{each}\n" for each in wrong) or "Every migration only adds.\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
