"""Where somebody decides about one proposal: what they may say, and the form they are at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.urls import reverse

from controllers.access import roles
from controllers.decisions import answers
from controllers.decisions.answers import ProposalAnswer
from controllers.decisions.answers.decider_check import check_decider
from controllers.models import Decision
from controllers.narrative import proposal_text
from controllers.web.approvals.answer_forms import friction, inputs, worded
from controllers.web.approvals.form_fields import Input, Typed, adoptable
from controllers.web.approvals.proposal_view import Reading
from resources.documents.problems import Problem

MAIN = ("pair", "below")
FORMS: Mapping[str, ProposalAnswer] = {each.name: each for each in answers.ALL}
# What is offered for many at once: what is said most, the dangerous last.
TOGETHER: Sequence[ProposalAnswer] = sorted(
    (each for each in answers.ALL if each.together and each.place in ("first", *MAIN)),
    key=lambda each: each.tone == "danger",
)
Check = Callable[..., Any]


class Offer(NamedTuple):
    """Something that may be said, and where."""

    form: ProposalAnswer
    text: str
    url: str


@dataclass(frozen=True)
class Notice:
    """What happened instead of what was wanted."""

    title: str
    text: str = ""
    quote: str = ""
    tone: str = "danger"
    changes: Sequence[Mapping[str, str]] = ()
    # Whether to lead on to the next proposal, or to proposing it again.
    onward: bool = False
    again: bool = False


class Desk:
    """One person before one proposal, maybe at the form for one answer."""

    def __init__(
        self,
        reading: Reading,
        person: User,
        *,
        place: str = "",
        back: str = "",
        verdict: str = "",
        typed: Typed | None = None,
    ) -> None:
        self.reading, self.person = reading, person
        self.proposal, self.now = reading.proposal, reading.now
        self.place, self.back, self.verdict = place, back, verdict
        self.typed: Typed = typed or {}
        self.problems: Mapping[str, str] = {}
        self.notice: Notice | None = None
        self._denied: dict[Check, Problem | None] = {}

    def denial(self, verdict: str) -> Problem | None:
        """Return why somebody may not say something, or nothing."""
        rule = FORMS[verdict].rule
        if rule not in self._denied:
            try:
                rule(self.person, self.proposal, self.now, **self.known(rule))
                self._denied[rule] = None
            except Problem as problem:
                self._denied[rule] = problem
        return self._denied[rule]

    def known(self, rule: Check) -> dict[str, roles.Quorum]:
        """Return what a rule need not read again."""
        return {"needs": self.reading.needs} if rule in (roles.authority, check_decider) else {}

    @cached_property
    def allowed(self) -> frozenset[str]:
        """What anybody may say of it as it stands."""
        fitting = answers.fitting(self.proposal, self.now)
        return frozenset(each.name for each in fitting if each.offered(self.proposal))

    def may(self, verdict: str) -> bool:
        """Tell whether somebody may say something now."""
        return verdict in self.allowed and self.denial(verdict) is None

    @cached_property
    def decides(self) -> bool:
        """Whether an approval of theirs would count."""
        return self.may("approve") and not self.voted

    @cached_property
    def voted(self) -> bool:
        """Whether they have approved it as it is."""
        given = Decision.objects.filter(
            proposal=self.proposal,
            revision=self.proposal.revision,
            person=self.person,
            answer="approve",
        )
        # What completes it without another vote, such as joining a group, is said again.
        return self.reading.waits and not self.reading.tally.enough and given.exists()

    @property
    def refusal(self) -> str:
        """Why they cannot decide."""
        denied = self.denial("approve") if "approve" in self.allowed else None
        return str(denied) if denied else ""

    @property
    def full_page_only(self) -> bool:
        """Whether it is too grave to be decided beside a list."""
        grave = not self.proposal.reversible or self.reading.people > 1
        return self.place == "pane" and grave

    @property
    def friction(self) -> str:
        """How much an approval asks of them."""
        return friction(self.proposal, self.reading.people)

    @cached_property
    def form(self) -> ProposalAnswer | None:
        """The form they are at: the one asked for, or the approval."""
        if self.verdict and self.may(self.verdict):
            return FORMS[self.verdict]
        return FORMS["approve"] if self.decides and not self.full_page_only else None

    @property
    def asked(self) -> bool:
        """Whether they asked for a form; the approval stands among the others where it can."""
        if self.verdict == "approve" and self.place:
            return False
        return bool(self.verdict) and self.form is FORMS[self.verdict]

    @property
    def heading(self) -> str:
        """What the form is about."""
        return worded(self.form, self.form.heading, self.proposal) if self.form else ""

    @property
    def button(self) -> str:
        """What the form does."""
        return worded(self.form, self.form.button, self.proposal) if self.form else ""

    @property
    def inputs(self) -> Sequence[Input]:
        """What the form asks for."""
        if self.form is None:
            return []
        return inputs(self.form, self.proposal, self.typed, self.problems)

    @property
    def adopted(self) -> Sequence[proposal_text.Fact]:
        """What would be declared as it is observed."""
        return adoptable(self.proposal) if self.verdict == "adopt" else []

    def offers(self, *places: str) -> list[Offer]:
        """Return the answers that stand in some places and that they may give."""
        return [
            self.offer(each)
            for each in answers.ALL
            if each.place in places and self.may(each.name)
        ]

    def offer(self, form: ProposalAnswer) -> Offer:
        """Return where something is said."""
        return Offer(form, worded(form, form.offer, self.proposal), self.address(form.name))

    @property
    def main(self) -> list[Offer]:
        """What is said most."""
        return self.offers(*MAIN) if self.reading.waits else []

    @property
    def pair(self) -> list[Offer]:
        """The two that stand side by side."""
        return [each for each in self.main if each.form.place == "pair"]

    @property
    def rest(self) -> list[Offer]:
        """Those that stand below."""
        return [each for each in self.main if each.form.place != "pair"]

    @property
    def more(self) -> list[Offer]:
        """What is said less often."""
        if not self.reading.waits:
            return []
        alone = self.decides and self.reading.people == 1 and not self.reading.tally.shares
        return [
            each for each in self.offers("more") if not (alone and each.form.verb == "break_glass")
        ]

    @property
    def after(self) -> list[Offer]:
        """What can be said of something that was decided."""
        return [
            self.offer(each)
            for each in answers.ALL
            if each.afterwards and not (each.place and self.reading.waits) and self.may(each.name)
        ]

    @property
    def action(self) -> str:
        """Where the form goes."""
        return self.address(self.form.name) if self.form else ""

    def address(self, verdict: str, place: str | None = None) -> str:
        """Return the address of one answer, here or at another place."""
        place = self.place if place is None else place
        named = {"verdict": verdict, "place": place, "back": self.back}
        query = urlencode({name: value for name, value in named.items() if value})
        return f"{reverse('decide', args=[self.proposal.pk])}?{query}"

    @property
    def bare(self) -> str:
        """Where the decision is without a form that was asked for."""
        return self.address("")

    @property
    def again_url(self) -> str:
        """Where it is proposed again, for whoever may."""
        return self.address("repropose") if self.may("repropose") else ""

    @property
    def home(self) -> str:
        """Where one goes back to from a form."""
        if self.place == "pane":
            kept = f"{self.back}&" if self.back else ""
            return f"{reverse('approvals')}?{kept}at={self.proposal.pk}"
        return reverse("proposal", args=[self.proposal.pk])

    @property
    def onward(self) -> str:
        """Where the next proposal is."""
        kept = f"?{self.back}" if self.back else ""
        return f"{reverse('approvals')}{kept}"
