"""The organisation that is measured: many agents in twenty domains, one percent of them off."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import orjson
from django.db import connection, transaction

from controllers.common import judgement_writes
from resources.documents.actor import Actor
from resources.documents.kind import V02, Document
from resources.store import indexes
from resources.tables import versions
from resources.tables.batches import batches
from resources.tables.bulk_tables import table_of
from resources.tables.models import Condition, Label, Reference, Resource
from resources.usecases import specs

NOW = datetime(2026, 11, 16, 10, 0, tzinfo=UTC)
PERSON = Actor("person", "bench")
CONTROLLER = "agent-performance"
DOMAINS = 20
BATCH = 2_000
NOBODY = {"matchLabels": {"team": "nobody"}}

RESOURCES = table_of(
    Resource,
    (
        *("uid", "kind", "name", "domain", "metadata", "spec", "status", "generation"),
        *("resource_version", "declared_version", "observed_version", "stated_version"),
        *("created_at", "updated_at", "reported_at"),
    ),
)
CONDITIONS = table_of(Condition)
LABELS = table_of(Label)
REFERENCES = table_of(Reference)
REPORT = """
    UPDATE resources_resource SET status = %s, resource_version = %s, observed_version = %s,
      updated_at = %s, reported_at = %s
    WHERE id = %s
"""
MARK = "INSERT INTO resources_dirtymark (resource_id, version) VALUES (%s, %s)"


def load(size: int, *, bare: bool = False) -> None:
    """Fill an empty database; bare agents have nothing but their row."""
    wishes = [specs.DesiredDocument(each) for each in surroundings()]
    outcome = specs.apply(wishes, actor=PERSON, now=NOW)
    if outcome.failed:
        raise RuntimeError(str([each.problems for each in outcome.results if each.failed]))
    for numbers in batches(range(size), BATCH):
        with transaction.atomic():
            insert(numbers, bare)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM resources_dirtymark")
        cursor.execute("ANALYZE")


def insert(numbers: list[int], bare: bool) -> None:
    """Insert some agents, past the checks that documents of people go through."""
    given = zip(numbers, versions.take(len(numbers)), strict=True)
    judgement_writes.upsert(RESOURCES, [row(number, version) for number, version in given])
    names = [name(number) for number in numbers]
    rows = Resource.objects.filter(kind="Agent", name__in=names)
    agents = {each.name: each for each in rows}
    if not bare:
        beside([agents[each] for each in names], numbers)


def beside(agents: list[Resource], numbers: Iterable[int]) -> None:
    """Insert what is kept beside each agent: conditions, labels and references."""
    stated = [
        (agent.pk, *values)
        for agent, number in zip(agents, numbers, strict=True)
        for values in conditions(number)
    ]
    judgement_writes.upsert(CONDITIONS, stated)
    labels = chain.from_iterable(map(indexes.labels_of, agents))
    judgement_writes.upsert(LABELS, [(each.resource_id, each.key, each.value) for each in labels])
    named = chain.from_iterable(map(indexes.references_of, agents))
    columns = REFERENCES.names
    judgement_writes.upsert(REFERENCES, [[getattr(each, c) for c in columns] for each in named])


def change(numbers: Iterable[int], *, marked: bool) -> None:
    """Let agents report once more; marked, the loop finds out by itself."""
    for batch in batches(numbers, BATCH):
        names = {name(number): number for number in batch}
        rows = Resource.objects.filter(kind="Agent", name__in=names).order_by("pk")
        with transaction.atomic(), connection.cursor() as cursor:
            keys = [(pk, names[each]) for pk, each in rows.values_list("pk", "name")]
            given = list(zip(keys, versions.take(len(keys)), strict=True))
            cursor.executemany(REPORT, [report(*key, version) for key, version in given])
            if marked:
                cursor.executemany(MARK, [(key[0], version) for key, version in given])


def report(key: int, number: int, version: int) -> tuple[Any, ...]:
    """Spell an agent's second report as the values of its row."""
    at = connection.ops.adapt_datetimefield_value(NOW)
    encoded = orjson.dumps(status(number, again=True)).decode()
    return (encoded, version, version, at, at, key)


def row(number: int, version: int) -> tuple[Any, ...]:
    """Spell an agent as the values of its row."""
    agent, times = document(number), (NOW, NOW, NOW)
    metadata = {"labels": agent["metadata"]["labels"]}
    identity = (uuid.UUID(int=number + 1).hex, "Agent", name(number), agent["spec"]["domain"])
    parts = (metadata, agent["spec"], status(number))
    return (*identity, *parts, 1, version, version, version, version, *times)


def name(number: int) -> str:
    """Name an agent."""
    return f"agent-{number:06d}"


