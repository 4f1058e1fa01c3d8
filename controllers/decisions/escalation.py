"""Silence climbs: what nobody answers goes up the paths that Governance declares.

Of the Governance that covers a domain its own paths count first, then those of what it extends,
then the organisation's. Each level is told once its turn comes; the last is told again and again;
what expires unanswered is told once more. Nothing is ever approved by silence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet

from controllers.access.governance_lookup import Covering
from controllers.common import quotation
from controllers.common.clocks import current
from controllers.decisions import proposals
from controllers.engine.terms import Severity
from controllers.models import Delivery, Grant, Proposal
from controllers.notifications import delivery
from controllers.notifications.delivery.outbox import digest
from resources.documents.actor import SYSTEM
from resources.documents.durations import is_positive, parse_duration
from resources.tables.batches import batches
from resources.tables.ledger import instant

# What one message stands for at most, and how many it names.
TOGETHER, NAMED = 100, 5
# What expired, or waited too long, longer ago than this is no longer news.
NEWS = timedelta(days=1)
FOR_EVER = timedelta(days=100_000)


class Path(NamedTuple):
    """One level; without a timeout it is told once, and nobody comes after it."""

    level: float = 1
    role: str = ""
    channel: str = ""
    timeout: str = ""

    @property
    def wait(self) -> timedelta:
        """How long it has for an answer."""
        return waiting_time(self.timeout)


class Ring(NamedTuple):
    """Somebody whose turn it is, and why."""

    path: Path
    # What proposals told together have in common.
    cause: str
    word: str
    severity: Severity


# A proposal by its key, and how often it was told when it was found.
DueProposal = tuple[int, int]
Turns = dict[Ring, list[DueProposal]]
FIELDS = ("pk", "resource__domain", "cause", "escalation")


class Charter(Covering):
    """All Governance as it is declared now, with how silence climbs."""

    def __init__(self, rows: Iterable[tuple[str, str, Mapping[str, Any]]]) -> None:
        super().__init__(rows)
        # Many proposals, few domains.
        self.paths = cache(self.paths_of)
        self.patience = cache(self.patience_of)

    def paths_of(self, domain: str) -> tuple[Path, ...]:
        """Return the levels of a domain; where none are declared the product alone tells."""
        for spec in self.covering(domain):
            declared = (spec.get("escalation") or {}).get("paths") or ()
            if declared:
                return tuple(sorted(map(path_of, declared), key=lambda each: each.level))
        return (Path(),)

    def patience_of(self, domain: str) -> str:
        """Return how soon people have to answer, as it is declared."""
        for spec in self.covering(domain):
            rule = spec.get("humanOverride") or {}
            if rule.get("maxResponseTime") and rule.get("enabled", True):
                return str(rule["maxResponseTime"])
        return ""


def path_of(declared: Mapping[str, Any]) -> Path:
    """Read a level."""
    role, channel, timeout = (
        str(declared.get(key) or "") for key in ("role", "channel", "timeout")
    )
    return Path(declared["level"], role, channel, timeout)


def waiting_time(declared: str) -> timedelta:
    """Read how long to wait; what no clock can wait for is for ever."""
    wait = parse_duration(declared) if is_positive(declared) else None
    return FOR_EVER if wait is None else min(wait, FOR_EVER)


def sweep(now: datetime) -> int:
    """Tell everybody whose turn it is; return how many proposals climbed."""
    charter = Charter.read()
    silent, gone = unanswered(now), expired(now)
    climbed = sum(ring(each, found, silent, now) for each, found in due(charter, now).items())
    climbed += sum(ring(each, found, gone, now) for each, found in over(charter, now).items())
    warn(charter, now)
    return climbed


def unanswered(now: datetime) -> QuerySet[Proposal]:
    """Return what waits for people, and is neither put off nor held."""
    waiting = Proposal.objects.filter(state="pending", held="", expires_at__gt=current(now))
    # Nobody outside is called because of a check.
    shown = Q(quiet_until=None) | Q(quiet_until__lte=current(now))
    return waiting.filter(shown, ~proposals.is_check())


def expired(now: datetime) -> QuerySet[Proposal]:
    """Return what expired unanswered lately, and nobody was told of."""
    gone = Proposal.objects.filter(state="expired", lane="ask", changed_at__gt=now - NEWS)
    untold = Q(escalated_at=None) | Q(escalated_at__lt=F("expires_at"))
    return gone.filter(untold, expires_at__lte=now)


def due(charter: Charter, now: datetime) -> Turns:
    """Find whose turn it is, by what they are to be told together."""
    found: Turns = defaultdict(list)
    rows = unanswered(now).order_by("pk").values_list(*FIELDS, "escalated_at", "quiet_until")
    for key, domain, cause, count, at, quiet in rows.iterator():
        paths = charter.paths(domain)
        # A rest that somebody asked for does not count as silence.
        if at is not None and now - max(at, quiet or at) < reached(paths, count).wait:
            continue
        ring = told(reached(paths, count + 1), count, len(paths), cause or str(key))
        found[ring].append((key, count))
    return found


def over(charter: Charter, now: datetime) -> Turns:
    """Find who is to hear that something expired."""
    found: Turns = defaultdict(list)
    for key, domain, cause, count in expired(now).order_by("pk").values_list(*FIELDS):
        path = reached(charter.paths(domain), count + 1)
        ring = Ring(path, cause or str(key), "Expired unanswered by", "critical")
        found[ring].append((key, count))
    return found


def reached(paths: Sequence[Path], count: int) -> Path:
    """Return the level that was told by the nth time; the last one stays the last."""
    return paths[min(max(count, 1), len(paths)) - 1]


def told(path: Path, count: int, levels: int, cause: str) -> Ring:
    """Say why a level is told: it is the first, the next, or the last again."""
    if count == 0:
        return Ring(path, cause, "Waiting for", "warning")
    return Ring(path, cause, "Escalated to" if count < levels else "Still waiting for", "error")


def ring(
    each: Ring, found: Sequence[DueProposal], still: QuerySet[Proposal], now: datetime
) -> int:
    """Tell one level of proposals with one cause; of many workers one does."""
    climbed = 0
    for batch in batches(list(found), TOGETHER):
        with transaction.atomic():
            won = [key for key, count in batch if climb(still.filter(pk=key), count, now)]
            rows = Proposal.objects.select_related("resource").filter(pk__in=won).order_by("pk")
            if won:
                announce(each, list(rows), now)
            climbed += len(won)
    return climbed


def climb(row: QuerySet[Proposal], count: int, now: datetime) -> bool:
    """Move a proposal to the next level if it is still as it was found."""
    return bool(row.filter(escalation=count).update(escalation=count + 1, escalated_at=now))


def announce(each: Ring, rows: Sequence[Proposal], now: datetime) -> None:
    """Write the message and the ledger's entries."""
    path = each.path
    keys = (f"proposal/{row.uid}/escalation/{path.level:g}/{row.escalation}" for row in rows)
    delivery.tell(
        path.channel,
        title=title_of(f"{each.word} {path.role or 'people'}", rows),
        body="\n".join([*described(rows), *holders(path.role, rows, now)]),
        severity=each.severity,
        key=" ".join(keys),
        now=now,
        proposal=rows[0] if len(rows) == 1 else None,
    )
    said = {"level": path.level, "role": path.role, "channel": path.channel}
    for row in rows:
        payload = said | {"times": row.escalation}
        proposals.tell(row, "escalated", actor=SYSTEM, now=now, payload=payload)


