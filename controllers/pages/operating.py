"""What people do with a controller: run it, see what it would do, change its mode, stop it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from controllers import compiled, operating, proposals, roles, wording
from controllers.engine import configuration
from controllers.pages import modes
from controllers.pages.cycle import found
from controllers.pages.form import CONFLICT, FORBIDDEN, UNREADABLE, FormPage
from controllers.pages.loops import may
from controllers.pages.page import Look
from resources.models import Resource


class Refusal(NamedTuple):
    """Why something was not done, and the status of that answer."""

    status: int
    message: str


class Form(FormPage):
    """A form about one controller: a page of its own, or what a dialog shows."""

    section = "controllers"

    def __init__(self, look: Look, name: str) -> None:
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
        refused = attempt(deed)
        if refused is not None:
            return self.refuse(refused.message, refused.status)
        return self.leave()

    def leave(self) -> HttpResponse:
        """Go to the page of the controller; a dialog is told where."""
        return self.leave_for(self.address)


def attempt(deed: Callable[[], Any]) -> Refusal | None:
    """Do something; return why it was refused, or nothing."""
    try:
        deed()
    except roles.Denied as error:
        return Refusal(FORBIDDEN, str(error))
    except (operating.Missing, Resource.DoesNotExist):
        return Refusal(CONFLICT, "The controller is gone, or was declared anew. Load the page.")
    except operating.Refused as error:
        unsaid = isinstance(error, operating.Unsaid)
        return Refusal(UNREADABLE if unsaid else CONFLICT, str(error))
    except proposals.Refused as error:
        return Refusal(UNREADABLE, str(error))
    return None


class RunForm(Form):
    """What a controller would do now, and the button that runs it."""

    template = "controllers/run.html"
    fragment = "controllers/_run.html"

    @cached_property
    def preview(self) -> operating.Preview | None:
        """What a cycle would find and do; nothing when it cannot be known."""
        try:
            return operating.preview(self.name, now=self.now)
        except operating.Refused as error:
            self.problem = self.problem or str(error)
            return None

    def run(self) -> None:
        """Ask the loop for a cycle."""
        actor = operating.permitted(self.name, self.viewer, self.now)
        operating.request(self.name, actor=actor, now=self.now, message=self.reason.strip())


class ModeForm(Form):
    """Another enforcement mode, which others approve."""

    template = "controllers/mode.html"
    fragment = "controllers/_mode_form.html"

    @cached_property
    def mode(self) -> str:
        """The mode it is in."""
        return configuration.mode_of(self.row.spec)

    @cached_property
    def chosen(self) -> str:
        """The mode somebody wants."""
        return self.typed("mode") or self.mode

    @cached_property
    def past(self) -> modes.Past:
        """What each mode would have done."""
        declared = compiled.attempt((self.row.pk, self.row.generation))
        return modes.consequences(self.row.pk, declared, self.mode, self.now)

    @cached_property
    def may_propose(self) -> bool:
        """Whether the one who looks may propose it."""
        return may(roles.check_propose, self.viewer, self.row.domain, self.now)

    def file(self, request: HttpRequest) -> None:
        """Propose it, and say who decides."""
        filed = operating.propose_mode(
            self.name, self.chosen, person=self.viewer, now=self.now, reason=self.reason
        )
        proposal = filed.proposal
        said = format_html(
            '{} <a class="link" href="{}">{}</a>. {}',
            "Proposed:" if filed.new else "You proposed this already:",
            reverse("proposal", args=[proposal.pk]),
            wording.number(proposal),
            needed(roles.quorum_of(proposal).people),
        )
        messages.success(request, said)


class BreakerForm(Form):
    """Stop a controller, or let a stopped one try one cycle."""

    template = "controllers/breaker.html"
    fragment = "controllers/_breaker_form.html"

    @cached_property
    def resets(self) -> bool:
        """Whether it is to run again; otherwise it is to stop."""
        return self.typed("do") == "reset"

    def move(self) -> None:
        """Stop it, or let it try."""
        if not self.resets:
            operating.trip_breaker(self.name, person=self.viewer, now=self.now, reason=self.reason)
            return
        actor = operating.permitted(self.name, self.viewer, self.now)
        operating.reset_breaker(self.name, actor=actor, now=self.now, reason=self.reason)


def needed(number: int) -> str:
    """Say how many people have to approve."""
    several = f"{number} other people have" if number > 1 else "Another person has"
    return f"{several} to approve it before the mode changes."


@require_http_methods(["GET", "HEAD", "POST"])
def run(request: HttpRequest, name: str) -> HttpResponse:
    """Show what a controller would do now, or run it."""
    form = RunForm(Look.of(request), name)
    if request.method != "POST":
        return form.show()
    answer = form.act(form.run)
    if not form.problem:
        messages.success(request, f"{name} runs now.")
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
def change_mode(request: HttpRequest, name: str) -> HttpResponse:
    """Show the modes, or propose another one."""
    form = ModeForm(Look.of(request), name)
    return form.act(lambda: form.file(request)) if request.method == "POST" else form.show()


@require_http_methods(["GET", "HEAD", "POST"])
def breaker(request: HttpRequest, name: str) -> HttpResponse:
    """Ask why a controller is to stop or to go on, or do it."""
    form = BreakerForm(Look.of(request), name)
    if request.method != "POST":
        return form.show()
    answer = form.act(form.move)
    if not form.problem:
        word = "tries one cycle" if form.resets else "is stopped. It runs again when you reset it"
        messages.success(request, f"{name} {word}.")
    return answer
