"""Keep when schedules come next, and how far the ledger was listened to."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("controllers", "0010_answers_to_repeat"),
        ("resources", "0006_when_conditions_changed"),
    ]

    operations = [
        migrations.CreateModel(
            name="Timetable",
            fields=[
                ("workflow", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="+", serialize=False, to="resources.resource")),
                ("schedule", models.TextField()),
                ("next_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Heard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=32, unique=True)),
                ("upto", models.BigIntegerField()),
            ],
        ),
    ]
