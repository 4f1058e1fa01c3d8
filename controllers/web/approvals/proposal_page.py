"""One proposal on a page of its own: everything about it, and the decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from django.http import Http404

from controllers.models import Proposal
from controllers.web.approvals.approvals_page import topics
from controllers.web.approvals.deciders_view import Voter
from controllers.web.approvals.decision_panel import Desk
from controllers.web.approvals.proposal_view import Reading, find
from controllers.web.base.page import AROUND, Page, PageRequest, Part, part
from resources.usecases.access_rules import page


class ProposalPage(Page):
    """A proposal, from why it was made to what became of it."""

    rights = page()
    template = "approvals/proposal.html"
    section = "approvals"
    parts = {
        "head": part("approvals/_head.html", shared=True),
        "news": part("approvals/_news.html", shared=True),
        "fate": part("approvals/_fate.html", shared=True),
        "drift": part("approvals/_drift.html", shared=True),
        "plan": part("approvals/_plan.html", shared=True),
        "earlier": part("approvals/_earlier.html", shared=True),
        "decision": part("approvals/_decision.html"),
        "who": part("approvals/_who.html"),
        "story": part("approvals/_story.html", shared=True),
        "dock": part("approvals/_dock.html"),
    }

    def __init__(self, look: PageRequest, key: int) -> None:
        super().__init__(look)
        self.key = key

    @cached_property
    def proposal(self) -> Proposal:
        """The proposal, or nothing to see."""
        found = find(self.key)
        if found is None:
            raise Http404("There is no such proposal.")
        return found

    def pieces(self) -> Mapping[str, Part]:
        """Show every part anew when something happens to it, its target or its controller."""
        about = topics(self.proposal)
        own = {name: each._replace(topics=about) for name, each in self.parts.items()}
        return {**AROUND, **own}

    @cached_property
    def reading(self) -> Reading:
        """What the page says of it."""
        every = self.look.query.get("fields") == "all"
        return Reading(self.proposal, self.now, every_field=every)

    @cached_property
    def desk(self) -> Desk:
        """What the one who looks may say about it."""
        return Desk(self.reading, self.viewer, place="page")

    @cached_property
    def voters(self) -> Sequence[Voter]:
        """Who decided, or may."""
        return self.reading.voters(self.viewer)
