"""Rows as the engine's values, read with as little in between as possible: a cycle reads them all.

One statement reads a resource with its conditions and with what was concluded about it. Documents
and times come as text, which the drivers hand over fastest. What every look needs is decoded when
its turn comes, the rest when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from controllers.engine.types import Condition, Document, Episode, Judgement, Resource
from resources.models import Resource as ResourceRow
from resources.snapshots import parse_instant

RESOURCES = """
    SELECT r.id, CAST(r.uid AS text), r.kind, r.name, r.domain, r.generation, r.resource_version,
      CAST(r.metadata AS text), CAST(r.spec AS text), CAST(r.status AS text), {conditions},
      CAST(r.created_at AS text), CAST(r.reported_at AS text),
      j.resource_id, j.generation, j.version, j.basis, j.score, CAST(j.drifted AS integer),
      j.status, j.reason, j.message, j.urgency, CAST(j.dimensions AS text),
      CAST(j.evidence AS text), CAST(j.since AS text), CAST(j.evaluated_at AS text),
      CAST(j.recheck_at AS text), CAST(j.episode AS text), j.plan
    FROM resources_resource r
    LEFT JOIN controllers_judgement j ON j.controller_id = %s AND j.resource_id = r.id
    WHERE r.deleted_at IS NULL AND r.id IN ({keys}) ORDER BY r.id
