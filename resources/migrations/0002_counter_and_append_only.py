"""The change counter of each database, and a ledger that refuses to be rewritten."""

from __future__ import annotations

from django.db import migrations

TABLES = ("resources_ledgerevent", "resources_checkpoint")

POSTGRESQL = """
    CREATE SEQUENCE resources_change_seq;
    CREATE FUNCTION resources_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'The ledger is append-only.'; END $$;
"""
POSTGRESQL_TABLE = """
    CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table}
      FOR EACH ROW EXECUTE FUNCTION resources_append_only();
    CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON {table}
      FOR EACH STATEMENT EXECUTE FUNCTION resources_append_only();
"""
SQLITE_TABLE = """
    CREATE TRIGGER {table}_no_{verb} BEFORE {verb} ON {table}
    BEGIN SELECT RAISE(ABORT, 'The ledger is append-only.'); END
"""


def protect(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL)
        for table in TABLES:
            schema_editor.execute(POSTGRESQL_TABLE.format(table=table))
        return
    apps.get_model("resources", "ChangeCounter").objects.create(id=1, value=0)
    for table in TABLES:
        for verb in ("UPDATE", "DELETE"):
            schema_editor.execute(SQLITE_TABLE.format(table=table, verb=verb))


def release(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP SEQUENCE resources_change_seq")
        schema_editor.execute("DROP FUNCTION resources_append_only CASCADE")
        return
    for table in TABLES:
        for verb in ("UPDATE", "DELETE"):
            schema_editor.execute(f"DROP TRIGGER {table}_no_{verb}")


class Migration(migrations.Migration):
    dependencies = [("resources", "0001_initial")]
    operations = [migrations.RunPython(protect, release)]
