"""Leave room beside each judgement, so that one that stands is renewed where it is."""

from __future__ import annotations

from typing import Any

from django.db import migrations


def leave_room(_: Any, schema_editor: Any) -> None:
    """Fill pages only in part: a new version of a row then needs no new entry in any index."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE controllers_judgement SET (fillfactor = 50)")


def take_room(_: Any, schema_editor: Any) -> None:
    """Fill pages as usual."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE controllers_judgement RESET (fillfactor)")


class Migration(migrations.Migration):
    """Nothing but how PostgreSQL stores a table that every cycle rewrites."""

    dependencies = [("controllers", "0005_preferences")]

    operations = [migrations.RunPython(leave_room, take_room)]
