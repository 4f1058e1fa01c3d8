"""Events that start runs: each once, in the order of the ledger, under the rules of any start."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import QuerySet, Value
from django.db.models.functions import Replace

from controllers.models import Heard, WorkflowRun
from controllers.workflows import runs
from controllers.workflows.triggers import declarations, trigger_refusals
from controllers.workflows.triggers.declarations import Trigger
from controllers.workflows.triggers.trigger_events import RECEIVED, Happening, of_ledger, spelled
from resources.documents.problems import Problem, refused
from resources.tables import versions
from resources.tables.models import LedgerEvent

NAME = "triggers"
SOME = 200
# A workflow that starts itself in a circle ends here.
MOST_IN_STORY = 10


def listen(now: datetime) -> int:
    """Start what the events since the last time start; return how many runs that is."""
    horizon = versions.horizon()
    mark, new = Heard.objects.get_or_create(name=NAME, defaults={"upto": horizon})
    # Nobody waits for what happened before anybody listened.
    if new or mark.upto >= horizon:
        return 0
    wanted = declarations.by_event()
    events = list(since(mark.upto, horizon, wanted)[:SOME]) if wanted else []
    started = 0
    for happening in of_ledger(events, wanted):
        for trigger in wanted[happening.event]:
            started += start(trigger, happening, now)
    upto = events[-1].pk if len(events) == SOME else horizon
    Heard.objects.filter(pk=mark.pk, upto=mark.upto).update(upto=upto)
    return started


def since(upto: int, horizon: int, names: Collection[str]) -> QuerySet[LedgerEvent]:
    """Return what the ledger told of late, and may start something."""
    plain = Replace("event", Value("-"), Value("_"))
    rows = LedgerEvent.objects.filter(pk__gt=upto, pk__lte=horizon).annotate(plain=plain)
    return rows.filter(plain__in=[*spelled(names), RECEIVED]).order_by("pk")


def start(trigger: Trigger, happening: Happening, now: datetime) -> bool:
    """Start a run for an event, unless it is not meant, not allowed, or known already."""
    if not happening.reaches(trigger) or not trigger.fits(happening.payload, now):
        return False
    wish = runs.RunRequest(
        trigger.workflow,
        happening.story,
        f"event {happening.event}",
        dict(happening.payload),
        happening.key,
    )
    try:
        check(trigger, happening)
        return runs.start_by_itself(wish, behind=happening.behind, now=now).new
    except Problem as problem:
        trigger_refusals.tell(trigger, wish, problem.message, now)
        return False


def check(trigger: Trigger, happening: Happening) -> None:
    """Refuse what nobody who asks by hand could ask for."""
    if happening.hostile:
        raise refused("Its event holds words that try to take over.")
    story = WorkflowRun.objects.filter(
        workflow=trigger.workflow, correlation_id=happening.story
    ).exclude(request_key=happening.key)
    if story.count() >= MOST_IN_STORY:
        raise refused(f"This story has {MOST_IN_STORY} runs of it: it goes in a circle.")
