"""Keep what was answered to requests that their callers named."""

from django.db import migrations, models

import resources.tables.fields


class Migration(migrations.Migration):

    dependencies = [("controllers", "0009_telemetry_and_runs")]

    operations = [
        migrations.CreateModel(
            name="Answered",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("actor", models.CharField(max_length=300)),
                ("key", models.CharField(max_length=200)),
                ("digest", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField()),
                ("body", resources.tables.fields.DocumentField(default=dict)),
                ("at", models.DateTimeField(db_index=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("actor", "key"), name="one_answer_for_each_request")],
            },
        ),
    ]
