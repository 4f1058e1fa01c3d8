"""Resources as a cycle first reads them: only what a glance takes, of those that were well.

What is well is nearly everything, and what is neither declared nor stated anew since it was judged
need not be read again. A closer look reads the rest afresh.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from django.db import connection
from django.db.models.expressions import RawSQL

from controllers.engine import diff, report
from controllers.engine.terms import Document, Glance

# Only of what was well, with no story and nothing to wait for, the spec is read; its figures only
# where nothing was amiss.
SIGHTS = f"""
    SELECT r.id, r.name, r.domain, r.resource_version,
      CASE WHEN j.generation = r.generation AND r.stated_version <= j.version
        AND j.reason = '{report.WELL}' AND j.plan = '' AND j.recheck_at IS NULL
        AND CAST(j.episode AS text) = '{{{{}}}}' THEN CAST(r.spec AS text) END,
      CAST(r.status AS text), j.version, j.basis,
      CASE WHEN CAST(j.evidence AS text) = '[]' THEN CAST(j.dimensions AS text) END,
      CAST(j.evaluated_at AS text)
    FROM resources_resource r
    LEFT JOIN controllers_judgement j
      ON j.controller_id = %s AND j.resource_id = r.id AND j.resource_id > %s
    WHERE r.deleted_at IS NULL AND r.id > %s AND r.id IN ({{keys}}) ORDER BY r.id
"""  # noqa: S608


@dataclass(frozen=True)
class Sighted:
    """Living resources in the order of their keys, each as a row of what `SIGHTS` asks for."""

    rows: list[Any]

    @property
    def keys(self) -> list[int]:
        """Their keys, in order."""
        return [row[0] for row in self.rows]

    def without(self, keys: Iterable[int]) -> Sighted:
        """Leave some out."""
        gone = frozenset(keys)
        return Sighted([row for row in self.rows if row[0] not in gone]) if gone else self


def sighted(keys: RawSQL, controller: int, after: int = 0) -> Sighted:
    """Read the living among these resources as far as a glance needs them.

    All of them come after some key: PostgreSQL would begin at the first there is.
    """
    with connection.cursor() as cursor:
        statement = SIGHTS.format(keys=keys.sql)
        cursor.execute(statement, [controller, after, after, *keys.params])
        return Sighted(cursor.fetchall())


@lru_cache(maxsize=4_096)
def found_before(figures: str) -> Glance | None:
    """Read what a glance must find again, out of stored figures of which many are the same."""
    stored: dict[str, Document] = orjson.loads(figures)
    return diff.as_glance(stored)
