"""Deciding: the form for one answer, and what is said to it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods

from controllers.decisions import answers
from controllers.decisions.proposals import SeenRevision, as_seen
from controllers.signin import reauthentication
from controllers.web.approvals import refusal_text as refusals
from controllers.web.approvals import success_text as success
from controllers.web.approvals.answer_forms import AnswerSubmission, give
from controllers.web.approvals.automatic_policy import make_automatic
from controllers.web.approvals.bulk_decision import decide_many
from controllers.web.approvals.decision_panel import Desk, Notice
from controllers.web.approvals.form_fields import Typed, Wrong
from controllers.web.approvals.proposal_view import Reading, find
from controllers.web.approvals.queue_filters import Filters
from controllers.web.base.page import Page, PageRequest
from resources.documents.problems import BUSY, INVALID, SORTS, Problem
from resources.store.store import Stale
from resources.usecases.access_rules import DECIDE, SEEN, at, page, rights

__all__ = ["decide", "decide_many", "make_automatic"]

PLACES = ("pane", "page", "toast")
LONGEST_BACK = 1_000
MOST_FIELDS = 50


class DecidePage(Page):
    """One answer on a page of its own, for whoever has no script or came by a link."""

    template = "approvals/decide.html"
    section = "approvals"

    def __init__(self, look: PageRequest, desk: Desk) -> None:
        super().__init__(look)
        self.desk, self.reading = desk, desk.reading


@rights(page(SEEN, at("there", *DECIDE)))
@require_http_methods(["GET", "HEAD", "POST"])
def decide(request: HttpRequest, key: int) -> HttpResponse:
    """Show the form for an answer, or give the answer."""
    look = PageRequest.of(request)
    desk = desk_of(look, key)
    if request.method == "POST":
        return answered(request, look, desk)
    if desk.verdict and not desk.may(desk.verdict):
        desk.notice = refusals.closed(desk)
    elif desk.typed:
        desk.notice = Notice("It is you.", "Look once more, then say it.", tone="ok")
    return shown(request, look, desk, 200)


def desk_of(look: PageRequest, key: int) -> Desk:
    """Put somebody before a proposal, at the form that the address names."""
    with look.eyes():
        proposal = find(key)
    if proposal is None or look.request is None:
        raise Http404("There is no such proposal.")
    post = look.request.POST
    verdict = look.query.get("verdict") or post.get("verdict", "")
    place = look.query.get("place", "")
    return Desk(
        Reading(proposal, look.now),
        look.viewer,
        place=place if place in PLACES else "",
        back=kept(look.query.get("back", "")),
        verdict=verdict if answers.find(verdict) else "",
        typed=typed_in(post) if post else reauthentication.typed_before(look.request, look.now),
    )


def kept(query: str) -> str:
    """Return the filters of the queue that somebody came from, as the queue itself writes them."""
    if len(query) > LONGEST_BACK:
        return ""
    return Filters.read(QueryDict(query)).query


def typed_in(post: QueryDict) -> Typed:
    """Return what was typed, each field once."""
    return {name: post.get(name, "") for name in list(post)[:MOST_FIELDS]}


def answered(request: HttpRequest, look: PageRequest, desk: Desk) -> HttpResponse:
    """Give an answer: one call, and what came of it."""
    form = answers.find(desk.verdict)
    seen = as_seen(desk.typed.get("tag", ""))
    if form is None or (seen is None and form.bound):
        desk.notice = Notice("Nothing was recorded.", "Open the proposal again, then decide.")
        return shown(request, look, desk, SORTS[INVALID].status)
    if desk.may(desk.verdict) and reauthentication.is_needed(
        request, desk.person, desk.proposal, desk.verdict, desk.now
    ):
        return reauthentication.ask(request, desk.address(desk.verdict, ""), desk.typed, desk.now)
    told = AnswerSubmission(
        desk.proposal, desk.person, seen or SeenRevision(0, ""), desk.now, desk.typed
    )
    try:
        said = give(form, told)
    except Wrong as error:
        desk.problems = error.problems
        return shown(request, look, desk, SORTS[INVALID].status)
    except Stale as error:
        return shown(request, look, *refusals.explained(desk, Problem(BUSY, str(error))))
    except Problem as problem:
        return shown(request, look, *refusals.explained(desk, problem))
    reauthentication.forget(request)
    return success.answer(request, look, desk, said)


def shown(request: HttpRequest, look: PageRequest, desk: Desk, status: int) -> HttpResponse:
    """Show a form: alone for the page that asked for it, or on a page of its own."""
    page = DecidePage(look, desk)
    if "HX-Request" not in request.headers:
        return page.respond(status)
    if desk.place == "toast":
        return render(request, "approvals/_refused.html", page.context(), status=status)
    response = render(request, "approvals/_decision.html", page.context(), status=status)
    if request.method == "POST" and desk.place:
        # Only beside the proposal it is about: somebody may read another one by now.
        beside = f'#pane[data-at="{desk.proposal.pk}"] ' if desk.place == "pane" else ""
        response.headers["HX-Retarget"] = f"{beside}#decision"
        response.headers["HX-Reswap"] = "outerHTML"
        response.headers["HX-Push-Url"] = "false"
    patch_vary_headers(response, ["HX-Request"])
    response.headers["Cache-Control"] = "no-store"
    return response
