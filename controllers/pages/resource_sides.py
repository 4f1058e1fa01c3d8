"""What should be and what is, side by side: fixed places, and what differs stands out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from controllers import wording
from controllers.happenings import shortly
from resources import yaml_text
from resources.kind import Document
from resources.reader import escape

# How each dimension of drift is headed.
HEADINGS: Mapping[str, str] = {
    "kpi": "targets",
    "health": "conditions",
    "budget": "budget",
    "security": "policies",
    "field": "fields",
}
VIEWS: Mapping[str, str] = {"changed": "Changed", "all": "All", "yaml": "YAML"}


class Line(NamedTuple):
    """One line of one side; the tone says why it stands out: want, off or held."""

    text: str
    tone: str = ""


class Sides(NamedTuple):
    """Both sides, line by line."""

    desired: Sequence[Line]
    actual: Sequence[Line]

    @property
    def pairs(self) -> list[tuple[Line, Line]]:
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
    desired: list[Line] = []
    actual: list[Line] = []
    for each in held:
        at = f"{bare(each.path)}: "
        desired.append(Line(f"{at}{shortly(each.value)}  # held by {each.who}", "held"))
        actual.append(Line(f"# {shortly(each.former)} before", "held"))
    if desired:
        desired.insert(0, Line("held:"))
        actual.insert(0, Line("held:"))
    for dimension, heading in HEADINGS.items():
        found = [each for each in missed if each["dimension"] == dimension]
        if found:
            desired += [Line(f"{heading}:"), *(line(each, "desired", "want") for each in found)]
            actual += [Line(f"{heading}:"), *(line(each, "actual", "off") for each in found)]
    return Sides(desired, actual)


def line(evidence: Document, side: str, tone: str) -> Line:
    """Write one side of a pair."""
    told = wording.facts([evidence])[0]
    said = told.desired if side == "desired" else told.actual
    return Line(f"{bare(named(evidence))}: {said}", tone)


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
    names = {named(each) for each in missed if each["dimension"] in ("kpi", "field")}
    kept = {pointer(bare(each.path)) for each in held}
    return Sides(written(spec, names, "want", kept), written(status, names, "off", set()))


def written(document: Document, names: set[str], tone: str, held: set[str]) -> list[Line]:
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
    return [Line(each, tones.get(n, "")) for n, each in enumerate(text.splitlines(), 1)]


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
