"""A person's own page about signing in: what they sign in with, and where they are signed in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from controllers.access import roles, session_records
from controllers.models import Visit
from controllers.web.base.page import Page, PageRequest
from controllers.web.people.person_signin import METHODS
from resources.usecases.access_rules import OWN, page, rights

LONGEST_KEY = 18


class Security(Page):
    """What somebody signs in with, and where they are signed in."""

    template = "people/security.html"

    @cached_property
    def factors(self) -> Sequence[Authenticator]:
        """Their second factors."""
        return list(Authenticator.objects.filter(user=self.viewer).order_by("pk"))

    @property
    def app(self) -> Authenticator | None:
        """Their authenticator app."""
        return next((each for each in self.factors if each.type == "totp"), None)

    @property
    def passkeys(self) -> list[Authenticator]:
        """Their passkeys."""
        return [each for each in self.factors if each.type == "webauthn"]

    @property
    def codes(self) -> int | None:
        """How many recovery codes are left; nothing while there are none at all."""
        kept = next((each for each in self.factors if each.type == "recovery_codes"), None)
        return len(kept.wrap().get_unused_codes()) if kept else None

    @cached_property
    def hint(self) -> str:
        """What they should do, if their role is one that lets things happen."""
        if self.app or self.passkeys:
            return ""
        if not roles.holds_anywhere(self.viewer, ("approver", "administrator"), self.now):
            return ""
        if settings.REQUIRE_SECOND_FACTOR:
            return "Your role needs a second factor. Set up an app or a passkey."
        return "You decide for others. Protect that with an app or a passkey."

    @cached_property
    def visits(self) -> list[tuple[Visit, str, bool]]:
        """Where they are signed in: how they came, and whether it is here."""
        request = self.look.request
        here = request.session.session_key if request is not None else ""
        return [
            (each, METHODS.get(each.method, each.method), each.session == here)
            for each in session_records.open_ones(self.viewer, self.now)
        ]


@rights(page(OWN))
@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """Show the page."""
    return Security(PageRequest.of(request)).respond()


@rights(page(None, OWN))
@require_POST
def end_sessions(request: HttpRequest) -> HttpResponse:
    """Sign out somewhere else, or everywhere else."""
    look, which = PageRequest.of(request), request.POST.get("visit", "")
    if which == "others":
        here = request.session.session_key or ""
        ended = session_records.end_others(here, person=look.viewer, now=look.now)
        said = "You are signed out everywhere else." if ended else "You were signed in only here."
    elif which.isascii() and which.isdecimal() and len(which) <= LONGEST_KEY:
        ended = session_records.end_one(int(which), person=look.viewer, now=look.now)
        said = "Signed out there." if ended else "You were not signed in there any more."
    else:
        said = "Choose where to sign out."
    messages.add_message(request, messages.INFO, said, extra_tags="ok")
    response = HttpResponseRedirect(reverse("security"))
    response.status_code = 303
    return response
