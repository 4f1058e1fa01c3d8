"""Keep check proposals, and who saw what they were."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('controllers', '0016_approval_groups'),
        ('resources', '0006_when_conditions_changed'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Check',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('salt', models.CharField(max_length=64)),
                ('made_at', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('answer', models.CharField(blank=True, db_default='', default='', max_length=16)),
                ('caught', models.BooleanField(null=True)),
                ('governance', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='checks', to='resources.resource')),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='checks', to=settings.AUTH_USER_MODEL)),
                ('proposal', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='seeded', to='controllers.proposal')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('governance',), name='one_open_check_per_governance')],
            },
        ),
    ]
