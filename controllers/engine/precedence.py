"""What a person said beats every controller: which hold stands in the way of an action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

Kind = Literal["stop", "freeze", "pause", "override"]
# The order in which they count: the wider statement first.
ORDER: Sequence[Kind] = ("stop", "freeze", "pause", "override")


class Standing(NamedTuple):
    """A hold in force: what it says, what it covers, who said it and until when."""

    key: int
    kind: Kind
    scope: Literal["organisation", "domain", "controller", "resource", "field"]
    reason: str
    author: str
    domain: str = ""
    controller: int | None = None
    resource: int | None = None
    path: str = ""
    ends_at: datetime | None = None
    # Whether work that has begun may end.
    in_flight: Literal["finish", "stop"] = "stop"


class Reach(NamedTuple):
    """What an action touches: its target, on whose behalf, in which domain, in which fields."""

    resource: int
    domain: str
    controller: int | None = None
    # Nothing means that it may touch anything.
    touches: tuple[str, ...] = ()


def strongest(holds: Iterable[Standing], reach: Reach) -> Standing | None:
    """Return the hold that stands in the way of an action, the widest statement first."""
    found = [each for each in holds if covers(each, reach)]
    return min(found, key=lambda each: (ORDER.index(each.kind), each.key), default=None)


def covers(hold: Standing, reach: Reach) -> bool:
    """Tell whether a hold covers what an action touches."""
    if hold.scope == "organisation":
        return True
    if hold.scope == "domain":
        return hold.domain == reach.domain
    if hold.scope == "controller":
        return hold.controller == reach.controller
    if hold.resource != reach.resource:
        return False
    return hold.scope == "resource" or meets(hold.path, reach.touches)


def meets(path: str, touches: Sequence[str]) -> bool:
    """Tell whether an action touches a field, what is inside it, or what it is inside of."""
    return not touches or any(within(each, path) or within(path, each) for each in touches)


def within(path: str, other: str) -> bool:
    """Tell whether a path is another one or leads into it."""
    return path == other or path.startswith((f"{other}.", f"{other}["))


SENTENCES: Mapping[Kind, str] = {
    "stop": "Everything is stopped",
    "freeze": "Changes are frozen",
    "pause": "It is paused",
    "override": "A person overrides it",
}


def sentence(hold: Standing) -> str:
    """Say which hold stands in the way, by whom and why."""
    until = f" until {hold.ends_at:%Y-%m-%d %H:%M} UTC" if hold.ends_at else ""
    return f"{SENTENCES[hold.kind]}{until} by {hold.author}: {hold.reason}"
