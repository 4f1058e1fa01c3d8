"""Look at resources: as they are, or as they were."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Literal

from ioa_site.commands import Stop
from ioa_site.server.terminal import say, table
from ioa_site.work import caller, rows
from ioa_site.work.health import is_bad
from ioa_site.work.names import ago
from resources.documents import files
from resources.documents.kind import Document, Kind
from resources.documents.problems import Problem
from resources.store import history, selectors
from resources.store.selectors import Selector, Term
from resources.store.snapshots import document_of, parse_instant

Output = Literal["yaml", "json", "table"]

PAGE = 200
HEADS = ("NAME", "DOMAIN", "GENERATION", "CHANGED", "CONDITIONS")


def one(kind: Kind, name: str, at: datetime | None) -> Document:
    """Return one document, or stop."""
    found = at_that_time(kind, name, at) if at else now_there(kind, name)
    if found is None:
        raise Stop(f"There is no {kind.path}/{name}{' at that time' if at else ''}.", code=1)
    return found


def now_there(kind: Kind, name: str) -> Document | None:
    """Return a resource as it is."""
    found = rows.walk(rows.live(kind.name).filter(name=name), document_of)
    return next((document for _, document in found), None)


def at_that_time(kind: Kind, name: str, at: datetime) -> Document | None:
    """Return a resource as it was."""
    try:
        return history.document_at(kind.name, name, at)
    except Problem as problem:
        raise Stop(problem.message) from None


def many(kind: Kind, selector: str, at: datetime | None) -> Iterator[Document]:
    """Yield the resources of a kind, ordered by name."""
    try:
        wanted = selectors.parse(selector)
        if at is not None:
            yield from (each for each in as_at(kind, at) if meets(each, wanted))
            return
    except Problem as problem:
        raise Stop(problem.message) from None
    found = selectors.matching(rows.live(kind.name), wanted)
    yield from (document for _, document in rows.walk(found, document_of))


def as_at(kind: Kind, at: datetime) -> Iterator[Document]:
    """Yield the resources of a kind as they were, page by page."""
    after = ""
    while page := history.as_at(kind.name, at, after=after, limit=PAGE):
        yield from page
        after = page[-1]["metadata"]["name"]


def meets(document: Document, selector: Selector) -> bool:
    """Tell whether a document of the past has the labels asked for."""
    labels: Mapping[str, str] = document["metadata"].get("labels") or {}
    return all(holds(labels, term) for term in selector)


def holds(labels: Mapping[str, str], term: Term) -> bool:
    """Tell whether labels meet one term."""
    found = term.key in labels and (not term.values or labels[term.key] in term.values)
    return found == (term.demand in ("in", "exists"))


def table_row(kind: Kind, document: Document, now: datetime) -> tuple[str, ...]:
    """Return the cells of one resource."""
    metadata = document["metadata"]
    changed = parse_instant(metadata["updatedAt"])
    return (
        metadata["name"],
        kind.domain_of(document) or "-",
        str(metadata["generation"]),
        ago(changed, now) if changed else "-",
        ", ".join(bad_news(kind, document)) or "-",
    )


def bad_news(kind: Kind, document: Document) -> Iterator[str]:
    """Yield the conditions that are in their bad state."""
    for each in document.get("status", {}).get("conditions") or []:
        if is_bad(kind, each["type"], each["status"]):
            yield f"{each['type']}={each['status']}"


def print_one(kind: Kind, document: Document, output: Output) -> None:
    """Write one document."""
    if output == "table":
        print_many(kind, [document], output)
    else:
        sys.stdout.write(files.dump(document, output))


def print_many(kind: Kind, found: Iterable[Document], output: Output) -> None:
    """Write many documents, as a text that can be applied again or as a table."""
    if output == "table":
        now = caller.now()
        cells = [table_row(kind, each, now) for each in found]
        for line in table(cells, HEADS) if cells else [f"There are no {kind.plural.lower()}."]:
            say(line)
    elif output == "json":
        sys.stdout.write(files.dump_all(list(found), "json"))
    else:
        for position, each in enumerate(found):
            sys.stdout.write(("---\n" if position else "") + files.dump(each, "yaml"))
