"""Groups that policies name: administrators of the organisation make, fill and delete them.

Being in a group gives nothing: a member decides only with an approver's grant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from controllers.access import people
from controllers.access.roles.grants import administrators
from controllers.access.roles.quorum import Declared
from controllers.models import ApprovalGroup, Membership
from resources.documents import reader
from resources.documents.problems import denied, invalid, missing, refused
from resources.store import announcements
from resources.tables import ledger

NAME = re.compile(r"[a-z][a-z0-9-]{0,62}")
LONGEST_DESCRIPTION = 500


def add_group(name: str, description: str, *, by: User, now: datetime) -> ApprovalGroup:
    """Make a group with nobody in it."""
    check_words(name, description)
    made = ApprovalGroup(
        name=name,
        description=description.strip(),
        created_by=str(people.actor_for(by)),
        created_at=now,
    )
    try:
        with transaction.atomic():
            check_administers(by, now)
            made.save(force_insert=True)
            note(made, "group.made", {"description": made.description}, by=by, now=now)
    except IntegrityError:
        raise refused(f"There is a group called {name} already.") from None
    return made


def change_group(
    group: ApprovalGroup, *, by: User, now: datetime, name: str = "", description: str
) -> bool:
    """Call a group something else, or say otherwise what it is for; tells whether it changed.

    A name that policies use stays: under another one they would find nobody.
    """
    wanted, said = name or group.name, description.strip()
    check_words(wanted, said)
    try:
        with transaction.atomic():
            check_administers(by, now)
            if wanted != group.name:
                check_unnamed(group, "called something else")
            # Whoever was faster has changed it; what they saw is not there any more.
            mine = ApprovalGroup.objects.filter(pk=group.pk, name=group.name)
            changed = mine.exclude(name=wanted, description=said)
            if not changed.update(name=wanted, description=said):
                if not mine.exists():
                    raise missing(f"There is no group {group.name} any more.")
                return False
            told = {"name": wanted, "description": said, "formerly": group.name}
            note(group, "group.changed", told, by=by, now=now)
    except IntegrityError:
        raise refused(f"There is a group called {wanted} already.") from None
    group.name, group.description = wanted, said
    return True


def delete_group(group: ApprovalGroup, *, by: User, now: datetime) -> bool:
    """Delete a group that no policy names; tells whether it was there."""
    with transaction.atomic():
        check_administers(by, now)
        check_unnamed(group, "deleted")
        members = sorted(group.members.values_list("username", flat=True))
        gone, _ = ApprovalGroup.objects.filter(pk=group.pk).delete()
        if gone:
            told = {"members": [f"person/{each}" for each in members]}
            note(group, "group.deleted", told, by=by, now=now)
    return bool(gone)


def add_member(group: ApprovalGroup, person: User, *, by: User, now: datetime) -> bool:
    """Put somebody into a group; tells whether they were not in it yet."""
    with transaction.atomic():
        check_administers(by, now)
        if by.pk == person.pk:
            raise denied("OwnRights", "Nobody puts themselves into a group. Ask somebody else.")
        if not User.objects.filter(pk=person.pk, is_active=True).exists():
            raise refused(f"{person.get_username()} is not active.")
        # Whoever deletes the group meanwhile waits, or is waited for.
        found = ApprovalGroup.objects.select_for_update().filter(pk=group.pk).first()
        if found is None:
            raise missing(f"There is no group {group.name} any more.")
        _, added = Membership.objects.get_or_create(
            group=found,
            person=person,
            defaults={"added_by": str(people.actor_for(by)), "added_at": now},
        )
        if added:
            note(found, "group.joined", whom(person), by=by, now=now)
    return added


def remove_member(group: ApprovalGroup, person: User, *, by: User, now: datetime) -> bool:
    """Take somebody out of a group, at once; tells whether they were in it."""
    with transaction.atomic():
        check_administers(by, now)
        taken, _ = Membership.objects.filter(group=group.pk, person=person.pk).delete()
        if taken:
            note(group, "group.left", whom(person), by=by, now=now)
    return bool(taken)


def find_group(name: str) -> ApprovalGroup:
    """Return a group by its name."""
    found = ApprovalGroup.objects.filter(name=name.replace("\x00", "")).first()
    if found is None:
        raise missing(f"There is no group {name}.")
    return found


def check_administers(by: User, now: datetime) -> None:
    """Raise unless somebody administers the organisation; rights change one after the other."""
    if by.pk not in {each.person_id for each in administrators("", now)}:
        said = "Only an administrator of the organisation looks after groups."
        raise denied("NotAdministrator", said)


def check_words(name: str, description: str) -> None:
    """Raise unless a group can be called and described so."""
    if not NAME.fullmatch(name):
        raise invalid(
            "A group's name has up to 63 small letters, digits and hyphens, a letter first."
        )
    if len(description.strip()) > LONGEST_DESCRIPTION:
        raise invalid(f"A description has at most {LONGEST_DESCRIPTION} characters.")
    for fault in reader.text_faults(description):
        raise invalid(f"The description cannot be kept: {fault}")


def check_unnamed(group: ApprovalGroup, deed: str) -> None:
    """Raise while a policy names a group."""
    naming = Declared.read().naming(group.name)
    if naming:
        named = ", ".join(f"{each.name} of governance/{each.governance}" for each in naming[:5])
        raise refused(f"{group.name} cannot be {deed}: these policies name it: {named}.")


def whom(person: User) -> dict[str, str]:
    """Name somebody as the ledger keeps it."""
    return {"person": f"person/{person.get_username()}"}


def note(
    group: ApprovalGroup, event: str, payload: Mapping[str, Any], *, by: User, now: datetime
) -> None:
    """Write what became of a group into its chain."""
    entry = ledger.Entry(
        stream=f"group/{group.uid}", event=event, subject=str(group), payload=payload
    )
    ledger.append([entry], actor=people.actor_for(by), now=now)
    announcements.announce()
