"""Documents that somebody brings: read, checked and compared before anything is saved."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from django.http import HttpRequest

from resources.documents import files as documents
from resources.documents import validation
from resources.documents.actor import Actor
from resources.documents.differences import Difference
from resources.documents.files import Loaded
from resources.documents.kind import Fault
from resources.documents.problems import TOO_LARGE, Problem
from resources.documents.reader import Unreadable, decode
from resources.store import references
from resources.tables.visibility import Scope
from resources.usecases import specs
from resources.usecases.specs import Applied, DesiredDocument

MOST_BYTES = 1024 * 1024
TYPED = "what you pasted"
FIELDS_SHOWN = 12
LONGEST_VALUE = 60


@dataclass(frozen=True)
class Source:
    """A file, or what somebody typed."""

    name: str
    text: str
    fault: str = ""

    @property
    def loaded(self) -> list[Loaded]:
        """The documents in it; what cannot be read is a problem of its own."""
        if self.fault:
            return [Loaded(self.name, 1, None, (Fault("", self.fault),))]
        media = documents.media_of(self.name, self.text)
        return documents.load_text(self.text, source=self.name, media=media)


@dataclass(frozen=True)
class FaultLine:
    """What is wrong, and at which line; a warning does not stand in the way."""

    place: str
    message: str
    severity: str


@dataclass(frozen=True)
class UploadedDocument:
    """One document, and what would become of it."""

    kind: str
    name: str
    action: str
    changes: Sequence[tuple[str, str, str]]
    hidden: int


@dataclass(frozen=True)
class UploadOutcome:
    """What becomes, or would become, of everything that was brought."""

    items: Sequence[UploadedDocument]
    faults: Sequence[FaultLine]
    written: bool

    @property
    def errors(self) -> int:
        """How many faults stand in the way."""
        return sum(each.severity == "error" for each in self.faults)

    @property
    def moved(self) -> int:
        """How many resources would be created or changed."""
        return sum(each.action in ("created", "changed") for each in self.items)

    @property
    def words(self) -> str:
        """How many of each: "2 created, 1 unchanged"."""
        counts = Counter(each.action for each in self.items)
        order = ("created", "changed", "unchanged", "refused", "conflict")
        return ", ".join(f"{counts[word]} {word}" for word in order if counts[word])


def brought(request: HttpRequest) -> list[Source]:
    """Return what a form brings: files, and texts with the names they came by."""
    files = request.FILES.getlist("files")
    texts = request.POST.getlist("text")
    names = request.POST.getlist("source")
    size = sum(each.size or 0 for each in files) + sum(len(each.encode()) for each in texts)
    if size > MOST_BYTES:
        raise Problem(TOO_LARGE, "That is more than 1 MB. Use ./ioa apply for it.")
    found = [read(each.name or "file", each.read()) for each in files]
    for place, text in enumerate(texts):
        if text.strip():
            name = names[place] if place < len(names) and names[place] else TYPED
            found.append(Source(name, text.replace("\r\n", "\n")))
    return found


def read(name: str, data: bytes) -> Source:
    """Read one file."""
    try:
        return Source(name, decode(data))
    except Unreadable as error:
        return Source(name, "", error.problems[0].message)


def digest(sources: Sequence[Source]) -> str:
    """Name what was brought, so that only what was looked at is applied."""
    whole = json.dumps([[each.name, each.text] for each in sources])
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def apply(
    sources: Sequence[Source], *, actor: Actor, now: datetime, scope: Scope, dry_run: bool
) -> UploadOutcome:
    """Make documents true, all or nothing; or only say what that would change."""
    loaded = [each for source in sources for each in source.loaded]
    readable = [each for each in loaded if each.document is not None]
    unreadable = [each for each in loaded if each.failed]
    wishes = [
        DesiredDocument(each.document, scope=scope)
        for each in readable
        if each.document is not None
    ]
    idle = dry_run or bool(unreadable)
    outcome = specs.apply(wishes, actor=actor, now=now, dry_run=idle)
    faults = [fault(each, problem) for each in unreadable for problem in each.problems]
    for each, result in zip(readable, outcome.results, strict=True):
        faults += [fault(each, problem) for problem in result.problems]
    faults += [fault(each, problem) for each, problem in dangling(readable, outcome.results)]
    return UploadOutcome([item(each) for each in outcome.results], faults, outcome.written)


def fault(loaded: Loaded, problem: Fault) -> FaultLine:
    """Say what is wrong, by file and line."""
    return FaultLine(documents.where(loaded, problem), problem.message, problem.severity)


def dangling(
    readable: Sequence[Loaded], results: Sequence[Applied]
) -> Iterator[tuple[Loaded, Fault]]:
    """Yield the names that documents mention and that nobody has yet: only warnings."""
    good = [each for each, result in zip(readable, results, strict=True) if not result.failed]
    current = [documents.upgraded(each.document) for each in good]
    here = {documents.identity(document) for document in current}
    wanted = {name for document in current for name in references.mentioned(document)}
    known = references.Known(here | references.existing(wanted - here))
    found = validation.cross_check(current, known)
    for each, problems in zip(good, found, strict=True):
        for problem in problems:
            if problem.severity != "info":
                yield each, Fault(problem.pointer, problem.message, "warning")


def item(result: Applied) -> UploadedDocument:
    """Describe what becomes of one document."""
    shown = [change(each) for each in result.differences[:FIELDS_SHOWN]]
    hidden = len(result.differences) - len(shown)
    return UploadedDocument(result.kind or "?", result.name or "?", result.action, shown, hidden)


def change(difference: Difference) -> tuple[str, str, str]:
    """Write a field that differs: where, before, after."""
    before = "" if difference.operation == "add" else value(difference.before)
    after = "" if difference.operation == "remove" else value(difference.after)
    return difference.pointer, before, after


def value(found: object) -> str:
    """Write a value in a few characters."""
    text = json.dumps(found, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
