"""Turn entries of the ledger into sentences, with the names in them read once for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import CharField, Q
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.db.models.lookups import Exact

from controllers.narrative.event_text.sentences import SENTENCES, EventSentence
from controllers.narrative.event_text.spelled_names import named, people, place
from controllers.narrative.event_text.words import Words
from resources.tables.models import LedgerEvent

# Events that a hook of a controller declares have names of their own.
OTHERS = EventSentence("", "activity", "announced {event}")
# How loud an entry is, where its sentence does not say so itself.
LOUD: Mapping[str, str] = {"warning": "warn", "error": "danger", "critical": "danger"}


@dataclass(frozen=True)
class Happening:
    """One entry as people read it; `text` goes on after `who`: "Maya Chen" + "approved …"."""

    number: int
    at: datetime
    # ok, warn, danger, human, accent or "" for neutral: never the only sign.
    tone: str
    # An icon of static/icons.svg.
    icon: str
    event: str
    who: str
    human: bool
    text: str
    # What it is about, and where to read more: a path of the product, or nothing.
    subject: str
    url: str
    # What a person said, in their own words.
    quote: str
    correlation: str

    @property
    def about(self) -> str:
        """The subject as a table names it: "P-7", "agent/growth-optimizer"."""
        return self.subject.replace("proposal/", "P-", 1)

    @property
    def sentence(self) -> str:
        """The whole of it, as a list names it without showing who: "Approved P-7 …"."""
        return self.text[:1].upper() + self.text[1:]


def asked() -> Q:
    """Choose what goes without saying: that people were told of a drift or asked for an answer."""
    # As text, because a column of plain JSON compares nothing else.
    times = Exact(Cast(KT("payload__times"), CharField()), "1")
    told = [Exact(KT("payload__actionType"), word) for word in ("alert", "escalate")]
    first = Q(event="proposal.escalated") & Q(times)
    return first | (Q(event="controller.action-performed") & (Q(told[0]) | Q(told[1])))


def told(events: Iterable[LedgerEvent]) -> list[Happening]:
    """Tell entries, with the names of the people in them read once for all."""
    entries = list(events)
    names = people(each for entry in entries for each in mentioned(entry))
    return [happening(each, names) for each in entries]


def mentioned(entry: LedgerEvent) -> Iterable[str]:
    """Yield the actors that an entry may name."""
    payload = entry.payload or {}
    yield from (entry.actor, entry.subject)
    for name in ("behalf", "deputy", "person", "placedBy", "decidedBy"):
        if isinstance(payload.get(name), str):
            yield payload[name]
    if isinstance(payload.get("owner"), str):
        yield f"person/{payload['owner']}"


def happening(entry: LedgerEvent, names: Mapping[str, str]) -> Happening:
    """Tell one entry."""
    # Events of a domain begin with its name.
    said = SENTENCES.get(entry.event) or SENTENCES.get(entry.event.partition(".")[2], OTHERS)
    words, hold = Words(entry, names), None
    if entry.event.startswith(("hold.", "system.")):
        hold = words.payload.get("hold")
    human = entry.actor.startswith("person/")
    tone = "human" if human and said.tone in ("", "accent", "ok") else said.tone
    return Happening(
        entry.pk,
        entry.at,
        tone or LOUD.get(entry.severity, ""),
        said.icon,
        entry.event,
        named(entry.actor, names),
        human,
        said.text.format_map(words).strip(),
        entry.subject,
        place(entry.subject, hold),
        words.quote if human else "",
        entry.correlation_id,
    )
