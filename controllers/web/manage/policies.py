"""Policies: how decisions are made now, in plain words, and where each of them is changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple, get_args

from django.db.models import Count
from django.urls import reverse

from controllers.access import freshness
from controllers.access.roles.quorum import Declared, Policy
from controllers.decisions.creation import attention_budget
from controllers.decisions.escalation import Charter, Path
from controllers.engine import configuration, due_times, gate, proposal_lifecycle
from controllers.engine.gate import Question
from controllers.engine.precedence import ORDER
from controllers.engine.terms import Bar, Class, Mode, Ruling
from controllers.models import Autonomy
from controllers.narrative.time_text import span_in_words
from controllers.web.base.page import COUNTED, part
from controllers.web.controllers.modes import CHOICES
from controllers.web.manage.manage_page import Managing
from resources.documents.kind import Document
from resources.tables.models import Resource
from resources.usecases.access_rules import page

MOST = 500
ASKED: Question = Question("change", "enforce")
# The classes of actions, each as people ask about it; the gate answers in every mode.
CASES: Sequence[tuple[str, str, Question]] = (
    ("Note something", "A line in the record.", Question("record", "enforce")),
    ("Tell people", "A message or an alert.", Question("notify", "enforce")),
    ("Change something", "With approval required.", ASKED),
    (
        "Change something small",
        "Low risk, can be taken back, with approval auto.",
        ASKED._replace(approval="auto"),
    ),
    (
        "Change something grave",
        "Destroys, cannot be taken back, or changes what is declared.",
        ASKED._replace(risk="high", reversible=False, approval="auto"),
    ),
    (
        "Block what breaks a rule",
        "What an agent asks to do.",
        Question("block", "warn"),
    ),
)
# What stands before the table: when it does, and a question that meets it.
BEFORE: Sequence[tuple[str, Question]] = (
    ("The controller is tripped", ASKED._replace(breaker="Nothing happens until it is reset.")),
    ("It saw only a part of what it has to", ASKED._replace(snapshot="partial")),
    ("What it saw is too old", ASKED._replace(snapshot="stale")),
    ("Nobody has put the resource under control", ASKED._replace(managed=False)),
    (
        "The resource is protected, and the change is grave",
        ASKED._replace(protected=True, reversible=False),
    ),
    (
        "The controller leaves out what destroys",
        ASKED._replace(skip_destructive=True, destructive=True),
    ),
    ("Its maintenance window is shut", ASKED._replace(window_open=False)),
    ("It has made as many changes as one cycle may", ASKED._replace(actions_left=0)),
)
TONES = {"run": "ok", "ask": "human", "recommend": "accent"}


class Cell(NamedTuple):
    """What becomes of an action in a mode."""

    words: str
    tone: str


class Loop(NamedTuple):
    """A controller as far as it decides."""

    name: str
    mode: Mode
    alone: bool
    bar: Bar | None
    held: int
    window: str
    # Whether the window is open; nothing without one, or with one that cannot be read.
    is_open: bool | None

    @property
    def span(self) -> str:
        """Within how long the bar has to be reached."""
        return span_in_words(self.bar.within) if self.bar else ""


class DomainPolicy(NamedTuple):
    """How silence climbs in a domain, and how much people are asked there."""

    domain: str
    governance: Sequence[str]
    patience: str
    paths: Sequence[Path]
    attention: Sequence[tuple[int, str]]

    @property
    def edits(self) -> list[tuple[str, str]]:
        """What declares it, and where that is."""
        return [(each, reverse("resource", args=["governance", each])) for each in self.governance]


class Policies(Managing):
    """One page that says who decides what now."""

    rights = page()
    template = "manage/policies.html"
    tab = "policies"
    readers = ()
    parts = {
        "policy-loops": part(
            "manage/_loops.html", "controller", "resource.spec-changed", "person", *COUNTED
        ),
        "policy-quorums": part("manage/_quorums.html", "group", "resource.spec-changed", *COUNTED),
        "policy-places": part("manage/_paths.html", "resource.spec-changed", *COUNTED),
    }

    @property
    def modes(self) -> list[tuple[Mode, str, str]]:
        """The modes, from the one that does least: its word, its icon, what it means."""
        known = {each.mode: each for each in CHOICES}
        return [(mode, known[mode].icon, known[mode].words) for mode in get_args(Mode)]

    @property
    def table(self) -> list[tuple[str, str, list[tuple[str, Cell]]]]:
        """What the gate answers to each case in each mode."""
        return [
            (title, note, [(mode, cell(question, mode)) for mode in get_args(Mode)])
            for title, note, question in CASES
        ]

    @property
    def before(self) -> list[tuple[str, str]]:
        """What the gate says before it asks for the mode."""
        return [(when, gate.decide(question).reason) for when, question in BEFORE]

    @property
    def order(self) -> Sequence[str]:
        """What people say, the strongest first."""
        return ORDER

    @property
    def lapses(self) -> list[tuple[str, timedelta]]:
        """How long people have for an answer, by risk."""
        return list(proposal_lifecycle.WAITS.items())

    @property
    def fresh(self) -> timedelta:
        """How long ago somebody may have signed in who lets something grave happen."""
        return freshness.FRESH

    @cached_property
    def loops(self) -> list[Loop]:
        """The controllers."""
        rows = Resource.objects.filter(kind="Controller", deleted_at=None).order_by("name")
        held = Counter(self.trusted)
        found = rows.values_list("pk", "generation", "name", "spec")[:MOST]
        return [
            loop_of(name, spec, held[key, generation], self.now)
            for key, generation, name, spec in found
        ]

    @property
    def trusted(self) -> dict[tuple[int, int], int]:
        """How many operations each controller does alone, because it has earned that."""
        rows = Autonomy.objects.filter(ended_at=None).order_by()
        counted = rows.values_list("controller_id", "generation").annotate(count=Count("pk"))
        return {(key, generation): count for key, generation, count in counted}

    @property
    def counted(self) -> list[tuple[str, int]]:
        """How many controllers are in each mode that there are any in."""
        found = Counter(each.mode for each in self.loops)
        return [(mode, found[mode]) for mode in get_args(Mode) if found[mode]]

    @property
    def may_operate(self) -> bool:
        """Whether the one who looks may propose another mode."""
        return self.scope.holds(("operator", "administrator"), "")

    @cached_property
    def places(self) -> list[DomainPolicy]:
        """The domains, and how questions climb in each."""
        charter = Charter.read()
        return [place_of(charter, each) for each in self.domains]

    @cached_property
    def domains(self) -> list[str]:
        """The domains that the one who looks sees."""
        rows = Resource.objects.filter(kind="Domain", deleted_at=None).order_by("name")
        return list(rows.values_list("name", flat=True)[:MOST])

    @cached_property
    def quorums(self) -> list[tuple[Policy, str]]:
        """What Governance asks for besides the mode, each policy with what it is about."""
        declared = Declared.read()
        every = (each for domain in self.domains for each in declared.policies_of(domain))
        found = {(each.governance, each.name): each for each in every}
        return [(found[key], about(found[key].match)) for key in sorted(found)]


def cell(question: Question, mode: Mode) -> Cell:
    """Ask the gate, and write its answer."""
    ruling = gate.by_mode(question._replace(mode=mode))
    return Cell(worded(question.kind, ruling), TONES.get(ruling.word, ""))


def worded(kind: Class, ruling: Ruling) -> str:
    """Write what becomes of an action."""
    if ruling.word == "ask":
        return f"Asks {ruling.people} people" if ruling.people > 1 else "Asks a person"
    if ruling.word == "run":
        return "Denies it" if kind == "block" else "Does it"
    return {"recommend": "Suggests it"}.get(ruling.word, "Only notes it")


def loop_of(name: str, spec: Document, held: int, now: datetime) -> Loop:
    """Read how a controller decides."""
    window = configuration.mapping(spec.get("maintenanceWindow"))
    parts = [configuration.text(window.get(each)) for each in ("cron", "timezone", "duration")]
    read = due_times.window(*parts) if window else None
    return Loop(
        name,
        configuration.mode_of(spec),
        spec.get("approval") == "auto",
        configuration.bar(configuration.mapping(spec.get("autonomy"))),
        held,
        f"{parts[0]} {parts[1]}, for {parts[2]}" if window else "",
        configuration.is_open(read, now) if read is not None else None,
    )


def about(match: Mapping[str, Any]) -> str:
    """Write what a policy is about: "throttle or pause, on Agent, of high risk"."""
    words = {"operations": "", "kinds": "on ", "domains": "in ", "risks": "of "}
    said = [
        f"{word}{' or '.join(match[name])}{' risk' if name == 'risks' else ''}"
        for name, word in words.items()
        if match.get(name)
    ]
    if "reversible" in match:
        said.append("can be taken back" if match["reversible"] else "cannot be taken back")
    return ", ".join(said) or "everything"


def place_of(charter: Charter, domain: str) -> DomainPolicy:
    """Read how questions climb in a domain."""
    rule: Mapping[str, Any] = attention_budget.declared(charter, domain)
    spans = [
        (rule[each.name], span_in_words(each.span))
        for each in attention_budget.WINDOWS
        if rule.get(each.name)
    ]
    covering = [name for name, _ in charter.named(domain)]
    return DomainPolicy(domain, covering, charter.patience(domain), charter.paths(domain), spans)
