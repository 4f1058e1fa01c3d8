"""Groups from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from controllers.access import roles
from controllers.access.roles.quorum import Declared
from controllers.models import ApprovalGroup
from ioa_site.server.terminal import shown
from ioa_site.work import caller
from ioa_site.work.channels import known
from ioa_site.work.door import named

HEADS = ("NAME", "MEMBERS", "ASKED FOR BY", "WHAT IT IS FOR")


def listed() -> list[tuple[str, ...]]:
    """Return a table of groups; one that only a policy knows is there, too."""
    asked = Declared.read().named_groups
    policies = {
        name: ", ".join(f"{each.governance}: {each.name}" for each in found)
        for name, found in asked.items()
    }
    rows = {
        each.name: (
            each.name,
            ", ".join(sorted(person.get_username() for person in each.members.all())) or "nobody",
            policies.get(each.name, ""),
            each.description,
        )
        for each in ApprovalGroup.objects.prefetch_related("members")
    }
    for name in asked:
        rows.setdefault(name, (name, "there is no such group", policies[name], ""))
    return [rows[name] for name in sorted(rows)]


def done(verb: str, name: str, person: str | None, given: Mapping[str, Any]) -> list[str]:
    """Do it; return what to say of it."""
    by, now = known(person), caller.now()
    if verb == "make":
        made = roles.add_group(name, given["about"], by=by, now=now)
        return [f"The group {made.name} is there, with nobody in it."]
    group = roles.find_group(name)
    if verb in ("add", "remove"):
        return moved(verb, group, [named(each) for each in given["people"]], by)
    if verb == "delete":
        roles.delete_group(group, by=by, now=now)
        return [f"The group {group.name} is deleted."]
    about = given.get("about", group.description)
    new = given.get("new") or group.name
    roles.change_group(group, by=by, now=now, name=new, description=about)
    return [f"The group {group.name} is changed."]


def moved(verb: str, group: ApprovalGroup, people: list[User], by: User) -> list[str]:
    """Put people in or take them out, all or none."""
    said, now = [], caller.now()
    with transaction.atomic():
        for each in people:
            change = roles.add_member if verb == "add" else roles.remove_member
            changed = change(group, each, by=by, now=now)
            inside = "in" if verb == "add" else "not in"
            before = "" if changed else ", as before"
            said.append(f"{shown(each.get_username(), 100)} is {inside} {group.name}{before}.")
    return said
