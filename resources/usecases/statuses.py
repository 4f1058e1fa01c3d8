"""Record what is observed: the only way a status is ever written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import connection

from resources.documents import kinds, limits, validation
from resources.documents.actor import Actor
from resources.documents.differences import compare, merge
from resources.documents.kind import Document, Fault
from resources.store import conditions, store
from resources.store.references import Name
from resources.store.snapshots import assemble, ordered_metadata
from resources.store.store import Draft
from resources.tables.models import Resource
from resources.usecases import specs

CLOCK_SKEW = timedelta(minutes=5)
HEARD = """
    UPDATE resources_resource SET reported_at = %s
    WHERE id = %s AND (reported_at IS NULL OR reported_at < %s)
"""

Verdict = Literal["changed", "unchanged", "refused", "missing", "forbidden", "conflict"]


@dataclass(frozen=True)
class Report:
    """What somebody has seen of a resource: a merge patch, or with `replace` the whole status."""

    kind: str
    name: str
    status: Any
    replace: bool = False
    expected: int | None = None
    observed_at: datetime | None = None


@dataclass(frozen=True)
class Observed:
    """What became of one report."""

    kind: str
    name: str
    verdict: Verdict
    problems: tuple[Fault, ...] = ()
    resource: Resource | None = None
    heard_at: datetime | None = None

    @property
    def failed(self) -> bool:
        """Whether the report was not taken."""
        return self.verdict not in ("changed", "unchanged")


def observe(reports: Sequence[Report], *, actor: Actor, now: datetime) -> list[Observed]:
    """Take each report that can be taken; spec and generation are never touched.

    A report that says nothing new writes no version, only when it was last heard.
    """
    drafts: dict[Name, Draft] = {}
    for _ in range(specs.ATTEMPTS):
        with suppress(store.Stale), specs.reserved(drafts.values()):
            drafts = specs.load({(report.kind, report.name) for report in reports})
            results = [consider(report, drafts, actor=actor, now=now) for report in reports]
            store.write(list(drafts.values()), actor=actor, now=now)
            remember_heard(results)
            return results
    raise store.Stale("These resources change faster than they can be written. Try again.")


def consider(
    report: Report, drafts: dict[Name, Draft], *, actor: Actor, now: datetime
) -> Observed:
    """Judge one report and, when it holds, move its draft."""
    if actor.kind == "agent" and (report.kind, report.name) != ("Agent", actor.name):
        rule = Fault("", f"An agent reports only for itself: this token is {actor.name}'s.")
        return Observed(report.kind, report.name, "forbidden", (rule,))
    draft = drafts.get((report.kind, report.name))
    if draft is None:
        gone = Fault("", f"There is no {report.kind.lower()}/{report.name}.")
        return Observed(report.kind, report.name, "missing", (gone,))
    row = draft.resource
    if specs.wrong_version(draft, report.expected):
        return Observed(row.kind, row.name, "conflict", (specs.moved_on(draft),), row)
    problems = (*claims(draft, report, actor), *objections(draft, report, now))
    if problems:
        return Observed(row.kind, row.name, "refused", problems, row)
    return take(draft, report, now)


def objections(draft: Draft, report: Report, now: datetime) -> Iterable[Fault]:
    """Yield why a report cannot be taken."""
    if report.observed_at is not None and report.observed_at > now + CLOCK_SKEW:
        yield Fault("/observedAt", "This lies in the future.")
    if not isinstance(report.status, dict):
        yield Fault("/status", "A status is an object.")
        return
    row = draft.resource
    given = report.status.get("conditions")
    whole = reported(draft, report) | ({"conditions": given} if given is not None else {})
    document = assemble(row.kind, ordered_metadata(row.name, row.metadata), row.spec, whole)
    for problem in (*validation.check(document), *limits.sizes({"status": whole})):
        if problem.pointer.startswith("/status") and problem.severity == "error":
            yield problem


def claims(draft: Draft, report: Report, actor: Actor) -> Iterable[Fault]:
    """Yield what is claimed that only the product's own evidence may say."""
    if actor.kind == "system" or not isinstance(report.status, dict):
        return
    for name in proven(draft.resource):
        if name in report.status and report.status[name] != draft.resource.status.get(name):
            yield Fault(f"/status/{name}", "This moves only by what was proven here.")


def proven(row: Resource) -> tuple[str, ...]:
    """Return the fields of a status that only evidence moves."""
    kind = kinds.by_name(row.kind)
    return kind.proven if kind else ()


def reported(draft: Draft, report: Report) -> Document:
    """Return the status as it would be, without conditions; what was proven stays."""
    status = draft.resource.status
    kept = {name: status[name] for name in proven(draft.resource) if name in status}
    base: Document = kept if report.replace else status
    merged: Document = merge(base, {k: v for k, v in report.status.items() if k != "conditions"})
    return merged


def take(draft: Draft, report: Report, now: datetime) -> Observed:
    """Move a draft to what was reported; refused conditions leave it as it was."""
    row = draft.resource
    if late(row, report):
        return Observed(row.kind, row.name, "unchanged", resource=row)
    merged = reported(draft, report)
    before, draft.observed = (dict(draft.conditions), draft.observed), False
    problems = tuple(take_conditions(draft, report, now))
    if problems:
        draft.conditions, draft.observed = before
        return Observed(row.kind, row.name, "refused", problems, row)
    changed = [each.pointer for each in compare(row.status, merged)]
    at = report.observed_at or now
    if not changed and not draft.observed:
        draft.observed = before[1]
        return Observed(row.kind, row.name, "unchanged", resource=row, heard_at=at)
    row.status, row.reported_at, draft.observed = merged, at, True
    known = [each for _, payload in draft.events for each in payload["changed"]]
    every = list(dict.fromkeys([*known, *changed]))[:100]
    draft.events = [("resource.status-reported", {"changed": every})]
    return Observed(row.kind, row.name, "changed", resource=row)


def late(row: Resource, report: Report) -> bool:
    """Tell whether something newer is already known."""
    seen, told = row.reported_at, report.observed_at
    return seen is not None and told is not None and told < seen


def take_conditions(draft: Draft, report: Report, now: datetime) -> Iterable[Fault]:
    """Merge the reported conditions; a whole status replaces those nobody manages."""
    given: list[dict[str, Any]] | None = report.status.get("conditions")
    yield from conditions.report(draft, given or [], now=report.observed_at or now)
    if report.replace or ("conditions" in report.status and given is None):
        named = {item["type"] for item in given or []}
        conditions.drop(draft, conditions.free(draft) - named)


def remember_heard(results: Iterable[Observed]) -> None:
    """Remember when those who said nothing new were heard; never earlier than is known."""
    adapt = connection.ops.adapt_datetimefield_value
    quiet = [(e.resource.pk, adapt(e.heard_at)) for e in results if e.resource and e.heard_at]
    if quiet:
        with connection.cursor() as cursor:
            cursor.executemany(HEARD, [(at, pk, at) for pk, at in sorted(quiet)])
