"""Rows as the engine's values, read with as little in between as possible: a cycle reads them all.

Documents and times come as text, which the drivers hand over fastest, and are decoded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from controllers.engine.types import Condition, Document, Episode, Judgement, Resource
from resources.models import Resource as ResourceRow
from resources.snapshots import parse_instant

RESOURCES = """
    SELECT id, CAST(uid AS text), kind, name, domain, generation, resource_version,
      CAST(metadata AS text), CAST(spec AS text), CAST(status AS text), {created_at}, {reported_at}
    FROM resources_resource WHERE deleted_at IS NULL AND id IN ({keys}) ORDER BY id
"""
CONDITIONS = """
    SELECT resource_id, type, status, reason, message, managed_by, CAST(extra AS text)
    FROM resources_condition WHERE resource_id IN ({keys}) ORDER BY resource_id, type
"""
JUDGEMENTS = """
    SELECT resource_id, generation, version, basis, score, drifted, status, reason, message,
      urgency, CAST(dimensions AS text), CAST(evidence AS text), {since}, {evaluated_at},
      {recheck_at}, CAST(episode AS text), plan
    FROM controllers_judgement WHERE controller_id = %s AND resource_id IN ({keys})
"""
TIMES = ("created_at", "reported_at", "since", "evaluated_at", "recheck_at")
NO_LABELS: Mapping[str, str] = {}
QUIET = Episode()


def these(keys: Iterable[int]) -> RawSQL:
    """Name many keys in one parameter: a parameter for each would cost more than what is read."""
    listed = ",".join(map(str, keys))
    if connection.vendor == "postgresql":
        return RawSQL("SELECT unnest(%s::bigint[])", [f"{{{listed}}}"])
    return RawSQL("SELECT value FROM json_each(%s)", [f"[{listed}]"])


def read(found: QuerySet[ResourceRow]) -> list[Resource]:
    """Read living resources with their conditions, in the order of their keys."""
    statement, parameters = found.order_by().values("pk").query.sql_with_params()
    return list(resources(RawSQL(statement, parameters)))  # noqa: S611 - our own statement


class Outline(NamedTuple):
    """What is known of a resource before its documents are decoded."""

    key: int
    name: str
    domain: str
    generation: int


@dataclass(frozen=True)
class Found:
    """Living resources with their conditions, as the driver gives them."""

    resources: list[tuple[Any, ...]]
    conditions: Mapping[int, tuple[Condition, ...]]

    def outlines(self) -> list[Outline]:
        """Return what needs no decoding."""
        return [Outline(row[0], row[3], row[4], row[5]) for row in self.resources]

    def __iter__(self) -> Iterator[Resource]:
        """Decode each resource when it is looked at: together they would leave the cache."""
        for row in self.resources:
            yield Resource._make(
                (
                    row[0],
                    identity(row[1]),
                    *row[2:7],
                    orjson.loads(row[7]).get("labels") or NO_LABELS,
                    orjson.loads(row[8]),
                    orjson.loads(row[9]),
                    self.conditions.get(row[0], ()),
                    moment(row[10]),
                    moment(row[11]),
                )
            )


def resources(keys: RawSQL) -> Found:
    """Read the living among these resources with their conditions, in the order of their keys."""
    return Found(rows(RESOURCES, keys), conditions(keys))


def conditions(keys: RawSQL) -> dict[int, tuple[Condition, ...]]:
    """Read the conditions of these resources, ordered by type."""
    found: dict[int, list[Condition]] = {}
    for key, kind, status, reason, message, owner, extra in rows(CONDITIONS, keys):
        condition = Condition(kind, status, reason, message, owner, beyond(extra))
        if key in found:
            found[key].append(condition)
        else:
            found[key] = [condition]
    return {key: tuple(listed) for key, listed in found.items()}


def judgements(controller: int, keys: RawSQL) -> dict[int, Judgement]:
    """Read what a controller concluded about these resources before."""
    return {
        row[0]: Judgement._make(
            (
                *row[:5],
                bool(row[5]),
                *row[6:10],
                beyond(row[10]),
                () if row[11] == "[]" else tuple(orjson.loads(row[11])),
                datetime.fromisoformat(row[12]),
                datetime.fromisoformat(row[13]),
                moment(row[14]),
                episode(row[15]),
                row[16],
            )
        )
        for row in rows(JUDGEMENTS, keys, controller)
    }


def rows(statement: str, keys: RawSQL, *parameters: Any) -> list[tuple[Any, ...]]:
    """Read the rows of some keys."""
    with connection.cursor() as cursor:
        cursor.execute(statement.format(keys=keys.sql, **times()), [*parameters, *keys.params])
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def times() -> dict[str, str]:
    """Spell how a time is read as text with its zone; SQLite keeps it without, in UTC."""
    spelt = "CAST({} AS text)" if connection.vendor == "postgresql" else "{} || '+00:00'"
    return {name: spelt.format(name) for name in TIMES}


def moment(value: str | None) -> datetime | None:
    """Read a time, if there is one."""
    return datetime.fromisoformat(value) if value else None


def identity(uid: str) -> str:
    """Spell a uid; SQLite keeps it without dashes."""
    if len(uid) != 32:
        return uid
    return f"{uid[:8]}-{uid[8:12]}-{uid[12:16]}-{uid[16:20]}-{uid[20:]}"


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
