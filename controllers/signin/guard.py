"""Before every view: is this session still good, does a form come from us, is a factor missing?"""

from __future__ import annotations

from typing import Any

from allauth.account.authentication import get_authentication_records
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from controllers.access import freshness, session_records
from resources.api.problems import respond
from resources.documents.problems import FORBIDDEN, Problem

API = "/api/"
SAFE = ("GET", "HEAD", "OPTIONS")
# What a page does by itself says nothing of somebody being there.
BY_ITSELF = ("live-poll",)
PARTS = "Live-Parts"
# Where somebody may go who still has to set up a second factor.
SETTING_UP = {
    "security",
    "logout",
    "account_reauthenticate",
    "account_change_password",
    "account_set_password",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn",
    "mfa_view_recovery_codes",
}
NEEDS_FACTOR = "Your role needs a second factor. Set up an app or a passkey first."


class Guard(LoginRequiredMiddleware):
    """Asks who is not signed in to sign in; and looks at the session of who is."""

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        """Let a request go on, or answer it here."""
        if request.method not in SAFE and is_foreign(request):
            return refused(request, "This was sent from another site. Nothing was done.")
        if request.path.startswith(API) or getattr(view_func, "login_required", True):
            answer = self.look(request)
            if answer is not None:
                return answer
        return super().process_view(request, view_func, view_args, view_kwargs)

    def look(self, request: HttpRequest) -> HttpResponse | None:
        """End a session that lasted too long, or lain idle; note that others are used."""
        person = request.user
        if not isinstance(person, User):
            return None
        now = timezone.now()
        if session_records.lapsed(
            request.session.get(session_records.KEPT), person.last_login, now
        ):
            logout(request)
            return None
        if not by_itself(request):
            session_records.touch(request.session, person.last_login, now)
        records = get_authentication_records(request, person)
        if freshness.lacks_factor(person, records, now):
            return self.without_factor(request)
        return None

    def without_factor(self, request: HttpRequest) -> HttpResponse | None:
        """Lead to setting a second factor up, and nowhere else."""
        match = request.resolver_match
        if match is not None and match.url_name in SETTING_UP:
            return None
        if request.path.startswith(API):
            return refused(request, NEEDS_FACTOR)
        messages.add_message(request, messages.INFO, NEEDS_FACTOR, extra_tags="warn")
        return redirect("security")


def by_itself(request: HttpRequest) -> bool:
    """Tell whether a page asks by itself, and not somebody."""
    match = request.resolver_match
    return PARTS in request.headers or (match is not None and match.url_name in BY_ITSELF)


def is_foreign(request: HttpRequest) -> bool:
    """Tell whether a browser says that another site sends this; programs say nothing."""
    return request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none")


def refused(request: HttpRequest, sentence: str) -> HttpResponse:
    """Answer 403: a problem to programs, a page to people."""
    if request.path.startswith(API):
        return respond(Problem(FORBIDDEN, sentence))
    return render(request, "door/refused.html", {"problem": sentence}, status=403)
