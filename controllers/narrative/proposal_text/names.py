"""The people behind actors, by the names they go by."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import User

from resources.tables.batches import batches

PERSON = "person/"


def names(actors: Iterable[str]) -> dict[str, str]:
    """Return the name of each actor such as `person/maya`; others keep what stands after `/`."""
    known = {each for each in actors if each}
    accounts = sorted(each.removeprefix(PERSON) for each in known if each.startswith(PERSON))
    found = {each: each.partition("/")[2] or each for each in known}
    for batch in batches(accounts):
        for person in User.objects.filter(username__in=batch):
            found[f"{PERSON}{person.get_username()}"] = named(person)
    return found


def named(person: User) -> str:
    """Return the name somebody goes by."""
    return person.get_full_name() or person.get_username()
