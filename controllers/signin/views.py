"""Signing in: by password, passkey and second factor, and showing again who it is."""

from __future__ import annotations

from typing import Any

from allauth.account import views as account
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.mfa.base import views as mfa
from allauth.mfa.webauthn import views as webauthn
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from controllers.access import people, session_records
from controllers.signin import provider
from resources.usecases.access_rules import OPEN, OWN, page, rights


class SignIn(account.LoginView):  # type: ignore[misc]
    """By name and password."""

    rights = page(OPEN, OPEN)
    template_name = "door/sign_in.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Offer the other ways in."""
        more = {"provider": provider.name(), "passkeys": True}
        return {**super().get_context_data(**kwargs), **more}


class Code(mfa.AuthenticateView):  # type: ignore[misc]
    """The second factor of a sign-in."""

    rights = page(OPEN, OPEN)
    template_name = "door/code.html"


class Passkey(webauthn.LoginWebAuthnView):  # type: ignore[misc]
    """By a passkey alone."""

    rights = page(OPEN, OPEN)
    http_method_names = ["get", "post"]


@method_decorator(never_cache, name="dispatch")
class Again(account.ReauthenticateView):  # type: ignore[misc]
    """Shows once more, by password, who it is."""

    rights = page(OWN, OWN)
    template_name = "door/again.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Offer the identity provider to whoever has nothing else."""
        here = get_adapter().get_reauthentication_methods(request.user)
        if not here and provider.belongs(request.user):
            onward = request.GET.get("next", "")
            offered = {"provider": provider.name(), "redirect_field_value": onward}
            return render(request, self.template_name, offered)
        response: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return response


@method_decorator(never_cache, name="dispatch")
class CodeAgain(mfa.ReauthenticateView):  # type: ignore[misc]
    """Shows it by a code."""

    rights = page(OWN, OWN)
    template_name = "door/again.html"


@method_decorator(never_cache, name="dispatch")
class PasskeyAgain(webauthn.ReauthenticateWebAuthnView):  # type: ignore[misc]
    """Shows it by a passkey."""

    rights = page(OWN, OWN)
    template_name = "door/again.html"

    def form_invalid(self, form: Any) -> HttpResponse:
        """Ask again, here."""
        response: HttpResponse = self.render_to_response(self.get_context_data(form=form))
        return response


@rights(page(None, OWN))
@login_not_required
@never_cache
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this session, also one that waits for its second factor."""
    leave(request)
    return redirect("login")


def leave(request: HttpRequest) -> None:
    """Sign out whoever is signed in here."""
    person, session = request.user, request.session.session_key or ""
    if isinstance(person, User):
        session_records.end([session], person, person, timezone.now())
    logout(request)


@rights(page(OPEN, OPEN))
@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_by_link(request: HttpRequest, user_id: int, token: str) -> HttpResponse:
    """Show whom a link signs in; only pressing the button uses it up."""
    user = people.link_holder(user_id, token)
    if user is not None and request.method != "POST":
        person = user.get_full_name() or user.get_username()
        return render(request, "people/sign_in.html", {"person": person})
    if user is None or not people.redeem(user, timezone.now()):
        problem = "It was used already, or it is too old. Ask for a new one: ioa sign-in NAME."
        return render(request, "people/sign_in.html", {"problem": problem}, status=410)
    user.refresh_from_db()
    leave(request)
    record_authentication(request, user, method="link")
    # A second factor is asked for as after a password.
    answer: HttpResponse = perform_login(request, Login(user=user, redirect_url=after_link(user)))
    return answer


def after_link(person: User) -> str:
    """Lead whoever has no password to setting one; in the demo links are enough."""
    if person.has_usable_password() or settings.DEMO:
        return reverse("start")
    return f"{reverse('account_set_password')}?next={reverse('start')}"


@rights(page(OPEN))
@login_not_required
@require_safe
def inactive(request: HttpRequest) -> HttpResponse:
    """Tell somebody who was shut out that they were."""
    return render(request, "door/inactive.html", status=403)
