"""Read what waits in the order in which it ends."""

from django.db import migrations, models


class Migration(migrations.Migration):

    locks = "Proposals are few beside resources and reports."

    dependencies = [
        ('controllers', '0017_checks'),
        ('resources', '0006_when_conditions_changed'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='proposal',
            index=models.Index(condition=models.Q(('state__in', ('recommended', 'pending'))), fields=['expires_at', 'id'], name='proposals_in_line'),
        ),
    ]
