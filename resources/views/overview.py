"""The start page: the organisation by kind."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from resources import kinds
from resources.kind import Document
from resources.models import Condition, Resource
from resources.snapshots import conditions_of
from resources.templatetags.ui import counted

PAGE = 50


@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """List the organisation, or say how to begin."""
    live = Resource.objects.filter(deleted_at=None)
    counts = {each["kind"]: each["n"] for each in live.values("kind").annotate(n=Count("pk"))}
    chosen = kinds.by_path(request.GET.get("kind", ""))
    shown = live.filter(kind=chosen.name) if chosen else live
    rows = list(after(shown, request.GET.get("after", ""))[: PAGE + 1])
    total = sum(counts.values())
    context = {
        "empty": not total,
        "total": total,
        "sentence": sentence(total, counts.get("Domain", 0)),
        "lede": "What is declared, and when it was last heard from.",
        "kinds": [
            {
                "path": kind.path,
                "plural": kind.plural,
                "icon": kind.icon,
                "count": counts.get(kind.name, 0),
                "current": kind is chosen,
            }
            for kind in kinds.ALL
        ],
        "rows": [] if not total else table(rows[:PAGE]),
        "next_url": next_url(request, rows),
    }
    return render(request, "resources/start.html", context)


def sentence(total: int, domains: int) -> str:
    """Say in one sentence what there is."""
    place = f" in {counted(domains, 'domain')}" if domains else ""
    return f"{counted(total, 'resource')}{place}"


def after(resources: QuerySet[Resource], cursor: str) -> QuerySet[Resource]:
    """Go on behind the last row of the page before; never by counting rows."""
    kind, _, name = cursor.replace("\x00", "").partition("/")
    behind = Q(kind__gt=kind) | Q(kind=kind, name__gt=name)
    return (resources.filter(behind) if name else resources).order_by("kind", "name")


def next_url(request: HttpRequest, rows: list[Resource]) -> str | None:
    """Return the address of the next page, if there is one."""
    if len(rows) <= PAGE:
        return None
    last = rows[PAGE - 1]
    kind = request.GET.get("kind")
    query = ({"kind": kind} if kind else {}) | {"after": f"{last.kind}/{last.name}"}
    return f"{reverse('start')}?{urlencode(query)}"


def table(resources: list[Resource]) -> list[dict[str, Any]]:
    """Return what the table shows of each resource."""
    conditions = conditions_of(resources)
    return [as_row(each, conditions[each.pk]) for each in resources]


def as_row(resource: Resource, conditions: list[Condition]) -> dict[str, Any]:
    """Return one row of the table."""
    kind = kinds.by_name(resource.kind)
    return {
        "name": resource.name,
        "kind": kind.title if kind else resource.kind,
        "icon": kind.icon if kind else "boxes",
        "domain": resource.domain,
        "owner": owner_name(resource.metadata),
        "generation": resource.generation,
        "conditions": tally(resource.kind, conditions),
        "reported_at": resource.reported_at,
        "url": reverse("resource", args=[kind.path if kind else "", resource.name]),
    }


def owner_name(metadata: Document) -> str:
    """Return who answers for a resource, in either spelling."""
    owner = metadata.get("owner")
    return (owner.get("name") if isinstance(owner, dict) else owner) or ""


def tally(kind_name: str, conditions: list[Condition]) -> dict[str, int]:
    """Count conditions by what they mean, not by what they say: Paused=False is good."""
    result = {"good": 0, "bad": 0, "unknown": 0}
    for each in conditions:
        result[meaning(kind_name, each.type, each.status)] += 1
    return result


def meaning(kind_name: str, type_: str, status: str) -> str:
    """Tell whether a condition is good or bad news."""
    kind = kinds.by_name(kind_name)
    wanted = {each.name: each.good for each in kind.condition_types} if kind else {}
    if status == "Unknown":
        return "unknown"
    return "good" if status == wanted.get(type_, "True") else "bad"
