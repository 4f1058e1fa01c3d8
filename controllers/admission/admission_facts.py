"""Read everything an answer rests on: policies, budgets, their controllers, holds, counters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from django.db.models import Q

from controllers import budgets as accounting
from controllers.budgets.budget_status import as_read
from controllers.decisions import holds
from controllers.engine import admission as engine
from controllers.engine import allowances, precedence
from controllers.engine.admission import Ask, Facts, Policy, Used
from controllers.engine.allowances import Allowance
from controllers.engine.document_values import section, text, texts
from controllers.engine.precedence import Reach, Standing
from controllers.engine.terms import Controller, Mode
from controllers.workqueue import compiled_controllers
from resources.tables.models import Resource

SHARED = ("", "*")
KINDS = ("SecurityPolicy", "Budget")


def gather(
    ask: Ask, agent: Resource, target: Resource, now: datetime, *, approved: bool = False
) -> Facts:
    """Read the facts for one question, in a few queries whatever the size of the organisation."""
    rows = relevant(agent.domain, target.domain)
    controllers = [each for each in compiled_controllers.every() if each.kind in KINDS]
    budgets = [(row, mode_of(row, controllers)) for row in rows if row.kind == "Budget"]
    limits = [*allowed(budgets, agent, now)]
    standing = holds.standing(now)
    return Facts(
        ask,
        tuple(policy_of(row, controllers) for row in rows if row.kind == "SecurityPolicy"),
        tuple(map(Used, limits, accounting.used(limits))),
        tuple(blocked(budgets)),
        covering(standing, Reach(agent.pk, agent.domain)),
        covering(standing, Reach(target.pk, target.domain, touches=touched(ask))),
        tuple(faults(rows, budgets, now)),
        approved,
    )


def relevant(home: str, place: str) -> list[Resource]:
    """Return the policies of both domains and of all, and the budgets of the agent's domain."""
    near = Q(kind="SecurityPolicy", domain__in={home, place, *SHARED})
    own = Q(kind="Budget", domain=home)
    return list(Resource.objects.filter(near | own, deleted_at=None).order_by("pk"))


def touched(ask: Ask) -> tuple[str, ...]:
    """Say what of the target a question touches; what people declared differently covers it."""
    if ask.asset:
        return (f"data.{ask.asset}",)
    return () if ask.access in ("write", "delete") else ("status",)


def covering(standing: Iterable[Standing], reach: Reach) -> tuple[Standing, ...]:
    """Return the holds that cover something."""
    return tuple(each for each in standing if precedence.covers(each, reach))


def policy_of(row: Resource, controllers: Sequence[Controller]) -> Policy:
    """Return a policy with the mode that counts."""
    return Policy(row.pk, row.name, row.domain, row.spec, mode_of(row, controllers))


def mode_of(row: Resource, controllers: Iterable[Controller]) -> Mode:
    """Return the weaker of a resource's own mode and that of the controllers over it."""
    field = "enforcementMode" if row.kind == "SecurityPolicy" else "enforcement"
    said = text(row.spec.get(field))
    own: Mode = said if said in engine.MODES else "warn"  # type: ignore[assignment]
    over = [each.mode for each in controllers if each.kind == row.kind and selects(each, row)]
    return engine.weaker(own, engine.stronger(*over)) if over else own


def selects(controller: Controller, row: Resource) -> bool:
    """Tell whether a controller looks after a resource."""
    labels = row.metadata.get("labels") or {}
    return all(labels.get(key) == value for key, value in controller.labels.items())


def allowed(
    budgets: Sequence[tuple[Resource, Mode]], agent: Resource, now: datetime
) -> Iterator[Allowance]:
    """Yield every limit that an agent spends within: its domain's, its shares, its own."""
    modes = [mode for _, mode in budgets]
    for row, mode in budgets:
        read = as_read(row)
        if not allowances.unreadable(read, now):
            yield from allowances.of_budget(read, mode, now)
            yield from allowances.shares(read, agent.name, mode, now)
    own: Mode = engine.stronger(*modes) if modes else "warn"
    yield from allowances.of_agent(agent.name, agent.spec, own, now)


def blocked(budgets: Iterable[tuple[Resource, Mode]]) -> Iterator[tuple[str, Mode, str, int]]:
    """Yield the budgets that nothing may be spent from."""
    for row, mode in budgets:
        block = section(row.spec, "blocked")
        if "spend" in texts(block, "operations"):
            yield str(row), mode, text(block.get("reason")) or "spending is blocked.", row.pk


def faults(
    rows: Iterable[Resource], budgets: Iterable[tuple[Resource, Mode]], now: datetime
) -> Iterator[tuple[str, Mode]]:
    """Yield what cannot be read: where it would enforce nothing passes, elsewhere it is said."""
    for row, mode in budgets:
        if reason := allowances.unreadable(as_read(row), now):
            yield reason, strict(mode)
    for row in rows:
        scopes = row.spec.get("dataScopes", [])
        if row.kind == "SecurityPolicy" and not isinstance(scopes, list):
            own = text(row.spec.get("enforcementMode"))
            yield f"The scopes of {row} cannot be read.", "enforce" if own == "enforce" else "warn"


def strict(mode: Mode) -> Mode:
    """Return what a fault counts as: a refusal where it would enforce, else a warning."""
    return "enforce" if mode == "enforce" else "warn"
