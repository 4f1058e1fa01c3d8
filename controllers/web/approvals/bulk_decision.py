"""One answer to many proposals: asked for where words are needed, and told one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from controllers.decisions import proposal_groups
from controllers.decisions.answers import ProposalAnswer
from controllers.decisions.proposal_groups import MOST_AT_ONCE, Result
from controllers.decisions.proposals import SeenRevision, as_seen
from controllers.engine import proposal_lifecycle
from controllers.models import Proposal
from controllers.narrative import proposal_text
from controllers.web.approvals.decision_panel import TOGETHER
from controllers.web.approvals.form_fields import Input, Typed, Wrong, inputs_of, values_of
from controllers.web.approvals.queue_filters import key
from controllers.web.approvals.success_text import starting
from controllers.web.base.page import Page, PageRequest
from resources.documents.problems import INVALID, SORTS, Problem
from resources.usecases.access_rules import SEEN, page, rights

Chosen = list[tuple[int, SeenRevision]]
MOST_FIELDS = 50


@dataclass(frozen=True)
class BulkDecisionResult:
    """What became of one of many."""

    result: Result
    title: str


class ManyPage(Page):
    """The words that an answer to many needs, or what became of each."""

    template = "approvals/many.html"
    section = "approvals"

    def __init__(
        self, look: PageRequest, answer: str, chosen: Sequence[str], typed: Typed
    ) -> None:
        super().__init__(look)
        self.form = next((each for each in TOGETHER if each.name == answer), None)
        self.chosen, self.typed = chosen, typed
        self.verb = self.form.offer if self.form else "Decide"
        self.past = proposal_lifecycle.past(self.form.verb) if self.form else "decided"
        self.problem = ""
        self.problems: Mapping[str, str] = {}
        self.lines: Sequence[BulkDecisionResult] = ()

    @property
    def done(self) -> int:
        """How many were heard."""
        return sum(each.result.done for each in self.lines)

    @property
    def asks(self) -> bool:
        """Whether the answer needs words before it is given."""
        return self.form is not None and self.form.place != "first"

    @property
    def inputs(self) -> list[Input]:
        """What has to be said."""
        if self.form is None:
            return []
        reason = self.typed.get("reason", self.form.reason)
        asked = inputs_of(self.form.fields, self.typed, None)
        asked.append(Input("reason", "Reason", "area", reason, required=True))
        return [replace(each, problem=self.problems.get(each.name, "")) for each in asked]


@rights(page(None, SEEN))
@require_POST
def decide_many(request: HttpRequest) -> HttpResponse:
    """Give one answer to everything that was selected."""
    look, answer = PageRequest.of(request), request.POST.get("answer", "")
    marked = request.POST.getlist("sel")
    typed = {name: request.POST.get(name, "") for name in list(request.POST)[:MOST_FIELDS]}
    page = ManyPage(look, answer, marked[:MOST_AT_ONCE], typed)
    chosen = chosen_in(marked)
    if not marked:
        return back(request, "Select something first.", "warn")
    if page.form is None or chosen is None:
        page.problem = "Nothing was recorded. Open the queue again, then decide."
        return page.respond(SORTS[INVALID].status)
    if len(marked) > MOST_AT_ONCE:
        page.problem = f"At most {MOST_AT_ONCE} are decided at once. Nothing was recorded."
        return page.respond(SORTS[INVALID].status)
    if page.asks and "said" not in request.POST:
        return page.respond()
    return given(request, page, page.form, chosen, look.now)


def chosen_in(marked: Sequence[str]) -> Chosen | None:
    """Read which proposals are meant and what was seen of each; nothing when one is unclear."""
    found: Chosen = []
    for each in marked:
        number, _, tag = each.partition(":")
        proposal, seen = key(number), as_seen(tag)
        if proposal is None or seen is None:
            return None
        found.append((proposal, seen))
    return found


def given(
    request: HttpRequest, page: ManyPage, form: ProposalAnswer, chosen: Chosen, now: datetime
) -> HttpResponse:
    """Decide each by itself, and tell what became of each."""
    after = {"after": form.grace} if form.grace else {}
    try:
        more = form.give(values_of(form.fields, page.typed, now, None))
        results = proposal_groups.decide_all(
            chosen,
            form.verb,
            person=page.viewer,
            now=now,
            reason=page.typed.get("reason", ""),
            **after,
            **more,
        )
    except Wrong as error:
        page.problem = str(error)
        return page.respond(SORTS[INVALID].status)
    except Problem as problem:
        page.problem = problem.message
        return page.respond(problem.status)
    if page.asks and all(each.message.startswith("Say why") for each in results):
        page.problems = {"reason": "Say why."}
        return page.respond(SORTS[INVALID].status)
    page.lines = told(results)
    if all(each.done for each in results):
        runs = starting(form, "They run")
        return back(request, f"{len(results)} {page.past}.{runs}", "ok")
    return page.respond()


def told(results: Sequence[Result]) -> list[BulkDecisionResult]:
    """Name each proposal beside what became of it."""
    known: dict[int, Proposal] = proposal_groups.load(
        [each.key for each in results if each.word != "missing"]
    )
    return [
        BulkDecisionResult(
            each, proposal_text.title(known[each.key]) if each.key in known else "No such proposal"
        )
        for each in results
    ]


def back(request: HttpRequest, sentence: str, tone: str) -> HttpResponse:
    """Go back to the queue with a sentence."""
    messages.add_message(request, messages.INFO, sentence, extra_tags=tone)
    response = HttpResponseRedirect(reverse("approvals"))
    response.status_code = 303
    return response
