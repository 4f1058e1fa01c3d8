"""Try rules from the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from controllers.trust import policy_replay
from controllers.trust.policy_replay import Changed, Replay
from ioa_site.commands import Stop
from ioa_site.server.terminal import shown
from ioa_site.work import caller
from ioa_site.work.reconcile import called
from ioa_site.work.rows import live
from resources.documents.files import identity, load_paths
from resources.documents.kind import Document


def run(name: str, threshold: float | None, weights: Iterable[str], file: str | None) -> Replay:
    """Try what the options say."""
    row = live("Controller").get(name=called(name))
    spec = spec_in(file, row.name) if file else None
    # A document says everything: what it leaves out is not declared.
    gone = {each: None for each in row.spec if each not in spec} if spec is not None else {}
    patch = policy_replay.wanted(threshold, dict(map(weight, weights)), gone | (spec or {}))
    return policy_replay.run(row, patch, caller.now())


def weight(text: str) -> tuple[str, float]:
    """Read a weight such as `kpi=2`."""
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise Stop(f"{shown(text, 40)!r} is no weight: write NAME=NUMBER.") from None


def spec_in(file: str, name: str) -> Document:
    """Read the spec of a controller from a file."""
    for loaded in load_paths([file]):
        document = loaded.document
        if document and identity(document) == ("Controller", name):
            spec: Document = document.get("spec") or {}
            return spec
    raise Stop(f"{shown(file, 80)} declares no controller {shown(name, 80)!r}.")


class Listed(NamedTuple):
    """One list with its title, as a table."""

    title: str
    heads: tuple[str, ...]
    rows: list[Sequence[str]]


MADE = ("PROPOSAL", "RESOURCE", "MADE", "PEOPLE")


def lists_of(found: Replay) -> list[Listed]:
    """Return what would have been different, list by list."""
    appears = [
        (each.resource, f"{each.at:%Y-%m-%d %H:%M}", f"{each.score:.2f}") for each in found.appears
    ]
    against = [(*row_of(each), each.contradicts) for each in found.contradictions]
    return [
        Listed("Would appear", ("RESOURCE", "FROM", "DRIFT"), [*appears]),
        Listed("Would vanish", MADE, [row_of(each) for each in found.vanishes]),
        Listed("Would run without asking", MADE, [row_of(each) for each in found.unasked]),
        Listed("Would be asked about", MADE, [row_of(each) for each in found.asked]),
        Listed("Contradicts people", (*MADE, "WHY"), [*against]),
    ]


def row_of(each: Changed) -> Sequence[str]:
    """Write a proposal as a row."""
    said = f"{each.answer} by {each.decided_by}" if each.answer else "not decided"
    return f"P-{each.proposal}", each.resource, f"{each.at:%Y-%m-%d %H:%M}", said
