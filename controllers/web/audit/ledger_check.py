"""Prove the ledger while somebody waits: all of it while it is small, then its newest entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from threading import Lock
from typing import NamedTuple

from django.db.models import Q

from resources.store import evidence
from resources.store.evidence import Verdict
from resources.tables.batches import batches
from resources.tables.models import Checkpoint, LedgerEvent, LedgerStream

# Some seconds of work; the command line proves the rest.
MOST = 50_000
CHUNK = 2_000
PAIRS = 200
TOLD = 3

Link = tuple[int, str]
running = Lock()


class Checked(NamedTuple):
    """What a check found, in a sentence."""

    whole: bool
    sentence: str
    tone: str = "danger"


def check(most: int = MOST) -> Checked:
    """Prove the ledger, as far as somebody can wait; one check at a time."""
    if not running.acquire(blocking=False):
        return Checked(False, "A check is already running. Try again in a moment.", "warn")
    try:
        total = LedgerEvent.objects.count()
        if total <= most:
            return told(evidence.verify(), total)
        verdict = Verdict()
        with evidence.one_moment():
            verify_newest(verdict, most)
        return told(verdict, total)
    finally:
        running.release()


def told(verdict: Verdict, total: int) -> Checked:
    """Say what was found."""
    if not verdict.ok:
        more = len(verdict.findings) - TOLD
        rest = f" And {more} more." if more > 0 else ""
        return Checked(False, f"Chain broken. {' '.join(verdict.findings[:TOLD])}{rest}")
    if verdict.events < total:
        part = f"the newest {verdict.events:,} of {total:,} entries"
        return Checked(True, f"Chain verified, {part}. “ioa audit verify” proves all of them.")
    return Checked(True, f"Chain verified, {verdict.events:,} entries.")


def verify_newest(verdict: Verdict, most: int) -> None:
    """Prove the newest entries: each by itself, its link, and the heads and seals they lead to."""
    ids = LedgerEvent.objects.order_by("-id").values_list("id", flat=True)
    newest = LedgerEvent.objects.filter(id__gte=ids[most - 1])
    try:
        reached = verify_entries(newest.order_by("stream", "seq").iterator(CHUNK), verdict)
        verify_heads(reached, verdict)
        verify_seals(ids[most - 1], verdict)
    except evidence.UNREADABLE as error:
        verdict.find(f"The ledger holds something nobody can have written: {error}.")


def verify_entries(entries: Iterable[LedgerEvent], verdict: Verdict) -> Mapping[str, Link]:
    """Walk entries in the order of their streams; return where each stream was left."""
    reached: dict[str, Link] = {}
    for batch in batches(entries, CHUNK):
        begun = [each for each in batch if each.stream not in reached]
        reached |= before(begun)
        for each in batch:
            verdict.events += 1
            evidence.verify_entry(each, reached.get(each.stream, (0, "")), verdict)
            reached[each.stream] = (each.seq, each.hash)
    verdict.streams = len(reached)
    return reached


def before(entries: Iterable[LedgerEvent]) -> dict[str, Link]:
    """Return the links that lead to the first of the entries of each stream."""
    first: dict[str, int] = {}
    for each in entries:
        first.setdefault(each.stream, each.seq)
    found = hashes((stream, seq - 1) for stream, seq in first.items())
    return {stream: (seq, own) for (stream, seq), own in found.items()}


def hashes(places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """Return the hashes at some places of streams."""
    found: dict[tuple[str, int], str] = {}
    for batch in batches([place for place in places if place[1] > 0], PAIRS):
        pairs = reduce(or_, (Q(stream=stream, seq=seq) for stream, seq in batch))
        rows = LedgerEvent.objects.filter(pairs).values_list("stream", "seq", "hash")
        found |= {(stream, seq): own for stream, seq, own in rows}
    return found


def verify_heads(reached: Mapping[str, Link], verdict: Verdict) -> None:
    """Compare where streams were left with where their heads say they end."""
    for batch in batches(sorted(reached)):
        heads = LedgerStream.objects.filter(name__in=batch).values_list("name", "seq", "head")
        ends = {name: (seq, head) for name, seq, head in heads}
        for name in batch:
            if ends.get(name) != reached[name]:
                verdict.find(f"{name} does not end where its head says: entries are missing.")


def verify_seals(floor: int, verdict: Verdict) -> None:
    """Prove the signed checkpoints of these entries."""
    previous: Checkpoint | None = None
    for each in Checkpoint.objects.filter(after__gte=floor).order_by("number"):
        verdict.checkpoints += 1
        if not evidence.signed(each) or not evidence.covers(each):
            verdict.find(f"Checkpoint {each.number} signed other entries than these.")
        if previous and not evidence.follows(each, previous):
            verdict.find(f"Checkpoint {each.number} does not follow the one before it.")
        previous = each


def intact(entries: Sequence[LedgerEvent]) -> frozenset[int]:
    """Return the numbers of the entries that are as they were written, and follow one another."""
    known = {(each.stream, each.seq): each.hash for each in entries}
    earlier = {(each.stream, each.seq - 1) for each in entries}
    known |= hashes(sorted(earlier - known.keys()))
    good = []
    for each in entries:
        verdict, link = Verdict(), (each.seq - 1, known.get((each.stream, each.seq - 1), ""))
        evidence.verify_entry(each, link, verdict)
        if verdict.ok:
            good.append(each.pk)
    return frozenset(good)
