"""Small organisations under a controller, and short ways to run it, for the tests of the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from controllers.engine import targets
from controllers.engine.target import Target
from controllers.engine.terms import Reading, Snapshot
from controllers.loop.cycle_run import Means
from controllers.models import Alert, Cycle, Judgement, Runtime, WorkItem
from controllers.worker import worker_loop
from resources.documents.actor import SYSTEM
from resources.documents.kind import Document
from resources.tables.models import Condition, LedgerEvent
from resources.usecases import specs, statuses
from resources.usecases.specs import DesiredDocument
from tests.conftest import Clock
from tests.resources.making import ALICE, live, made

KEEPER = "keeper"
# The condition that `keeper` writes.
KEPT = "KeeperConverged"
WANTED = 100


def controller(name: str = KEEPER, **spec: Any) -> Document:
    """Make a controller of domains that looks every five minutes."""
    return made("Controller", name, {"targetKind": "Domain", "reconcileInterval": "5m"} | spec)


def domain(
    name: str, *, wanted: int = WANTED, labels: Document | None = None, **spec: Any
) -> Document:
    """Make a domain with one KPI: so many ships."""
    ships = {"name": "ships", "target": {"operator": "gte", "value": wanted, "unit": ""}}
    metadata = {"labels": labels} if labels else {}
    return made("Domain", name, {"kpis": [ships]} | spec, metadata=metadata)


def measure(clock: Clock, name: str, ships: int) -> None:
    """Report a domain's KPI."""
    told = statuses.Report("Domain", name, {"kpis": [{"name": "ships", "value": ships}]})
    assert not statuses.observe([told], actor=SYSTEM, now=clock.now)[0].failed


def declare(clock: Clock, *documents: Document) -> None:
    """Apply documents as Alice, with a second person's approval; they must be accepted."""
    wishes = [DesiredDocument(each, authorised=True) for each in documents]
    assert specs.apply(wishes, actor=ALICE, now=clock.now).written


def healthy(clock: Clock, *names: str) -> None:
    """Declare domains that are as they should be."""
    declare(clock, *(domain(name) for name in names))
    for name in names:
        measure(clock, name, WANTED)


def drifted(clock: Clock, *names: str) -> None:
    """Declare domains that reach half of what they should."""
    declare(clock, *(domain(name) for name in names))
    for name in names:
        measure(clock, name, WANTED // 2)


def work(clock: Clock, holder: str = "worker", **means: Any) -> list[Cycle]:
    """Do everything that is due, once, as a worker does at each tick."""
    return worker_loop.work(holder, Means(clock=lambda: clock.now, **means))


def while_judging(patch: pytest.MonkeyPatch, happens: Callable[[str], object]) -> None:
    """Let something happen each time a domain is compared; what it raises is that look's error."""
    domain = targets.by_kind("Domain")

    def kpis(snapshot: Snapshot, now: datetime) -> Sequence[Reading]:
        happens(snapshot.target.name)
        return domain.kpis(snapshot, now)

    probed, usual = replace(domain, kpis=kpis), targets.by_kind

    def by_kind(name: str) -> Target:
        return probed if name == "Domain" else usual(name)

    patch.setattr(targets, "by_kind", by_kind)


def judgement(name: str, controller: str = KEEPER, kind: str = "Domain") -> Judgement | None:
    """Return what a controller last concluded about a resource."""
    found = Judgement.objects.filter(controller__name=controller, resource=live(kind, name))
    return found.first()


def judged(name: str, controller: str = KEEPER, kind: str = "Domain") -> Judgement:
    """Return what a controller last concluded; it must have looked."""
    found = judgement(name, controller, kind)
    assert found is not None
    return found


def item(name: str, controller: str = KEEPER, kind: str = "Domain") -> WorkItem | None:
    """Return what waits to be done about a resource."""
    found = WorkItem.objects.filter(controller__name=controller, resource=live(kind, name))
    return found.first()


def whole(controller: str = KEEPER) -> WorkItem:
    """Return the item that stands for everything a controller watches."""
    return WorkItem.objects.get(controller__name=controller, resource__name=controller)


def runtime(controller: str = KEEPER) -> Runtime:
    return Runtime.objects.get(controller__name=controller, controller__deleted_at=None)


def cycles(controller: str = KEEPER) -> list[Cycle]:
    """Return the cycles of a controller, the oldest first."""
    return list(Cycle.objects.filter(controller__name=controller).order_by("number"))


def own(name: str, type_: str = KEPT, kind: str = "Domain") -> Condition | None:
    """Return a condition of a resource."""
    return Condition.objects.filter(resource=live(kind, name), type=type_).first()


def said(name: str, type_: str = KEPT, kind: str = "Domain") -> tuple[str, str]:
    """Return the status and the reason of a condition, which must be there."""
    found = own(name, type_, kind)
    assert found is not None
    return found.status, found.reason


def alerts(controller: str = KEEPER) -> list[Alert]:
    """Return the open alerts of a controller, in the order they were raised."""
    raised = Alert.objects.filter(controller__name=controller, resolved_at=None)
    return list(raised.order_by("pk"))


def told(event: str, **about: Any) -> list[LedgerEvent]:
    """Return the entries of the ledger with a name, the oldest first."""
    return list(LedgerEvent.objects.filter(event=event, **about).order_by("pk"))
