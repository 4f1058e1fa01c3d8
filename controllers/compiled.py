"""Controllers ready to run: each document is compiled once for each of its generations."""

from __future__ import annotations

from functools import lru_cache

from controllers.engine import configuration, targets
from controllers.engine.types import Controller
from controllers.rows import read
from resources.models import Resource

Invalid = configuration.Invalid


def load(key: int) -> Controller:
    """Compile a controller as it is declared now; raises `Invalid` or `Resource.DoesNotExist`."""
    row = Resource.objects.only("generation").get(pk=key, kind="Controller", deleted_at=None)
    return compiled(key, row.generation)


@lru_cache(maxsize=1_024)
def compiled(key: int, generation: int) -> Controller:
    """Compile one generation of a controller."""
    found = read(Resource.objects.filter(pk=key, kind="Controller", generation=generation))
    if not found:
        raise Resource.DoesNotExist
    return configuration.read(found[0])


def every() -> list[Controller]:
    """Compile all controllers that can be run; one that cannot does not keep the others back."""
    rows = Resource.objects.filter(kind="Controller", deleted_at=None).order_by("pk")
    return [
        each for each in map(attempt, rows.values_list("pk", "generation")) if each is not None
    ]


def attempt(row: tuple[int, int]) -> Controller | None:
    """Compile a controller, or nothing."""
    try:
        return compiled(*row)
    except (Invalid, Resource.DoesNotExist):
        return None


def reads(controller: Controller) -> frozenset[str]:
    """Return the kinds a controller's judgements rest on, besides its targets."""
    own = set(targets.by_kind(controller.kind).reads)
    for hook in (*controller.before, *controller.after):
        own |= hook.reads
    if any(each.type == "escalate" for each in controller.on_drift):
        own.add("Governance")
    return frozenset(own)
