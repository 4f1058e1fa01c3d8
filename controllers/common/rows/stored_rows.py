"""Rows as the engine's values, read with as little in between as possible: a cycle reads them all.

One statement reads a resource with its conditions and with what was concluded about it. Documents
and times come as text, which the drivers hand over fastest. What every look needs is decoded when
its turn comes, the rest when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any

import orjson
from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from controllers.common.rows.lazy_values import Stored, StoredJudgement, beyond
from controllers.common.rows.queries import listed
from controllers.engine.terms import Condition, Document, Judgement, Resource
from resources.tables.models import Resource as ResourceRow

RESOURCES = """
    SELECT r.id, CAST(r.uid AS text), r.kind, r.name, r.domain, r.generation, r.resource_version,
      CAST(r.metadata AS text), CAST(r.spec AS text), CAST(r.status AS text), {conditions},
      CAST(r.created_at AS text), CAST(r.reported_at AS text),
      j.resource_id, j.generation, j.version, j.basis, j.score, CAST(j.drifted AS integer),
      j.status, j.reason, j.message, j.urgency, CAST(j.dimensions AS text),
      CAST(j.evidence AS text), CAST(j.since AS text), CAST(j.evaluated_at AS text),
      CAST(j.recheck_at AS text), CAST(j.episode AS text), j.plan
    FROM resources_resource r
    LEFT JOIN controllers_judgement j
      ON j.controller_id = %s AND j.resource_id = r.id AND j.resource_id > %s
    WHERE r.deleted_at IS NULL AND r.id > %s AND r.id IN ({keys}) ORDER BY r.id
"""
# SQLite gives all conditions of a resource as one text: a row for each would cost more than what
# it holds. For PostgreSQL it is the other way round.
CONDITIONS = {
    "sqlite": """(SELECT json_group_array(json_array(type, status, reason, message, managed_by,
        json(extra))) FROM resources_condition WHERE resource_id = r.id)""",
    "postgresql": "NULL",
}
NO_CONDITIONS = "'[]'"
STATED_ABOUT = """
    SELECT resource_id, type, status, reason, message, managed_by, CAST(extra AS text)
    FROM resources_condition WHERE resource_id = ANY (%s::bigint[])
"""
# Where the parts of a row begin.
SPEC, STATUS, STATED, JUDGED = 8, 9, 10, 13
NOBODY = 0
Row = tuple[Any, ...]
# Spec, status and conditions, the last as bare values.
Documents = tuple[Document, Document, list[Any]]
loads = orjson.loads


# As the types themselves would, without a detour.
_condition = partial(tuple.__new__, Condition)
_resource = partial(tuple.__new__, Stored)
_judgement = partial(tuple.__new__, StoredJudgement)


@dataclass(frozen=True)
class StoredRows:
    """Living resources with what was concluded about them, as the driver gives them."""

    rows: list[tuple[Any, ...]]

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
            yield resource(row, documents(row)), judged(row)


def documents(row: Row) -> Documents:
    """Decode what every look needs: spec, status and conditions."""
    stated = row[STATED]
    conditions = loads(stated) if isinstance(stated, str) else stated
    return loads(row[SPEC]), loads(row[STATUS]), conditions


def resource(row: Row, documents: Documents) -> Resource:
    """Make a resource of its row; its conditions are ordered by type."""
    spec, status, stated = documents
    stated.sort(key=itemgetter(0))
    return _resource((*row[:SPEC], spec, status, tuple(map(_condition, stated)), *row[11:13]))


def judged(row: Row) -> Judgement | None:
    """Make a judgement of a row, if there is one."""
    return _judgement(row[JUDGED:]) if row[JUDGED] is not None else None


def keys_of(found: QuerySet[ResourceRow]) -> RawSQL:
    """Name the keys a query finds, without asking for them."""
    statement, parameters = found.values("pk").query.sql_with_params()
    return RawSQL(statement, parameters)  # noqa: S611 - our own statement


def read(found: QuerySet[ResourceRow]) -> list[Resource]:
    """Read living resources with their conditions, in the order of their keys."""
    return [each for each, _ in resources(keys_of(found.order_by()))]


def resources(
    keys: RawSQL, controller: int = NOBODY, after: int = 0, *, stated: bool = True
) -> StoredRows:
    """Read the living among these resources, and what a controller concluded about them.

    All of them come after some key: PostgreSQL would begin at the first there is. Their conditions
    are left out where nobody asks for them.
    """
    conditions = CONDITIONS[connection.vendor] if stated else NO_CONDITIONS
    statement = RESOURCES.format(conditions=conditions, keys=keys.sql)
    with connection.cursor() as cursor:
        cursor.execute(statement, [controller, after, after, *keys.params])
        found = cursor.fetchall()
        if stated and connection.vendor == "postgresql" and found:
            cursor.execute(STATED_ABOUT, [listed(row[0] for row in found)])
            found = with_conditions(found, cursor.fetchall())
        return StoredRows(found)


def with_conditions(found: Iterable[Row], stated: Iterable[Row]) -> list[Row]:
    """Put conditions into the rows of their resources."""
    about: dict[int, list[Any]] = {}
    for key, *values, extra in stated:
        values.append(beyond(extra))
        about.setdefault(key, []).append(values)
    return [(*row[:STATED], about.get(row[0], []), *row[STATED + 1 :]) for row in found]
