"""Who changed a resource, as its revisions tell: controllers must not start over for each other.

What a person declares begins a new story. What controllers declare goes on with the old one, or
two of them that undo each other would do so for ever.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db import connection
from django.db.models import F
from django.db.models.expressions import RawSQL

from controllers.common.rows import these
from resources.tables.models import Resource, ResourceRevision

CONTROLLER = "controller/"
TOTAL = """
    SELECT COUNT(*), COALESCE(SUM(resource_version), 0) FROM resources_resource
    WHERE deleted_at IS NULL AND id IN ({keys})
"""


def changed_by(controller: int, keys: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Return which controllers, and nobody else, declared resources anew since they were judged.

    Asked only where it matters: of resources whose drift has a story.
    """
    if not keys:
        return {}
    declared = ResourceRevision.objects.filter(
        resource__in=keys,
        spec__isnull=False,
        resource__judged__controller=controller,
        generation__gt=F("resource__judged__generation"),
    )
    actors: dict[int, set[str]] = defaultdict(set)
    for key, actor in declared.values_list("resource_id", "actor"):
        actors[key].add(actor)
    return {
        key: tuple(sorted(names))
        for key, names in actors.items()
        if all(name.startswith(CONTROLLER) for name in names)
    }


def changed_by_others(versions: Mapping[int, int], actor: str) -> frozenset[int]:
    """Return the resources that somebody else changed after these versions."""
    if not versions:
        return frozenset()
    since = ResourceRevision.objects.filter(
        resource__in=list(versions), resource_version__gt=min(versions.values())
    ).exclude(actor=actor)
    return frozenset(
        key
        for key, version in since.values_list("resource_id", "resource_version")
        if version > versions[key]
    )


class Moved(NamedTuple):
    """Resources that are no longer as they were read."""

    by_others: frozenset[int] = frozenset()
    by_us: frozenset[int] = frozenset()
    gone: frozenset[int] = frozenset()


def moved_on(read: Mapping[int, int], actor: str) -> Moved:
    """Find the resources that are no longer as they were read, and who changed them."""
    # Versions only grow: as long as neither the number nor the sum moves, none has.
    if total(these(read)) == (len(read), sum(read.values())):
        return Moved()
    living = Resource.objects.filter(pk__in=these(read), deleted_at=None)
    found = dict(living.values_list("pk", "resource_version"))
    changed = {key: read[key] for key, version in found.items() if read[key] != version}
    others = changed_by_others(changed, actor)
    return Moved(others, frozenset(changed) - others, frozenset(read.keys() - found.keys()))


def total(keys: RawSQL) -> tuple[int, int]:
    """Count the living among some resources, and add up their versions."""
    with connection.cursor() as cursor:
        cursor.execute(TOTAL.format(keys=keys.sql), keys.params)
        count, versions = cursor.fetchone()
        return count, int(versions)
