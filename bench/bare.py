"""The floor of the API: views that do the same statements by hand, and nothing else."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime
from typing import Any

import orjson
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from resources.tables import versions

CALLER = """
    SELECT t.id, t.secret_hmac, t.scopes, t.expires_at, t.revoked_at, r.id, r.domain, r.name
    FROM resources_agenttoken t LEFT JOIN resources_resource r ON r.id = t.agent_id
    WHERE t.key_id = %s
"""
COLUMNS = """
    id, uid, kind, name, domain, metadata, spec, status, generation, resource_version,
    created_at, updated_at
"""
LIST = f"""
    SELECT {COLUMNS} FROM resources_resource
    WHERE kind = %s AND domain = %s AND deleted_at IS NULL ORDER BY name LIMIT %s
"""  # noqa: S608 - nothing in it comes from outside
ONE = f"""
    SELECT {COLUMNS} FROM resources_resource
    WHERE kind = %s AND name = %s AND deleted_at IS NULL
"""  # noqa: S608
CONDITIONS = """
    SELECT resource_id, type, status, reason, message, managed_by, last_transition_time, extra
    FROM resources_condition WHERE resource_id IN
"""
UPDATE = """
    UPDATE resources_resource SET status = %s, resource_version = %s, observed_version = %s,
      stated_version = %s, updated_at = %s, reported_at = %s
    WHERE id = %s AND resource_version = %s
"""
MARK = """
    INSERT INTO resources_dirtymark (resource_id, version) VALUES (%s, %s)
    ON CONFLICT (resource_id) DO UPDATE SET version = excluded.version
"""
REVISION = """
    INSERT INTO resources_resourcerevision (resource_id, kind, resource_version, change,
      generation, declared_version, observed_version, metadata, status, at, actor, message)
    VALUES (%s, %s, %s, 'MODIFIED', %s, %s, %s, %s, %s, %s, %s, '')
"""
STREAM = """
    INSERT INTO resources_ledgerstream (name, seq, head) VALUES (%s, 0, '')
    ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING seq, head
"""
EVENT = """
    INSERT INTO resources_ledgerevent (id, stream, seq, previous, hash, at, event, category,
      severity, actor, subject, correlation_id, causation_id, payload_digest, payload)
    VALUES (%s, %s, %s, %s, %s, %s, 'resource.reported', 'log', 'info', %s, %s, %s, %s, %s, %s)
"""
HEAD = "UPDATE resources_ledgerstream SET seq = %s, head = %s WHERE name = %s"


def rows(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run a statement and return what it finds."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def caller(request: HttpRequest) -> tuple[Any, ...]:
    """Find the token of a call."""
    return rows(CALLER, request.headers["Authorization"].split("_")[2])[0]


def answer(document: Any) -> HttpResponse:
    """Answer as JSON."""
    return HttpResponse(orjson.dumps(document, default=str), content_type="application/json")


def loaded(value: Any) -> dict[str, Any]:
    """Read a document; PostgreSQL's driver has read it already."""
    found: dict[str, Any] = orjson.loads(value) if isinstance(value, str) else value
    return found


def document(row: tuple[Any, ...]) -> dict[str, Any]:
    """Write a resource."""
    metadata, spec, status = map(loaded, row[5:8])
    metadata |= {"name": row[3], "uid": str(row[1]), "resourceVersion": str(row[9])}
    return {"kind": row[2], "metadata": metadata, "spec": spec, "status": status}


def conditions(keys: list[int]) -> list[tuple[Any, ...]]:
    """Read what is stated about some resources."""
    return rows(f"{CONDITIONS} ({', '.join(['%s'] * len(keys))})", *keys)


def listed(request: HttpRequest) -> HttpResponse:
    """List some agents, with their conditions."""
    agent = caller(request)
    found = rows(LIST, "Agent", agent[6], int(request.GET["limit"]))
    stated = conditions([row[0] for row in found])
    of_each: dict[int, list[Any]] = {}
    for row in stated:
        of_each.setdefault(row[0], []).append(row[1:7])
    items = [document(row) | {"conditions": of_each.get(row[0], [])} for row in found]
    return answer({"items": items})


@csrf_exempt
def reported(request: HttpRequest, name: str) -> HttpResponse:
    """Merge a report into the status of an agent, and write all that belongs to it."""
    agent = caller(request)
    (row,) = rows(ONE, "Agent", name)
    conditions([row[0]])
    status = loaded(row[7]) | orjson.loads(request.body)
    text = orjson.dumps(status).decode()
    now = connection.ops.adapt_datetimefield_value(datetime.now(UTC))
    with transaction.atomic():
        (version,) = versions.take(1)
        rows(UPDATE, text, version, version, version, now, now, row[0], row[9])
        rows(MARK, row[0], version)
        about = row[5] if isinstance(row[5], str) else orjson.dumps(row[5]).decode()
        values = (row[0], "Agent", version, row[8], version, version, about, text, now)
        rows(REVISION, *values, f"agent/{agent[7]}")
        append(f"resource/{uuid.UUID(str(row[1]))}", text, f"agent/{name}", now)
    conditions([row[0]])
    return answer(status)


def append(stream: str, payload: str, subject: str, now: Any) -> None:
    """Append one event to the chain of a stream."""
    ((seq, head),) = rows(STREAM, stream)
    (number,) = versions.take(1)
    digest = hashlib.sha256(payload.encode()).hexdigest()
    link = hashlib.sha256(f"{head}{seq + 1}{digest}".encode()).hexdigest()
    place = (number, stream, seq + 1, head, link, now)
    rows(EVENT, *place, subject, subject, uuid.uuid4().hex, "", digest, payload)
    rows(HEAD, seq + 1, link, stream)


urlpatterns = [
    path("api/v1/resources/agent", listed),
    path("api/v1/resources/agent/<str:name>/status", reported),
]
