"""What somebody is told when their answer was recorded, and where they go on."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme

from controllers import checks, gating, roles, wording
from controllers.lifecycle import WAITING
from controllers.models import Proposal
from controllers.pages.approvals import Approvals
from controllers.pages.approvals_filters import waiting
from controllers.pages.deciding_desk import Desk
from controllers.pages.deciding_verdicts import FORMS, UNDO
from controllers.pages.page import Look
from controllers.pages.reading_pane import Reading, find

SENTENCES: Mapping[str, str] = {
    "reject": "Rejected. Nothing runs.",
    "override": "Overridden. No controller changes it while you hold it.",
    "snooze": "Snoozed. It comes back by itself.",
    "pause": "Paused. It watches and measures, and changes nothing.",
    "change": "Changed. Somebody else has to approve it now.",
    "accept": "Accepted as it is. Nothing runs.",
    "adopt": "Adopted. What is there is now declared.",
    "request-changes": "Sent back. It returns as a new plan.",
    "extend": "It waits longer now.",
    "withdraw": "Taken back. Nothing runs.",
    "break-glass": "Approved alone. It runs now, and somebody else reviews it.",
    "undo": "It is being undone.",
    "resolve": "Noted.",
    "review": "Reviewed. Thank you.",
    "repropose": "It is looked at again. A new one appears if it is still needed.",
}


class Said:
    """What came of an answer: a sentence, its tone, and whether it can be taken back."""

    def __init__(self, desk: Desk, proposal: Proposal) -> None:
        self.proposal, self.verdict = proposal, desk.verdict
        self.number = wording.number(proposal)
        self.held, self.undo = False, False
        self.text = SENTENCES.get(desk.verdict, "")
        check = checks.told(proposal, desk.person)
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
        ruling = gating.examine(self.proposal, desk.now)
        self.held, self.undo = ruling.hold is not None, True
        self.text = f"Approved. Runs in {int(UNDO.total_seconds())} s."
        if self.held:
            self.text = f"Your approval is stored and runs once it is lifted. {ruling.reason}"


def answer(request: HttpRequest, look: Look, desk: Desk, proposal: Proposal) -> HttpResponse:
    """Answer a decision that was recorded; the next proposal is shown after it."""
    said = Said(desk, find(proposal.pk) or proposal)
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


def goal(look: Look, desk: Desk, said: Said) -> str:
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


def tone(said: Said) -> str:
    """Return the tone of the sentence."""
    return "warn" if said.held else "ok"


def told(said: Said) -> str:
    """Write the sentence with its proposal, and the way back while there is one."""
    page = reverse("proposal", args=[said.proposal.pk])
    name = format_html('<a class="link" href="{}">{}</a>', page, said.number)
    if not said.undo:
        return format_html("{}: {}", name, said.text)
    undo = f"{reverse('decide', args=[said.proposal.pk])}?verdict=withdraw"
    return format_html('{}: {} <a class="link" href="{}">Undo</a>', name, said.text, undo)


def next_of(look: Look, desk: Desk) -> int | None:
    """Return the proposal that needs them next."""
    rows = waiting(look.now).exclude(pk=desk.proposal.pk)
    found = roles.waiting_for(desk.person, rows, 1, look.now)
    return found[0].pk if found else None


def beside_the_queue(request: HttpRequest, look: Look, desk: Desk, said: Said) -> HttpResponse:
    """Show the queue anew with the next proposal beside it, and say what came of the last."""
    stays = not FORMS[desk.verdict].advances
    at = said.proposal.pk if stays else following_in_queue(look, desk)
    kept = f"{desk.back}&" if desk.back else ""
    query = f"{kept}at={at}" if at else desk.back
    address = f"{reverse('approvals')}?{query}" if query else reverse("approvals")
    page = Approvals(Look(reverse("approvals"), QueryDict(query), look.now, look.person, request))
    context = {**page.context(), "said": said, "left": page.shell.waiting}
    status = 423 if said.held else 200
    response = render(request, "approvals/_decided.html", context, status=status)
    response.headers["HX-Retarget"] = "#split"
    response.headers["HX-Reswap"] = "outerHTML"
    response.headers["HX-Push-Url"] = address
    return response


def following_in_queue(look: Look, desk: Desk) -> int | None:
    """Return the first proposal of the queue as they filtered it."""
    path, query = reverse("approvals"), QueryDict(desk.back)
    return Approvals(Look(path, query, look.now, look.person)).queue.first
