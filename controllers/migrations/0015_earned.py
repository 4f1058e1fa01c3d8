"""Keep drills of the way to step in, and the autonomy that controllers have earned."""

import django.db.models.deletion
import resources.tables.fields
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('controllers', '0014_door'),
        ('resources', '0006_when_conditions_changed'),
    ]

    operations = [
        migrations.AddField(
            model_name='proposal',
            name='delayed',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name='Autonomy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('operation', models.CharField(max_length=100)),
                ('domain', models.CharField(blank=True, max_length=253)),
                ('generation', models.PositiveBigIntegerField()),
                ('granted_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('ended_by', models.CharField(blank=True, max_length=300)),
                ('end_reason', models.TextField(blank=True)),
                ('controller', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='autonomy', to='resources.resource')),
                ('proposal', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='controllers.proposal')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('controller', 'operation', 'domain'), name='one_autonomy_per_operation')],
            },
        ),
        migrations.CreateModel(
            name='Drill',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('state', models.CharField(choices=[('asked', 'Asked'), ('running', 'Running'), ('passed', 'Passed'), ('failed', 'Failed')], max_length=7)),
                ('author', models.CharField(max_length=300)),
                ('asked_at', models.DateTimeField()),
                ('begun_at', models.DateTimeField(null=True)),
                ('until', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('evidence', resources.tables.fields.DocumentField(default=list)),
                ('problem', models.TextField(blank=True)),
                ('controller', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='resources.resource')),
                ('governance', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drills', to='resources.resource')),
                ('hold', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='controllers.hold')),
                ('target', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='resources.resource')),
            ],
            options={
                'indexes': [models.Index(fields=['state', 'until'], name='drills_open')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ('asked', 'running'))), fields=('governance',), name='one_open_drill_per_governance')],
            },
        ),
    ]
