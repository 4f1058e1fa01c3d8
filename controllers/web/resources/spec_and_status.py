"""What should be and what is, side by side: fixed places, and what differs stands out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from controllers.engine import drift
from controllers.narrative import proposal_text
from controllers.narrative.event_text import shortly
from resources.documents import yaml_text
from resources.documents.kind import Document
from resources.documents.reader import escape

VIEWS: Mapping[str, str] = {"changed": "Changed", "all": "All", "yaml": "YAML"}


class DocumentLine(NamedTuple):
    """One line of one side; the tone says why it stands out: want, off or held."""

    text: str
    tone: str = ""


class Sides(NamedTuple):
    """Both sides, line by line."""

    desired: Sequence[DocumentLine]
    actual: Sequence[DocumentLine]

    @property
    def pairs(self) -> list[tuple[DocumentLine, DocumentLine]]:
        """The lines beside each other; both sides have as many where pairs are compared."""
        return list(zip(self.desired, self.actual, strict=True))


class Held(NamedTuple):
    """A field that a person holds."""

    path: str
    value: Any
    former: Any
    who: str


def changed(evidence: Iterable[Document], held: Iterable[Held]) -> Sides:
    """Set what differs against each other, pair by pair."""
    missed = [each for each in evidence if each.get("verdict") == "missed"]
    desired: list[DocumentLine] = []
    actual: list[DocumentLine] = []
    for each in held:
        at = f"{bare(each.path)}: "
        desired.append(DocumentLine(f"{at}{shortly(each.value)}  # held by {each.who}", "held"))
        actual.append(DocumentLine(f"# {shortly(each.former)} before", "held"))
    if desired:
        desired.insert(0, DocumentLine("held:"))
        actual.insert(0, DocumentLine("held:"))
    for dimension in drift.ALL:
        found = [each for each in missed if each["dimension"] == dimension.name]
        if found:
            head = DocumentLine(f"{dimension.heading}:")
            desired += [head, *(line(each, "desired", "want") for each in found)]
            actual += [head, *(line(each, "actual", "off") for each in found)]
    return Sides(desired, actual)


def line(evidence: Document, side: str, tone: str) -> DocumentLine:
    """Write one side of a pair."""
    told = proposal_text.facts([evidence])[0]
    said = told.desired if side == "desired" else told.actual
    return DocumentLine(f"{bare(named(evidence))}: {said}", tone)


def named(evidence: Document) -> str:
    """Return what a piece of evidence is about."""
    return str(evidence["subject"]).partition("/")[2]


def bare(path: str) -> str:
    """Leave the part of the document away that the side says already."""
    return path.removeprefix("spec.")


def everything(
    spec: Document, status: Document, evidence: Iterable[Document], held: Iterable[Held]
) -> Sides:
    """Write both documents whole; what is off and what is held stands out."""
    missed = [each for each in evidence if each.get("verdict") == "missed"]
    names = {named(each) for each in missed if drift.by_name(each["dimension"]).in_document}
    kept = {pointer(bare(each.path)) for each in held}
    return Sides(written(spec, names, "want", kept), written(status, names, "off", set()))


def written(document: Document, names: set[str], tone: str, held: set[str]) -> list[DocumentLine]:
    """Write a document line by line."""
    if not document:
        return []
    text = yaml_text.write_yaml(document)
    places = yaml_text.lines(text)[0]
    tones: dict[int, str] = {}
    wanted = {pointer(bare(each)) for each in names} | pointers(document, names)
    for chosen, word in ((wanted, tone), (held, "held")):
        for place, number in places.items():
            if any(place == each or place.startswith(f"{each}/") for each in chosen):
                tones[number] = word
    return [DocumentLine(each, tones.get(n, "")) for n, each in enumerate(text.splitlines(), 1)]


def pointers(value: Any, names: set[str], at: str = "") -> set[str]:
    """Return the places that speak of names: entries called so, and fields of that name."""
    found: set[str] = set()
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        if at and isinstance(value.get("name"), str) and value["name"] in names:
            return {at}
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, item in pairs:
        place = f"{at}/{escape(str(key))}"
        found |= {place} if key in names else pointers(item, names, place)
    return found


def pointer(path: str) -> str:
    """Return the JSON pointer of a path such as `tokenBudget.maxDaily`."""
    return "".join(f"/{escape(step)}" for step in path.split("."))
