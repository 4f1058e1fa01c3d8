"""`/economics`: what was spent, by whom, on what, and where that leads."""

from __future__ import annotations

from datetime import date, timedelta

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.economics.serializers import EconomicsSerializer
from controllers.budgets.economics import View as Scope
from controllers.budgets.economics import economics
from resources.api.authentication import principal_of
from resources.api.base import View, find, kind_named
from resources.api.schema import operation, query
from resources.documents.problems import invalid
from resources.tables.models import AgentToken, Resource
from resources.usecases.access import visible
from resources.usecases.access_rules import api

LONGEST = timedelta(days=366)


class Economics(View):
    """The figures."""

    rights = api()
    tag = "Economics"
    parameters = {"GET": ("domain", "since", "until")}

    @operation(
        "readEconomics",
        "Read what was spent, the budgets, and where they lead",
        parameters=[
            query("domain", "Only this domain."),
            query("since", "The first day, such as 2026-11-01; without it this month's first."),
            query("until", "The day after the last; at most 366 days later."),
        ],
        answers={200: EconomicsSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request) -> Response:
        """Return what the principal may see."""
        now = timezone.now()
        since = day(request, "since") or now.date().replace(day=1)
        until = day(request, "until") or now.date() + timedelta(days=1)
        if not timedelta(0) < until - since <= LONGEST:
            raise invalid(f"until is later than since, by at most {LONGEST.days} days.")
        budgets = visible(
            Resource.objects.filter(kind="Budget", deleted_at=None), principal_of(request)
        )
        domains, agents = reach(request)
        if domains is not None:
            budgets = budgets.filter(domain__in=domains)
        return Response(economics(Scope(since, until, domains, agents), budgets, now))


def day(request: Request, name: str) -> date | None:
    """Read a day."""
    given = request.query_params.get(name)
    if given is None:
        return None
    try:
        if len(given) != 10:
            raise ValueError
        return date.fromisoformat(given)
    except ValueError:
        raise invalid(f"{name} is a day such as 2026-11-01.") from None


def reach(request: Request) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the domains and agents somebody may see; nothing stands for all."""
    principal = principal_of(request)
    wanted = request.query_params.get("domain")
    if wanted is not None:
        home = find(request, kind_named("domain"), wanted.removeprefix("domain/")).name
    elif isinstance(principal, AgentToken):
        home = principal.agent.domain
    else:
        return None, None
    live = Resource.objects.filter(kind="Agent", domain=home)
    agents = visible(live, principal).values_list("name", flat=True)
    return (home,), tuple(agents)
