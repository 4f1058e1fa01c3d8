"""Who changed a resource, as its revisions tell: controllers must not start over for each other.

What a person declares begins a new story. What controllers declare goes on with the old one, or
two of them that undo each other would do so for ever.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from django.db.models import F

from controllers.engine.types import Episode, Judgement
from controllers.rows import Outline
from resources.models import ResourceRevision

QUIET = Episode()
CONTROLLER = "controller/"


def changed_by(
    controller: int, targets: Iterable[Outline], judged: Mapping[int, Judgement]
) -> dict[int, tuple[str, ...]]:
    """Return which controllers, and nobody else, declared resources anew since they were judged.

    Asked only where it matters: of resources whose drift has a story.
    """
    keys = [
        each.key
        for each in targets
        if (before := judged.get(each.key)) is not None
        and before.generation != each.generation
        and before.episode != QUIET
    ]
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
