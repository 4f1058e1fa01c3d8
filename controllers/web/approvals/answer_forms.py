"""The form of an answer: what it asks for, and how what was typed is given to its use case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from django.contrib.auth.models import User

from controllers.decisions.answers import ProposalAnswer
from controllers.decisions.answers.votes import routine
from controllers.decisions.proposals import SeenRevision
from controllers.models import Proposal
from controllers.narrative import proposal_text
from controllers.web.approvals.form_fields import Input, Typed, inputs_of, values_of


class AnswerSubmission(NamedTuple):
    """What somebody says: who, about what they saw, when, and what they typed."""

    proposal: Proposal
    person: User
    seen: SeenRevision
    now: datetime
    typed: Typed

    @property
    def reason(self) -> str:
        """Why they say it."""
        return self.typed.get("reason", "")


def worded(answer: ProposalAnswer, text: str, proposal: Proposal) -> str:
    """Write a text of an answer with the names in it."""
    return answer.named(text, proposal_text.number(proposal), proposal)


def inputs(
    answer: ProposalAnswer, proposal: Proposal, typed: Typed, problems: Mapping[str, str]
) -> list[Input]:
    """Return the fields, with what was typed and what is wrong with it."""
    asked = inputs_of(answer.fields, typed, proposal)
    asked.append(reason_input(answer, proposal, typed))
    return [replace(each, problem=problems.get(each.name, "")) for each in asked]


def reason_input(answer: ProposalAnswer, proposal: Proposal, typed: Typed) -> Input:
    """Ask why."""
    spared = answer.spares_reason(proposal)
    usual = answer.reason
    if answer.verb == "approve" and friction(proposal) != "confirm":
        usual = ""
    label = "Reason (optional)" if spared else "Reason"
    return Input("reason", label, "area", typed.get("reason", usual), required=not spared)


def give(answer: ProposalAnswer, told: AnswerSubmission) -> Proposal:
    """Say it, through the one use case."""
    given = answer.give(values_of(answer.fields, told.typed, told.now, told.proposal))
    seen = {"seen": told.seen} if answer.bound else {}
    after = {"after": answer.grace} if answer.grace else {}
    key, why = told.proposal.pk, told.reason
    return answer.use_case(
        key, person=told.person, now=told.now, reason=why, **seen, **after, **given
    )


def friction(proposal: Proposal, people: int = 1) -> str:
    """Return how much an approval asks of a person: nothing, a look, or words of their own."""
    if not routine(proposal) or max(proposal.people, people) > 1:
        return "reason"
    return "none" if proposal.risk == "low" else "confirm"
