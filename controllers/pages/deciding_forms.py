"""How an answer is asked for, and how it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User

from controllers import wording
from controllers.deciding.voting import routine
from controllers.models import Proposal
from controllers.pages.deciding_inputs import Input, Typed
from controllers.proposals import Seen

Given = dict[str, Any]


class Told(NamedTuple):
    """What somebody says: who, about what they saw, when, and what they typed."""

    proposal: Proposal
    person: User
    seen: Seen
    now: datetime
    typed: Typed

    @property
    def reason(self) -> str:
        """Why they say it."""
        return self.typed.get("reason", "")


def nothing(_: Told) -> Given:
    """Read no more than the reason."""
    return {}


@dataclass(frozen=True)
class Form:
    """How one answer is asked for; texts may name the proposal, its controller and its target."""

    verdict: str
    # What the offer says, and what the button does.
    offer: str
    button: str
    icon: str
    say: Callable[..., Proposal]
    tone: str = ""
    heading: str = ""
    hint: str = ""
    reason: str = ""
    read: Callable[[Told], Given] = nothing
    ask: Callable[[Proposal, Typed], Sequence[Input]] | None = None
    key: str = ""
    # Whether the answer is about what was seen.
    bound: bool = True
    # Whether the next proposal is shown after it.
    advances: bool = False

    def worded(self, text: str, proposal: Proposal) -> str:
        """Write a text with the names in it."""
        maker = proposal.controller.name if proposal.controller else "its controller"
        number = wording.number(proposal)
        return text.format(number=number, controller=maker, target=proposal.resource.name)

    def inputs(self, proposal: Proposal, typed: Typed, problems: Mapping[str, str]) -> list[Input]:
        """Return the fields, with what was typed and what is wrong with it."""
        asked = [*self.ask(proposal, typed)] if self.ask else []
        asked.append(self.reason_input(proposal, typed))
        return [replace(each, problem=problems.get(each.name, "")) for each in asked]

    def reason_input(self, proposal: Proposal, typed: Typed) -> Input:
        """Ask why."""
        plain = self.verdict == "approve" and routine(proposal)
        usual = self.reason
        if self.verdict == "approve" and friction(proposal) != "confirm":
            usual = ""
        said = "Reason" if self.verdict != "approve" or not plain else "Reason (optional)"
        return Input("reason", said, "area", typed.get("reason", usual), required=not plain)

    def answer(self, told: Told) -> Any:
        """Say it, through the one use case."""
        given = self.read(told)
        seen = {"seen": told.seen} if self.bound else {}
        key, why = told.proposal.pk, told.reason
        return self.say(key, person=told.person, now=told.now, reason=why, **seen, **given)


def friction(proposal: Proposal, people: int = 1) -> str:
    """Return how much an approval asks of a person: nothing, a look, or words of their own."""
    if not routine(proposal) or max(proposal.people, people) > 1:
        return "reason"
    return "none" if proposal.risk == "low" else "confirm"
