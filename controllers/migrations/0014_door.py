"""Keep failed sign-ins, where people are signed in, and which grants come from groups."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("controllers", "0012_incarnations"),
    ]

    operations = [
        migrations.AddField(
            model_name="grant",
            name="source",
            field=models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        migrations.CreateModel(
            name="Lockout",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("account", models.CharField(blank=True, max_length=150)),
                ("address", models.CharField(max_length=45)),
                ("failures", models.PositiveIntegerField()),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("account", "address"), name="one_lockout_per_account_and_address")],
            },
        ),
        migrations.CreateModel(
            name="Visit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session", models.CharField(max_length=40, unique=True)),
                ("method", models.CharField(max_length=20)),
                ("address", models.CharField(max_length=45)),
                ("device", models.CharField(max_length=100)),
                ("began_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("person", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="visits", to=settings.AUTH_USER_MODEL)),
            ],
            options={"ordering": ["-seen_at"]},
        ),
    ]
