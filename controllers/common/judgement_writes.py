"""What a cycle writes about many resources at once, as rows of narrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db import connection

from controllers import models
from controllers.common.rows import story
from controllers.engine.terms import Action, Judgement
from resources.tables import batches
from resources.tables.batches import Table, as_instant
from resources.tables.bulk_tables import table_of

__all__ = ["JUDGEMENTS", "SAMPLES", "Table", "as_document", "renew", "update", "upsert"]

# Judgements that stand, about another version.
RENEW = {
    "sqlite": """
        UPDATE controllers_judgement SET version = %s, evaluated_at = %s
        WHERE controller_id = %s AND resource_id = %s
    """,
    "postgresql": """
        UPDATE controllers_judgement SET version = given.version, evaluated_at = %s
        FROM unnest(%s::bigint[], %s::bigint[]) AS given(resource_id, version)
        WHERE controller_id = %s AND controllers_judgement.resource_id = given.resource_id
          AND controllers_judgement.resource_id BETWEEN %s AND %s
    """,
}


JUDGEMENTS = table_of(models.Judgement, unique=("controller_id", "resource_id"))
SAMPLES = table_of(models.DriftSample)


def upsert(table: Table, rows: Iterable[Sequence[Any]]) -> int:
    """Insert rows, or give those that exist their new values; return how many."""
    values = list(rows)
    batches.upsert(connection, table, values)
    return len(values)


def update(table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Give rows that exist their new values; one that is gone stays gone."""
    batches.update(connection, table, rows)


def renew(controller: int, versions: Mapping[int, int], now: datetime) -> None:
    """Let judgements stand as they are, about other versions of their resources."""
    if not versions:
        return
    statement, at = RENEW[connection.vendor], as_instant(now)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            listed = [f"{{{','.join(map(str, each))}}}" for each in (versions, versions.values())]
            # Between the first and the last, or it would go through all there are.
            cursor.execute(statement, [now, *listed, controller, min(versions), max(versions)])
        else:
            rows = [(version, at, controller, key) for key, version in versions.items()]
            cursor.executemany(statement, rows)


def judgement_row(
    controller: int, judgement: Judgement, versions: Mapping[int, int]
) -> tuple[Any, ...]:
    """Spell a judgement as the values of its row."""
    resource, generation, version, *middle, episode, plan = judgement
    version = versions.get(resource, version)
    return (controller, resource, generation, version, *middle, story(episode), plan)


def sample_row(controller: int, judgement: Judgement, now: datetime) -> tuple[Any, ...]:
    """Spell a point of the history."""
    figures = {name: each["score"] for name, each in judgement.dimensions.items()}
    return (controller, judgement.resource, now, judgement.score, judgement.drifted, figures)


def as_document(action: Action) -> dict[str, Any]:
    """Write an action as plain values; what it does not say is left out."""
    return {key: value for key, value in asdict(action).items() if value not in ("", (), {})}