"""
# All conditions of a resource as one text: a row for each would cost more than what it holds.
CONDITIONS = {
    "sqlite": """(SELECT json_group_array(json_array(type, status, reason, message, managed_by,
        extra)) FROM resources_condition WHERE resource_id = r.id)""",
    "postgresql": """(SELECT '[' || string_agg('[' || to_json(type) || ',"' || status || '",'
        || to_json(reason) || ',' || to_json(message) || ',' || to_json(managed_by) || ','
        || to_json(extra::text) || ']', ',') || ']'
        FROM resources_condition WHERE resource_id = r.id)""",
}
# Where the parts of a row begin.
SPEC, STATUS, STATED, JUDGED = 8, 9, 10, 13
NOBODY = 0
NO_LABELS: Mapping[str, str] = {}
NOTHING: Document = {}
QUIET = Episode()


class Stored(Resource):
    """A resource of which the parts that few looks need are still as they are stored."""

    __slots__ = ()

    @property
    def uid(self) -> str:
        """Its uid; SQLite keeps it without dashes."""
        uid = super().uid
        if len(uid) != 32:
            return uid
        return f"{uid[:8]}-{uid[8:12]}-{uid[12:16]}-{uid[16:20]}-{uid[20:]}"

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        stored: Any = super().labels
        return orjson.loads(stored).get("labels") or NO_LABELS

    @property
    def created_at(self) -> datetime | None:
        """When it was first declared."""
        stored: Any = super().created_at
        return moment(stored)

    @property
    def reported_at(self) -> datetime | None:
        """When it last reported."""
        stored: Any = super().reported_at
        return moment(stored)


class StoredJudgement(Judgement):
    """A judgement as it is stored: most stand, and nobody asks for more than a few parts."""

    __slots__ = ()

    @property
    def drifted(self) -> bool:
        """Whether it found drift; SQLite knows only numbers."""
        return bool(super().drifted)

    @property
    def dimensions(self) -> Document:
        """Its figures."""
        stored: Any = super().dimensions
        return beyond(stored)

    @property
    def evidence(self) -> tuple[Document, ...]:
        """What is not well."""
        stored: Any = super().evidence
        return () if stored == "[]" else tuple(orjson.loads(stored))

    @property
    def since(self) -> datetime:
        """Since when it holds."""
        stored: Any = super().since
        return when(stored)

    @property
    def evaluated_at(self) -> datetime:
        """When it was made."""
        stored: Any = super().evaluated_at
        return when(stored)

    @property
    def recheck_at(self) -> datetime | None:
        """When the clock alone may change it."""
        stored: Any = super().recheck_at
        return moment(stored)

    @property
    def episode(self) -> Episode:
        """The story of its drift."""
        stored: Any = super().episode
        return episode(stored)

    @property
    def plain(self) -> bool:
        """Whether it found nothing amiss and has no story to go on with."""
        stored: tuple[Any, ...] = self
        return stored[11] == "[]" and stored[15] == "{}" and not stored[16]

    def whole(self) -> Judgement:
        """Decode all its parts."""
        return Judgement._make([getattr(self, name) for name in Judgement._fields])


class Outline(NamedTuple):
    """What is known of a resource before its documents are decoded."""

    key: int
    name: str
    domain: str


# As the types themselves would, without a detour.
_condition = partial(tuple.__new__, Condition)
_resource = partial(tuple.__new__, Stored)
_judgement = partial(tuple.__new__, StoredJudgement)


@dataclass(frozen=True)
class Found:
    """Living resources with what was concluded about them, as the driver gives them."""

    rows: list[tuple[Any, ...]]

    @property
    def keys(self) -> list[int]:
        """Their keys, in order."""
        return [row[0] for row in self.rows]

    def outlines(self) -> list[Outline]:
        """Return what needs no decoding."""
        return [Outline(row[0], row[3], row[4]) for row in self.rows]

    def without(self, keys: set[int]) -> Found:
        """Leave some out."""
        return Found([row for row in self.rows if row[0] not in keys]) if keys else self

    def disputed(self) -> list[int]:
        """Return those declared anew since they were judged, whose drift has a story."""
        return [
            row[0]
            for row in self.rows
            if row[JUDGED] is not None and row[JUDGED + 1] != row[5] and row[-2] != "{}"
        ]

    def __iter__(self) -> Iterator[tuple[Resource, Judgement | None]]:
        """Decode each resource when it is looked at: together they would leave the cache."""
        for row in self.rows:
            spec, status = orjson.loads(row[SPEC]), orjson.loads(row[STATUS])
            parts = (*row[:SPEC], spec, status, conditions(row[STATED]), row[11], row[12])
            yield _resource(parts), _judgement(row[JUDGED:]) if row[JUDGED] is not None else None


def these(keys: Iterable[int]) -> RawSQL:
    """Name many keys in one parameter: a parameter for each would cost more than what is read."""
    listed = ",".join(map(str, keys))
    if connection.vendor == "postgresql":
        return RawSQL("SELECT unnest(%s::bigint[])", [f"{{{listed}}}"])
    return RawSQL("SELECT value FROM json_each(%s)", [f"[{listed}]"])


def keys_of(found: QuerySet[ResourceRow]) -> RawSQL:
    """Name the keys a query finds, without asking for them."""
    statement, parameters = found.values("pk").query.sql_with_params()
    return RawSQL(statement, parameters)  # noqa: S611 - our own statement


def read(found: QuerySet[ResourceRow]) -> list[Resource]:
    """Read living resources with their conditions, in the order of their keys."""
    return [each for each, _ in resources(keys_of(found.order_by()))]


def resources(keys: RawSQL, controller: int = NOBODY) -> Found:
    """Read the living among these resources, and what a controller concluded about them."""
    statement = RESOURCES.format(conditions=CONDITIONS[connection.vendor], keys=keys.sql)
    with connection.cursor() as cursor:
        cursor.execute(statement, [controller, *keys.params])
        return Found(cursor.fetchall())


def conditions(stored: str | None) -> tuple[Condition, ...]:
    """Read the conditions of a resource, ordered by type."""
    if not stored:
        return ()
    listed = orjson.loads(stored)
    listed.sort()
    for each in listed:
        each[5] = beyond(each[5]) if each[5] != "{}" else NOTHING
    return tuple(map(_condition, listed))


def when(value: str) -> datetime:
    """Read a time; SQLite keeps it without its zone, in UTC."""
    read = datetime.fromisoformat(value)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def moment(value: str | None) -> datetime | None:
    """Read a time, if there is one."""
    return when(value) if value else None


@lru_cache(maxsize=4_096)
def beyond(written: str) -> Document:
    """Read a small document of which many are the same."""
    found: Document = orjson.loads(written)
    return found


def episode(stored: str) -> Episode:
    """Read an episode; most resources have none."""
    if stored == "{}":
        return QUIET
    told = orjson.loads(stored)
    times = {key: parse_instant(told[key]) for key in ("since", "settled_at") if key in told}
    return Episode(**{**told, **times})


def story(episode: Episode) -> dict[str, Any]:
    """Write an episode; what is as it always was is left out."""
    if episode == QUIET:
        return {}
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in episode._asdict().items()
        if value != getattr(QUIET, key)
    }
