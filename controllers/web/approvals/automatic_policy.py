"""Make automatic: what people approve every time becomes a rule, if a second person agrees."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from controllers.access import roles
from controllers.decisions import creation
from controllers.models import Proposal
from controllers.narrative import proposal_text
from controllers.trust import track_record
from controllers.web.approvals.queue_filters import text
from controllers.web.approvals.queue_groups import SIMPLE, Record
from controllers.web.base.page import Page, PageRequest
from resources.documents.problems import Problem
from resources.tables.models import Resource
from resources.usecases.access_rules import OPERATE, SEEN, at, page, rights

WEEK = timedelta(days=7)
# The narrowest rule there is: changes of low risk that can be undone run without asking.
MODE, APPROVAL = "enforce", "auto"


class PolicyPage(Page):
    """The record of a cause, what a rule would have done, and the proposal of it."""

    template = "approvals/automatic.html"
    section = "approvals"

    def __init__(self, look: PageRequest, cause: str) -> None:
        super().__init__(look)
        self.cause, self.problem, self.reason = cause, "", ""

    @cached_property
    def sample(self) -> Proposal:
        """A proposal of the cause, the latest."""
        with self.look.eyes():
            rows = Proposal.objects.select_related("controller", "resource").order_by("-pk")
        found = rows.filter(cause=self.cause).first() if self.cause else None
        if found is None or found.controller is None or found.controller.deleted_at is not None:
            raise Http404("No controller proposes this any more.")
        return found

    @property
    def controller(self) -> Resource:
        """Whose rule it would be."""
        if self.sample.controller is None:
            raise Http404("No controller proposes this any more.")
        return self.sample.controller

    @property
    def title(self) -> str:
        """What the cause is about."""
        return proposal_text.title(self.sample)

    @cached_property
    def record(self) -> Record:
        """What people said of it lately."""
        lately = Proposal.objects.filter(
            cause=self.cause, changed_at__gte=self.now - track_record.LATELY
        )
        found = lately.exclude(lane="run").aggregate(
            decided=Count("pk", filter=track_record.COUNTS["decided"]),
            approved=Count("pk", filter=track_record.APPROVED),
            worse=Count("pk", filter=Q(outcome="worse")),
        )
        return Record(**found)

    @cached_property
    def week(self) -> dict[str, int]:
        """How many proposals of the controller were made in a week, and would have run."""
        rows = Proposal.objects.filter(controller=self.controller, created_at__gte=self.now - WEEK)
        simple = rows.filter(SIMPLE).values_list("resource__spec", flat=True)
        # A target may ask for a person whatever its controller may do.
        alone = sum(not asks(spec) for spec in simple.iterator())
        return {"all": rows.count(), "alone": alone}

    @property
    def patch(self) -> dict[str, Any]:
        """What would be declared."""
        wanted = {"enforcementMode": MODE, "approval": APPROVAL}
        spec = self.controller.spec
        return {name: value for name, value in wanted.items() if spec.get(name) != value}

    @cached_property
    def denied(self) -> str:
        """Why the one who looks cannot propose it."""
        try:
            roles.check_propose(self.viewer, self.controller.domain, self.now)
        except Problem as problem:
            return problem.message
        return ""

    @cached_property
    def open(self) -> Proposal | None:
        """The same rule, already proposed."""
        rows = Proposal.objects.filter(resource=self.controller, state="pending")
        return next(
            (each for each in rows if each.actions[0].get("operation") == "modify-spec"), None
        )


def asks(spec: Mapping[str, Any]) -> bool:
    """Tell whether a target asks for a person's approval itself."""
    governance = spec.get("governance")
    return isinstance(governance, dict) and governance.get("requiresApproval") is True


@rights(page(SEEN, at("organisation", *OPERATE)))
@require_http_methods(["GET", "HEAD", "POST"])
def make_automatic(request: HttpRequest) -> HttpResponse:
    """Show the record of a cause, or propose the rule."""
    look = PageRequest.of(request)
    cause = text(look.query, "cause") or text(request.POST, "cause")
    page = PolicyPage(look, cause)
    status = 200
    if request.method == "POST":
        page.reason = request.POST.get("reason", "")
        try:
            filed = propose(page)
        except Problem as problem:
            page.problem, status = problem.message, problem.status
        else:
            return proposed(request, filed)
    _ = page.sample
    if "HX-Request" in request.headers:
        return render(request, "approvals/_automatic.html", page.context(), status=status)
    return page.respond(status)


def propose(page: PolicyPage) -> Proposal:
    """File the rule as a proposal; somebody else has to approve it."""
    action = {"operation": "modify-spec", "parameters": {"patch": page.patch}}
    filing = creation.Filing(page.controller.pk, [action], page.reason)
    return creation.propose(filing, by=page.viewer, now=page.now).proposal


def proposed(request: HttpRequest, filed: Proposal) -> HttpResponse:
    """Lead to what was proposed."""
    people = roles.quorum_of(filed).people
    said = f"Proposed. {people} other people have to approve it."
    messages.success(request, said, extra_tags="ok")
    target = reverse("proposal", args=[filed.pk])
    if "HX-Request" in request.headers:
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    response = HttpResponseRedirect(target)
    response.status_code = 303
    return response
