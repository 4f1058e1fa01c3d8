"""Controllers ready to run: each document is compiled once for each of its generations."""

from __future__ import annotations

from functools import lru_cache

from django.db.models import QuerySet

from controllers.common.rows import Prepared, Slot, read
from controllers.engine import configuration
from controllers.engine.terms import Controller
from resources.tables.models import Resource

Invalid = configuration.Invalid


def load(key: int) -> Controller:
    """Compile a controller as it is declared now; raises `Invalid` or `Resource.DoesNotExist`."""
    found = GENERATION(key=key)
    if not found:
        raise Resource.DoesNotExist
    return compiled(key, found[0][0])


@lru_cache(maxsize=1_024)
def compiled(key: int, generation: int) -> Controller:
    """Compile one generation of a controller."""
    found = read(Resource.objects.filter(pk=key, kind="Controller", generation=generation))
    if not found:
        raise Resource.DoesNotExist
    return configuration.read(found[0])


def declared() -> QuerySet[Resource]:
    """Return all controllers there are."""
    return Resource.objects.filter(kind="Controller", deleted_at=None)


# Asked several times in every cycle.
GENERATION = Prepared(lambda: declared().filter(pk=Slot("key")).values_list("generation"))


def every() -> list[Controller]:
    """Compile all controllers that can be run; one that cannot does not keep the others back."""
    rows = declared().order_by("pk").values_list("pk", "generation")
    return [each for each in map(attempt, rows) if each is not None]


def attempt(row: tuple[int, int]) -> Controller | None:
    """Compile a controller, or nothing."""
    try:
        return compiled(*row)
    except (Invalid, Resource.DoesNotExist):
        return None
