"""What somebody is told when their answer was recorded, and where they go on."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme

from controllers.access import roles
from controllers.decisions import attention_checks, gate_facts
from controllers.decisions.answers import ProposalAnswer
from controllers.engine.proposal_lifecycle import WAITING
from controllers.models import Proposal
from controllers.narrative import proposal_text
from controllers.web.approvals.approvals_page import Approvals
from controllers.web.approvals.decision_panel import FORMS, Desk
from controllers.web.approvals.proposal_view import Reading, find
from controllers.web.approvals.queue_filters import waiting
from controllers.web.base.page import PageRequest


class AnswerOutcome:
    """What came of an answer: a sentence, its tone, and whether it can be taken back."""

    def __init__(self, desk: Desk, proposal: Proposal) -> None:
        self.proposal, self.verdict = proposal, desk.verdict
        self.number = proposal_text.number(proposal)
        self.held, self.undo = False, False
        self.form = FORMS[desk.verdict]
        self.text = self.form.success
        check = attention_checks.told(proposal, desk.person)
        if check:
            self.text = check
        elif desk.verdict == "approve":
            self.approved(desk)

    def approved(self, desk: Desk) -> None:
        """Say whether it runs, waits for others, or waits for a hold to be lifted."""
        if self.proposal.state in WAITING:
            tally = Reading(self.proposal, desk.now).tally
            more = "One more is" if tally.missing <= 1 else f"{tally.missing} more are"
            asked = tally.sentence if tally.lacking else f"{more} needed."
            self.text = f"Your approval counts. {asked}"
            return
        ruling = gate_facts.examine(self.proposal, desk.now)
        self.held, self.undo = ruling.hold is not None, True
        self.text = self.form.success + starting(self.form, "Runs")
        if self.held:
            self.text = f"Your approval is stored and runs once it is lifted. {ruling.reason}"


def starting(form: ProposalAnswer, runs: str) -> str:
    """Say when something begins, as long as it can be taken back."""
    return f" {runs} in {int(form.grace.total_seconds())} s." if form.grace else ""


def answer(
    request: HttpRequest, look: PageRequest, desk: Desk, proposal: Proposal
) -> HttpResponse:
    """Answer a decision that was recorded; the next proposal is shown after it."""
    said = AnswerOutcome(desk, find(proposal.pk) or proposal)
    if "HX-Request" in request.headers and desk.place == "pane":
        return beside_the_queue(request, look, desk, said)
    if "HX-Request" in request.headers and desk.place == "toast":
        return render(request, "approvals/_toast.html", {"said": said, "left": None})
    target = requested(request) or goal(look, desk, said)
    messages.add_message(request, messages.SUCCESS, told(said), extra_tags=tone(said))
    if "HX-Request" in request.headers:
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    response = HttpResponseRedirect(target)
    response.status_code = 303
    return response


def goal(look: PageRequest, desk: Desk, said: AnswerOutcome) -> str:
    """Return where they go on: the queue they came from, the next proposal, or this one."""
    if not FORMS[desk.verdict].advances:
        return desk.home
    if desk.place == "pane":
        return desk.onward
    following = next_of(look, desk)
    return reverse("proposal", args=[following]) if following else reverse("approvals")


def requested(request: HttpRequest) -> str:
    """Return where a form wants to go afterwards, if that is a place of ours."""
    place = request.POST.get("next", "")
    ours = place.startswith("/") and url_has_allowed_host_and_scheme(place, None)
    return place if ours else ""


def tone(said: AnswerOutcome) -> str:
    """Return the tone of the sentence."""
    return "warn" if said.held else "ok"


def told(said: AnswerOutcome) -> str:
    """Write the sentence with its proposal, and the way back while there is one."""
    page = reverse("proposal", args=[said.proposal.pk])
    name = format_html('<a class="link" href="{}">{}</a>', page, said.number)
    if not said.undo:
        return format_html("{}: {}", name, said.text)
    undo = f"{reverse('decide', args=[said.proposal.pk])}?verdict=withdraw"
    return format_html('{}: {} <a class="link" href="{}">Undo</a>', name, said.text, undo)


def next_of(look: PageRequest, desk: Desk) -> int | None:
    """Return the proposal that needs them next."""
    rows = waiting(look.now).exclude(pk=desk.proposal.pk)
    found = roles.waiting_for(desk.person, rows, 1, look.now)
    return found[0].pk if found else None


def beside_the_queue(
    request: HttpRequest, look: PageRequest, desk: Desk, said: AnswerOutcome
) -> HttpResponse:
    """Show the queue anew with the next proposal beside it, and say what came of the last."""
    stays = not FORMS[desk.verdict].advances
    at = said.proposal.pk if stays else following_in_queue(look, desk)
    kept = f"{desk.back}&" if desk.back else ""
    query = f"{kept}at={at}" if at else desk.back
    address = f"{reverse('approvals')}?{query}" if query else reverse("approvals")
    page = Approvals(
        PageRequest(reverse("approvals"), QueryDict(query), look.now, look.person, request)
    )
    context = {**page.context(), "said": said, "left": page.shell.waiting}
    response = render(request, "approvals/_decided.html", context)
    response.headers["HX-Retarget"] = "#split"
    response.headers["HX-Reswap"] = "outerHTML"
    response.headers["HX-Push-Url"] = address
    return response


def following_in_queue(look: PageRequest, desk: Desk) -> int | None:
    """Return the first proposal of the queue as they filtered it."""
    path, query = reverse("approvals"), QueryDict(desk.back)
    return Approvals(PageRequest(path, query, look.now, look.person)).queue.first
