"""Give the people of the groups the roles they have had so far."""

from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone

GRANTED = {
    "Viewers": "viewer",
    "Operators": "operator",
    "Approvers": "approver",
    "Auditors": "auditor",
    "Administrators": "administrator",
}


def grant(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Grant each group's role to its people; the first administrator decides, too."""
    groups = apps.get_model("auth", "Group").objects
    for name, role in GRANTED.items():
        for group in groups.filter(name=name):
            people = group.user_set.order_by("pk")
            for person in people:
                give(apps, person.pk, role)
            if role == "administrator" and people:
                give(apps, people[0].pk, "approver")


def give(apps: Apps, person: int, role: str) -> None:
    """Grant a role for the organisation, unless somebody holds it."""
    apps.get_model("controllers", "Grant").objects.get_or_create(
        person_id=person,
        role=role,
        domain="",
        defaults={"granted_by": "system/ioa", "granted_at": timezone.now()},
    )


class Migration(migrations.Migration):
    """Reversible: going back drops the table anyway."""

    dependencies = [
        ("controllers", "0003_decisions"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [migrations.RunPython(grant, migrations.RunPython.noop)]