def surroundings() -> Iterator[Document]:
    """Yield everything but the agents."""
    yield made("Controller", CONTROLLER, controller())
    for number in range(DOMAINS):
        domain = f"domain-{number:02d}"
        yield made("Domain", domain, {"purpose": "Holds agents."})
        limits = {"tokens": {"monthly": 200_000_000}, "cost": {"monthly": 1400, "currency": "EUR"}}
        yield made(
            "Budget",
            f"budget-{number:02d}",
            {"domain": domain, "period": "2026-11", "limits": limits},
            {"consumed": {"tokens": 137_000_000, "cost": 908.75, "currency": "EUR"}},
        )
        rules = {"zeroTrust": {"enabled": True}, "auditTrail": {"immutable": True}}
        policy = {"domain": domain, **rules}
        yield made("SecurityPolicy", f"policy-{number:02d}", policy, {"violations": 0})


def controller() -> Document:
    """Write the spec of the controller that is measured, with a hook on each side."""
    return {
        "targetKind": "Agent",
        "reconcileInterval": "1m",
        "resyncInterval": "1h",
        "driftThreshold": 0.15,
        "enforcementMode": "warn",
        "timeout": "1h",
        "actions": {
            "onDrift": [
                {"type": "alert", "severity": "warning", "channels": ["ops"]},
                {"type": "reconcile", "operation": "restart"},
            ]
        },
        "hooks": {
            "preReconcile": [
                {"name": "at-work", "action": "check agent.status.state != 'paused'"}
            ],
            "postReconcile": [{"name": "tell", "action": "emit controller.bench-completed"}],
        },
    }


def document(number: int) -> Document:
    """Write an agent; with its status it has about 1.5 KB."""
    domain = f"domain-{number % DOMAINS:02d}"
    spec = {
        "domain": domain,
        "type": "supervised",
        "role": "tactical",
        "purpose": f"Matches what comes in against what was ordered, for {domain}.",
        "model": {"provider": "harbor", "name": "harbor-small", "version": "s4.1"},
        "capabilities": [
            {"name": "match", "type": "analysis", "description": "Compares two documents."},
            {"name": "explain", "type": "generation", "description": "Says why they differ."},
        ],
        "inputs": [{"name": "order", "schema": "orders.order_placed"}],
        "outputs": [{"name": "match", "schema": "orders.order_matched"}],
        "constraints": ["Never pays.", "Asks a person when the sums differ by more than a tenth."],
        "objectives": [
            {"name": "errorRate", "operator": "lte", "value": 0.03, "unit": "ratio"},
            {"name": "overrideRate", "operator": "lte", "value": 0.1, "unit": "ratio"},
            {"name": "avgLatency", "operator": "lte", "value": 5, "unit": "s"},
            {"name": "healthScore", "operator": "gte", "value": 0.7, "unit": "ratio"},
        ],
        "governance": {"requiresApproval": False, "auditLevel": "summary"},
        "memory": {"type": "session", "retention": "1d", "scope": "agent-private"},
        "tokenBudget": {"maxDaily": 1_500_000, "maxMonthly": 30_000_000, "alertAt": 0.8},
        "schedule": {"type": "continuous"},
    }
    return made("Agent", name(number), spec, status(number), {"team": domain, "tier": "internal"})


def status(number: int, *, again: bool = False) -> Document:
    """Write what an agent reports; again, one in ten is another score and one in 100 crosses."""
    bad = number % 100 == (57 if again and number % 200 < 100 else 7)
    slow = again and number % 10 == 3
    return {
        "state": "degraded" if bad else "running",
        "lastExecution": "2026-11-16T09:58:11Z" if again else "2026-11-16T09:53:48Z",
        "avgLatency": "7.5s" if slow else "1.7s",
        "costConsumed": {
            "tokens": (36_000_000 if bad else 13_100_000) + number % 977 + again,
            "cost": 10.48,
            "currency": "EUR",
            "period": "2026-11",
        },
        "overrideRate": 0.0,
        "errorRate": 0.31 if bad else 0.006,
        "healthScore": 0.4 if bad else 0.95,
    }


def conditions(number: int) -> Iterator[tuple[Any, ...]]:
    """Yield what an agent reports as conditions, as the values of their rows."""
    for kind, reason, message in (
        ("Reporting", "ReportReceived", "Last report arrived on time."),
        ("CredentialValid", "Rotated", "Token rotated on schedule."),
        ("KPIsMet", "WithinTargets", "Every objective is within its target."),
    ):
        yield (kind, "True", reason, message, "", NOW, {})


def made(
    kind: str,
    name: str,
    spec: Document,
    status: Document | None = None,
    labels: dict[str, str] | None = None,
) -> Document:
    """Put a document together."""
    metadata: Document = {"name": name} | ({"labels": labels} if labels else {})
    document: Document = {"apiVersion": V02, "kind": kind, "metadata": metadata, "spec": spec}
    return document | ({"status": status} if status else {})


def divide() -> None:
    """Put a controller for each domain in the place of the one for all."""
    everyone = made("Controller", CONTROLLER, controller() | {"targetSelector": NOBODY})
    wishes = [specs.DesiredDocument(everyone)]
    for number in range(DOMAINS):
        chosen = {"targetSelector": {"matchLabels": {"team": f"domain-{number:02d}"}}}
        wishes.append(
            specs.DesiredDocument(made("Controller", f"of-{number:02d}", controller() | chosen))
        )
    if specs.apply(wishes, actor=PERSON, now=NOW).failed:
        raise RuntimeError("The controllers were refused.")
