"""What an answer to a proposal is: one object that pages, API, ledger and reference read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from math import isfinite
from typing import Any, Literal, NamedTuple

from controllers.engine import proposal_lifecycle
from controllers.engine.proposal_lifecycle import STATES, Answer, Declared
from controllers.models import Proposal
from resources.documents import reader

# How long the name of an answer is in the tables, and a text in a form.
LONGEST_VERB = 16
LONGEST_TEXT = 2_000
# Keys that do something else on every page.
RESERVED_KEYS = "gjkuxAP/.?"

FieldType = Literal[
    "text",
    "number",
    "switch",
    "choice",
    "time",
    # A field of the target's spec, and a value for it.
    "path",
    "value",
    # Other parameters for the actions of the plan, and places in the plan.
    "parameters",
    "places",
]
Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class AnswerField:
    """One thing that an answer asks for, besides the reason."""

    name: str
    type: FieldType
    # What a page calls it, and what the API's description says of it.
    label: str = ""
    help: str = ""
    example: Any = None
    required: bool = False
    # What is said when it is missing.
    missing: str = "This is needed."
    # The words of a choice, with what a page calls each.
    choices: Mapping[str, str] = field(default_factory=dict)
    # The lengths that a page offers for a time, counted from now or from when it would lapse,
    # and the switches it offers instead of one.
    lengths: Sequence[str] = ()
    from_deadline: bool = False
    switches: Mapping[str, str] = field(default_factory=dict)
    # Whether a page asks for it by itself.
    on_page: bool = True

    def fault(self, value: Any) -> str:
        """Say what is wrong with a value of the right type; nothing when it fits."""
        if value in (None, ""):
            return self.missing if self.required else ""
        if self.type == "choice" and value not in self.choices:
            return f"It is one of {', '.join(self.choices)}."
        if self.type == "number" and not isfinite(value):
            return "That is no number."
        if self.type == "text":
            return text_fault(value)
        return ""


def text_fault(text: str) -> str:
    """Say why a text cannot be kept; nothing when it can."""
    if len(text) > LONGEST_TEXT:
        return f"It has at most {LONGEST_TEXT} characters."
    return next((f"It cannot be kept: {fault}" for fault in reader.text_faults(text)), "")


class LedgerSentence(NamedTuple):
    """How the ledger's entry of an answer is told: what goes on after who gave it."""

    text: str
    tone: str = "human"
    icon: str = "check"


class StateWord(NamedTuple):
    """What a proposal is called that an answer decided, where that says more than its state."""

    text: str
    tone: str = "human"
    icon: str = "check"


def as_named(values: Values) -> dict[str, Any]:
    """Give a use case its values by the names of the fields."""
    return dict(values)


def always(*_: Any) -> bool:
    """Fit whenever the lifecycle says so."""
    return True


def never(*_: Any) -> bool:
    """Ask for a reason every time."""
    return False


@dataclass(frozen=True, kw_only=True, eq=False)
class ProposalAnswer:
    """One thing that people can say about a proposal.

    Where the verb leads is written in the lifecycle. Texts may name the proposal, its controller
    and its target: `{number}`, `{controller}`, `{target}`.
    """

    verb: Answer | Declared | Literal["review", "repropose", "pause"]
    # Does it: `(key, *, person, now, reason, seen, …)`, in one transaction.
    use_case: Callable[..., Proposal]
    # Raises when somebody may not: `(person, proposal, now)`. The use case asks it again.
    rule: Callable[..., Any]
    # The same in words.
    who: str

    # What the offer says, and beside a list; what the form is about, and what its button does.
    offer: str
    button: str
    heading: str
    # What follows from it; what is said when it was recorded, or came too late.
    hint: str = ""
    success: str
    too_late: str = ""
    short: str = ""
    noun: str = "answer"
    # What somebody did, after their name; in the ledger's entry; and as the proposal's state.
    answered: str
    sentence: LedgerSentence | None = None
    state_word: StateWord | None = None
    # What the ledger's entry says besides what every answer's does.
    payload: Sequence[str] = ()

    fields: Sequence[AnswerField] = ()
    give: Callable[[Values], dict[str, Any]] = as_named
    # The usual reason, and whether this proposal needs none.
    reason: str = ""
    spares_reason: Callable[[Proposal], bool] = never
    # How long a page lets somebody take it back before anything begins.
    grace: timedelta | None = None

    icon: str
    tone: str = ""
    key: str = ""
    # Where a page offers it while people may decide, and whether also afterwards.
    place: Literal["first", "pair", "below", "more", ""] = "more"
    afterwards: bool = False
    order: int = 200

    # Whether it fits this proposal, where the lifecycle allows it; whether a page offers it.
    fits: Callable[[Proposal, datetime], bool] = always
    offered: Callable[[Proposal], bool] = always
    # Whether it is about what was seen, and may be said about many at once.
    bound: bool = True
    together: bool = False
    # Whether it is said of what is being undone, or of what is late, and of nothing else.
    while_undoing: bool = False
    when_late: bool = False
    # Whether the next proposal is shown after it.
    advances: bool = False
    # Whether the API has it as an answer.
    in_api: bool = True

    def __post_init__(self) -> None:
        """Refuse what no table or page could hold."""
        if len(self.verb) > LONGEST_VERB:
            raise ValueError(f"{self.verb} has more than {LONGEST_VERB} characters.")
        about_one = ("path", "value", "parameters")
        if self.together and any(e.type in about_one or e.from_deadline for e in self.fields):
            raise ValueError(f"{self.verb} asks about one plan, and is said about many.")
        if len(self.key) > 1 or (self.key and self.key in RESERVED_KEYS):
            raise ValueError(f"The key {self.key} is taken.")

    @property
    def name(self) -> str:
        """How addresses and documents spell the verb."""
        return self.verb.replace("_", "-")

    @property
    def event(self) -> str:
        """The ledger's entry of it, if it has one of its own."""
        return f"proposal.{proposal_lifecycle.told(self.verb)}" if self.sentence else ""

    @cached_property
    def leads(self) -> bool:
        """Whether it has a line in the lifecycle."""
        return any(proposal_lifecycle.allows(state, self.verb) for state in STATES)

    def named(self, text: str, number: str, proposal: Proposal) -> str:
        """Write one of its texts with the names in it."""
        maker = proposal.controller.name if proposal.controller else "its controller"
        return text.format(number=number, controller=maker, target=proposal.resource.name)