def title_of(opening: str, rows: Sequence[Proposal]) -> str:
    """Head a message about one proposal, or about many with one cause."""
    first, more = rows[0], f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{opening}: {first.actions[0]['operation']} on {first.resource}{more}"


def described(rows: Sequence[Proposal]) -> Iterator[str]:
    """Say what is proposed, one line each; the rest is in the product."""
    for row in rows[:NAMED]:
        what = row.explanation or row.actions[0].get("why", "")
        yield f"{row} about {row.resource}: {quotation.attributed(row, what[:500])}"
        yield (
            f"Proposed by {row.proposer} at {instant(row.created_at)}, {row.risk} risk;"
            f" it expires at {instant(row.expires_at)}."
        )
    if len(rows) > NAMED:
        yield f"And {len(rows) - NAMED} more."


def holders(role: str, rows: Sequence[Proposal], now: datetime) -> Iterator[str]:
    """Name those of our people who hold a role of this name."""
    domains = {"", *(row.resource.domain for row in rows)}
    granted = Grant.objects.filter(role=role, domain__in=domains, person__is_active=True)
    lasting = granted.filter(Q(ends_at=None) | Q(ends_at__gt=now)).order_by("person__username")
    names = lasting.values_list("person__username", flat=True).distinct()[:NAMED]
    if names:
        yield f"{role}: {', '.join(names)}"


def warn(charter: Charter, now: datetime) -> None:
    """Warn once of each proposal that waits longer than people may take to answer."""
    slow: dict[tuple[Path, str], list[int]] = defaultdict(list)
    rows = unanswered(now).order_by("pk").values_list(*FIELDS, "created_at")
    for key, domain, _, count, created in rows.iterator():
        patience = charter.patience(domain)
        if timedelta(0) <= now - created - waiting_time(patience) < NEWS:
            slow[reached(charter.paths(domain), count), patience].append(key)
    for (path, patience), keys in slow.items():
        for batch in batches(keys, TOGETHER):
            complain(path, patience, unwarned(batch), now)


def unwarned(keys: Sequence[int]) -> list[Proposal]:
    """Leave out what people were warned of before."""
    rows = list(Proposal.objects.select_related("resource").filter(pk__in=keys).order_by("pk"))
    names = {digest(warning_key(row)): row for row in rows}
    known = set(Delivery.objects.filter(key__in=names).values_list("key", flat=True))
    return [row for key, row in names.items() if key not in known]


def complain(path: Path, patience: str, rows: Sequence[Proposal], now: datetime) -> None:
    """Keep a warning for each, and tell the level that has them with one message."""
    opening = f"Not answered within {patience}"
    messages = [
        delivery.Message(
            path.channel if len(rows) == 1 else "",
            title_of(opening, [row]),
            "\n".join(described([row])),
            "warning",
            warning_key(row),
            proposal=row,
        )
        for row in rows
    ]
    if len(rows) > 1 and path.channel:
        body, key = "\n".join(described(rows)), " ".join(each.key for each in messages)
        summary = title_of(opening, rows)
        messages.append(delivery.Message(path.channel, summary, body, "warning", key))
    with transaction.atomic():
        delivery.tell_all(messages, now)


def warning_key(row: Proposal) -> str:
    """Name the one warning about a proposal."""
    return f"proposal/{row.uid}/slow"
