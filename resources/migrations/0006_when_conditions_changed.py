"""Note on each resource when its conditions last changed."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Of those that are there nobody knows: as far as anybody can tell, at their last change."""

    dependencies = [("resources", "0005_versions_are_no_keys")]

    operations = [
        migrations.AddField(
            model_name="resource",
            name="stated_version",
            field=models.BigIntegerField(default=0),
        ),
        migrations.RunSQL(
            "UPDATE resources_resource SET stated_version = resource_version",
            migrations.RunSQL.noop,
        ),
    ]
