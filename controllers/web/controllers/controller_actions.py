"""What people do with a controller: run it, see what it would do, change its mode, stop it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from controllers.access import roles
from controllers.engine import configuration
from controllers.narrative import proposal_text
from controllers.web.base.form import (
    FormPage,
    TypedField,
    WebForm,
)
from controllers.web.base.page import PageRequest
from controllers.web.controllers import modes
from controllers.web.controllers.controller_summary import may
from controllers.web.controllers.cycle_page import found
from controllers.worker import controller_commands
from controllers.workqueue import compiled_controllers
from resources.documents.problems import Problem
from resources.tables.models import Resource
from resources.usecases.access_rules import OPERATE, SEEN, WHOLE, Rule, at, page, rights


class RunForm(WebForm):
    """Why a controller is to run now."""

    ids = "run-%s"

    reason = TypedField("Why run it now? (optional)", maxlength="500")


class ModeForm(WebForm):
    """Which mode, and why; the page shows each mode with what it would have done."""

    ids = "mode-%s"

    mode = TypedField("Enforcement mode", forms.RadioSelect())
    reason = TypedField("Why?", forms.Textarea(), needed=True, maxlength="2000")


class BreakerForm(WebForm):
    """Why a controller has to stop, or may run again."""

    ids = "breaker-%s"

    reason = TypedField(
        "Why does it have to stop?", forms.Textarea(), needed=True, maxlength="500"
    )


class ControllerFormPage(FormPage):
    """A form about one controller: a page of its own, or what a dialog shows."""

    section = "controllers"
    faulty = "reason"

    def __init__(self, look: PageRequest, name: str) -> None:
        super().__init__(look)
        self.name = name

    @cached_property
    def row(self) -> Resource:
        """The controller."""
        return found(self.name)

    @cached_property
    def address(self) -> str:
        """The page of the controller."""
        return reverse("controller", args=[self.name])

    @cached_property
    def may_operate(self) -> bool:
        """Whether the one who looks may run it."""
        return may(roles.check_operate, self.viewer, self.row.domain, self.now)

    def act(self, deed: Callable[[], Any]) -> HttpResponse:
        """Do something and go back to the controller, or say why it was not done."""
        try:
            deed()
        except Problem as problem:
            return self.refuse(problem)
        return self.leave()

    def leave(self) -> HttpResponse:
        """Go to the page of the controller; a dialog is told where."""
        return self.leave_for(self.address)


class RunFormPage(ControllerFormPage):
    """What a controller would do now, and the button that runs it."""

    template = "controllers/run.html"
    fragment = "controllers/_run.html"
    form_class = RunForm
    faulty = ""

    @cached_property
    def preview(self) -> controller_commands.Preview | None:
        """What a cycle would find and do; nothing when it cannot be known."""
        try:
            return controller_commands.preview(self.name, now=self.now)
        except Problem as problem:
            self.problem = self.problem or problem.message
            return None

    def run(self) -> None:
        """Ask the loop for a cycle."""
        actor = controller_commands.permitted(self.name, self.viewer, self.now)
        controller_commands.request(
            self.name, actor=actor, now=self.now, message=self.reason.strip()
        )


class ModeFormPage(ControllerFormPage):
    """Another enforcement mode, which others approve."""

    template = "controllers/mode.html"
    fragment = "controllers/_mode_form.html"
    form_class = ModeForm

    @cached_property
    def mode(self) -> str:
        """The mode it is in."""
        return configuration.mode_of(self.row.spec)

    @cached_property
    def chosen(self) -> str:
        """The mode somebody wants."""
        return self.form.text("mode") or self.mode

    @cached_property
    def past(self) -> modes.Past:
        """What each mode would have done."""
        declared = compiled_controllers.attempt((self.row.pk, self.row.generation))
        return modes.consequences(self.row.pk, declared, self.mode, self.now)

    @cached_property
    def may_propose(self) -> bool:
        """Whether the one who looks may propose it."""
        return may(roles.check_propose, self.viewer, self.row.domain, self.now)

    def file(self, request: HttpRequest) -> None:
        """Propose it, and say who decides."""
        filed = controller_commands.propose_mode(
            self.name, self.chosen, person=self.viewer, now=self.now, reason=self.reason
        )
        proposal = filed.proposal
        said = format_html(
            '{} <a class="link" href="{}">{}</a>. {}',
            "Proposed:" if filed.new else "You proposed this already:",
            reverse("proposal", args=[proposal.pk]),
            proposal_text.number(proposal),
            needed(roles.quorum_of(proposal).people),
        )
        messages.success(request, said)


class BreakerFormPage(ControllerFormPage):
    """Stop a controller, or let a stopped one try one cycle."""

    template = "controllers/breaker.html"
    fragment = "controllers/_breaker_form.html"
    form_class = BreakerForm

    def prepare(self, form: WebForm) -> None:
        """Ask for the reason of what is to be done."""
        if self.resets:
            form.fields["reason"].label = "Why may it run again?"

    @cached_property
    def resets(self) -> bool:
        """Whether it is to run again; otherwise it is to stop."""
        return self.typed("do") == "reset"

    def move(self) -> None:
        """Stop it, or let it try."""
        if not self.resets:
            controller_commands.trip_breaker(
                self.name, person=self.viewer, now=self.now, reason=self.reason
            )
            return
        actor = controller_commands.permitted(self.name, self.viewer, self.now)
        controller_commands.reset_breaker(self.name, actor=actor, now=self.now, reason=self.reason)


def needed(number: int) -> str:
    """Say how many people have to approve."""
    several = f"{number} other people have" if number > 1 else "Another person has"
    return f"{several} to approve it before the mode changes."


@rights(page(WHOLE, Rule("whole", OPERATE, "organisation")))
@require_http_methods(["GET", "HEAD", "POST"])
def run(request: HttpRequest, name: str) -> HttpResponse:
    """Show what a controller would do now, or run it."""
    form = RunFormPage(PageRequest.of(request), name)
    if request.method != "POST":
        return form.show()
    answer = form.act(form.run)
    if not form.problem:
        messages.success(request, f"{name} runs now.")
    return answer


@rights(page(SEEN, at("organisation", *OPERATE)))
@require_http_methods(["GET", "HEAD", "POST"])
def change_mode(request: HttpRequest, name: str) -> HttpResponse:
    """Show the modes, or propose another one."""
    form = ModeFormPage(PageRequest.of(request), name)
    return form.act(lambda: form.file(request)) if request.method == "POST" else form.show()


@rights(page(SEEN, at("organisation", *OPERATE)))
@require_http_methods(["GET", "HEAD", "POST"])
def breaker(request: HttpRequest, name: str) -> HttpResponse:
    """Ask why a controller is to stop or to go on, or do it."""
    form = BreakerFormPage(PageRequest.of(request), name)
    if request.method != "POST":
        return form.show()
    answer = form.act(form.move)
    if not form.problem:
        word = "tries one cycle" if form.resets else "is stopped. It runs again when you reset it"
        messages.success(request, f"{name} {word}.")
    return answer
