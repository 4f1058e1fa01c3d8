"""Controllers that others run, how far work has come, and what people want to be different."""

from __future__ import annotations

from typing import Any

import resources.tables.fields
from django.db import migrations, models


def mark_external(apps: Any, _: Any) -> None:
    """Mark what was declared to run outside before."""
    rows = apps.get_model("resources", "Resource").objects.filter(kind="Controller")
    keys = [row.pk for row in rows.iterator() if row.spec.get("runner") == "external"]
    apps.get_model("controllers", "Runtime").objects.filter(pk__in=keys).update(external=True)


class Migration(migrations.Migration):
    """New columns, all of them empty to begin with."""

    dependencies = [("controllers", "0007_admission_and_accounting")]

    operations = [
        migrations.AddField(
            model_name="runtime",
            name="external",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="runtime",
            name="heard_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="proposal",
            name="feedback",
            field=resources.tables.fields.DocumentField(default=dict),
        ),
        migrations.AddField(
            model_name="step",
            name="percent",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="step",
            name="note",
            field=models.CharField(blank=True, max_length=300),
        ),
        migrations.AddField(
            model_name="step",
            name="noted_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="step",
            name="requests",
            field=resources.tables.fields.DocumentField(default=dict),
        ),
        migrations.RunPython(mark_external, migrations.RunPython.noop),
    ]
