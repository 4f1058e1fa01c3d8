"""What ledger entries are about, in the words by which parts of pages name what concerns them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

ALL = "*"
PERSON = "person"


class Entry(NamedTuple):
    """As much of a ledger entry as tells whom it concerns."""

    number: int
    stream: str
    event: str
    subject: str
    resource: object

    @property
    def topics(self) -> frozenset[str]:
        """Everything it is about: the kind of its stream, that, what happened, to what."""
        kind = self.stream.partition("/")[0]
        # Events of a domain begin with its name: `growth.budget_exceeded`.
        bare = self.event.partition(".")[2] or self.event
        named = {ALL, kind, self.stream, self.event, bare, self.subject}
        return frozenset(named | ({self.resource} if isinstance(self.resource, str) else set()))


class News(NamedTuple):
    """What was written after `since` and up to `upto`; who is further behind missed too much."""

    since: int
    upto: int
    told: tuple[tuple[int, frozenset[str]], ...]

    def concerns(self, topics: Iterable[str], number: int) -> bool:
        """Tell whether something about these topics is new to one who knows up to a number."""
        if not self.since <= number <= self.upto:
            return True
        return any(said > number and not named.isdisjoint(topics) for said, named in self.told)


def news(entries: Iterable[Entry], since: int, upto: int) -> News:
    """Put entries together, by their topics."""
    return News(since, upto, tuple((each.number, each.topics) for each in entries))
