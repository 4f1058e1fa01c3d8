"""Read documents, ask the store what they would change, and perhaps make it so."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ioa_site.commands import Stop
from ioa_site.server.progress import Bar
from ioa_site.work import caller
from resources.documents import files, validation
from resources.documents.files import Loaded
from resources.documents.kind import V01, Fault
from resources.store import references, store
from resources.store.references import Name
from resources.tables.models import Condition
from resources.usecases import specs
from resources.usecases.specs import Applied, DesiredDocument

Warnings = tuple[Fault, ...]


@dataclass(frozen=True)
class AppliedDocument:
    """A document that was read, and what became of it."""

    loaded: Loaded
    result: Applied
    warnings: Warnings = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What else a person should know."""
        old = (
            isinstance(self.loaded.document, dict)
            and self.loaded.document.get("apiVersion") == V01
        )
        return (*(("migrated from v0.1",) if old else ()), *self.result.notes)


@dataclass(frozen=True)
class ApplyOutcome:
    """What became of a set of paths; without `written` the store is as it was."""

    items: tuple[AppliedDocument, ...]
    unreadable: tuple[Loaded, ...]
    skipped: tuple[Loaded, ...]
    written: bool

    @property
    def failures(self) -> int:
        """How many documents and files stand in the way."""
        return len(self.unreadable) + sum(item.result.failed for item in self.items)

    def problems(self) -> Iterator[tuple[Loaded, Fault]]:
        """Yield every error with the document it is in."""
        for loaded in self.unreadable:
            yield from ((loaded, problem) for problem in loaded.problems)
        for item in self.items:
            yield from ((item.loaded, problem) for problem in item.result.problems)


def answer(
    paths: Sequence[str], *, bar: Bar, dry_run: bool = False, keep_going: bool = False
) -> ApplyOutcome:
    """Apply what the paths hold; files that cannot be read count like documents refused."""
    with patient_collector():
        return whole_answer(paths, bar=bar, dry_run=dry_run, keep_going=keep_going)


@contextmanager
def patient_collector() -> Iterator[None]:
    """Look for garbage less often: everything read here is kept, and the looking costs a third."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def whole_answer(
    paths: Sequence[str], *, bar: Bar, dry_run: bool, keep_going: bool
) -> ApplyOutcome:
    """Read, apply and look for names that do not exist."""
    loaded = files.load_paths(paths, lambda done, total: bar("read", done, total))
    readable = [each for each in loaded if each.document is not None]
    unreadable = tuple(each for each in loaded if each.failed)
    held_back = dry_run or (bool(unreadable) and not keep_going)
    outcome = apply(readable, bar=bar, dry_run=held_back, keep_going=keep_going)
    warnings = dangling(readable, outcome)
    items = tuple(
        AppliedDocument(each, result, warnings.get(files.identity(each.document), ()))
        for each, result in zip(readable, outcome.results, strict=True)
    )
    skipped = tuple(each for each in loaded if each.document is None and not each.failed)
    return ApplyOutcome(items, unreadable, skipped, written=outcome.written)


def apply(
    readable: Sequence[Loaded], *, bar: Bar, dry_run: bool, keep_going: bool
) -> specs.Outcome:
    """Hand the documents to the store, showing the phases."""
    total = len(readable)

    try:
        return specs.apply(
            [DesiredDocument(each.document) for each in readable if each.document is not None],
            actor=caller.person(),
            now=caller.now(),
            dry_run=dry_run,
            keep_going=keep_going,
            progress=lambda phase, done: bar(phase, done, total),
        )
    except store.Stale as error:
        raise Stop(str(error)) from None


def dangling(readable: Sequence[Loaded], outcome: specs.Outcome) -> dict[Name, Warnings]:
    """Return the names that documents mention and that neither the set nor the store has.

    These are warnings whatever their rule says: names may arrive in any order. Only documents that
    can have any are looked at again, so that a large set in good order costs one query.
    """
    here = {(result.kind, result.name) for result in outcome.results if not result.failed}
    suspects = unresolved() if outcome.written else unresolved() | moved(outcome)
    suspects &= here
    chosen = [
        files.upgraded(each.document)
        for each in readable
        if files.identity(each.document) in suspects
    ]
    wanted = {name for document in chosen for name in references.mentioned(document)}
    known = references.Known(here | references.existing(wanted - here))
    problems = validation.cross_check(chosen, known)
    return {
        files.identity(document): tuple(p for p in each if p.severity != "info")
        for document, each in zip(chosen, problems, strict=True)
    }


def unresolved() -> set[Name]:
    """Return the resources whose condition says that they name something missing."""
    missing = Condition.objects.filter(type=references.TYPE, status="False")
    return set(
        missing.filter(resource__deleted_at=None).values_list("resource__kind", "resource__name")
    )


def moved(outcome: specs.Outcome) -> set[Name]:
    """Return what would be written; the store cannot have judged it yet."""
    return {
        (result.kind, result.name)
        for result in outcome.results
        if result.action in ("created", "changed")
    }
