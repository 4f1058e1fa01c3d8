"""Make all tables of an empty database at once: migrations are for those who have rows already.

A migration draws every model that hangs together with those it changes, so a first start took
seconds for what takes a tenth of them. Both ways lead to the same, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from django.apps import apps
from django.core.management.sql import emit_post_migrate_signal, emit_pre_migrate_signal
from django.db import connection, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration, RunPython, RunSQL
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState, StateApps

# Whose migrations do more than change tables; those of others only move rows that are there.
OURS = ("resources", "controllers")


def is_empty() -> bool:
    """Tell whether nothing was ever made here."""
    return not connection.introspection.table_names()


def found() -> None:
    """Make everything in one transaction, and note every migration as done."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes(), clean_start=True)
    emit_pre_migrate_signal(0, False, connection.alias)
    executor.recorder.ensure_schema()
    with connection.schema_editor() as editor:
        for model in tables():
            editor.create_model(model)
        for migration, _ in plan:
            do_the_rest(migration, editor)
            executor.recorder.record_applied(migration.app_label, migration.name)
    emit_post_migrate_signal(0, False, connection.alias)


def tables() -> Iterator[type[models.Model]]:
    """Yield the models that have a table; with it come those between two of them."""
    for model in apps.get_models():
        about = model._meta
        if about.managed and not about.proxy and not about.swapped:
            yield model


def do_the_rest(migration: Migration, editor: BaseDatabaseSchemaEditor) -> None:
    """Do what a migration of ours does besides: triggers, a counter, how rows are stored."""
    if migration.app_label not in OURS:
        return
    for operation in migration.operations:
        if isinstance(operation, RunPython):
            # They were written for the models of their time; without rows today's are as good.
            operation.code(cast(StateApps, apps), editor)
        elif isinstance(operation, RunSQL):
            nothing = ProjectState()
            operation.database_forwards(migration.app_label, editor, nothing, nothing)
