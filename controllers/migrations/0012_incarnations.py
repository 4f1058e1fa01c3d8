"""Keep the lives of the database, so that a restored one is noticed."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("controllers", "0011_triggers")]

    operations = [
        migrations.CreateModel(
            name="Incarnation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(editable=False, unique=True)),
                ("accepted_at", models.DateTimeField(null=True)),
                ("accepted_by", models.CharField(blank=True, max_length=300)),
            ],
        ),
    ]
