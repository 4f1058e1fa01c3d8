"""What somebody signs in with: password, authenticator app, passkeys and recovery codes."""

from __future__ import annotations

from typing import Any

from allauth.account import views as account
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from allauth.mfa.webauthn.internal import auth as ceremony
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from controllers.access import people, session_records
from resources.store import announcements
from resources.usecases.access_rules import OWN, page

HOME = reverse_lazy("security")


class Noted:
    """Writes what was done into the person's chain, in the same transaction, and says so."""

    event = ""
    said = ""
    request: Any

    def form_valid(self, form: Any) -> HttpResponse:
        """Do it, note it, say it."""
        person, now = self.request.user, timezone.now()
        with transaction.atomic():
            response: HttpResponse = super().form_valid(form)  # type: ignore[misc]
            if self.event:
                people.note(person, self.event, {}, actor=people.actor_for(person), now=now)
                announcements.announce()
        messages.add_message(self.request, messages.INFO, self.said, extra_tags="ok")
        return response


class Keeps(Noted):
    """Keeps the session that is given a new key with a new password."""

    said = "Your password is set. You are signed out everywhere else."

    def form_valid(self, form: Any) -> HttpResponse:
        """Follow the session to its new key."""
        former = self.request.session.session_key
        with transaction.atomic():
            response = super().form_valid(form)
            session_records.moved(former, self.request.session)
        return response

    def get_default_success_url(self) -> str:
        """Go back to where it was asked for."""
        return str(HOME)


@method_decorator(never_cache, name="dispatch")
class NewPassword(Keeps, account.PasswordSetView):  # type: ignore[misc]
    """The first password, after a link."""

    rights = page(OWN, OWN)
    template_name = "door/password.html"


@method_decorator(never_cache, name="dispatch")
class ChangePassword(Keeps, account.PasswordChangeView):  # type: ignore[misc]
    """Another password."""

    rights = page(OWN, OWN)
    template_name = "door/password.html"


@method_decorator(never_cache, name="dispatch")
class AddApp(Noted, totp.ActivateTOTPView):  # type: ignore[misc]
    """An authenticator app."""

    rights = page(OWN, OWN)
    template_name = "door/app.html"
    event, said = "person.second-factor-added", "The app is set up."


@method_decorator(never_cache, name="dispatch")
class RemoveApp(Noted, totp.DeactivateTOTPView):  # type: ignore[misc]
    """No authenticator app any more."""

    rights = page(OWN, OWN)
    template_name = "door/remove.html"
    success_url = HOME
    extra_context = {"title": "Remove the app", "what": "Its codes no longer sign you in."}
    event, said = "person.second-factor-removed", "The app is removed."


@method_decorator(never_cache, name="dispatch")
class AddPasskey(Noted, webauthn.AddWebAuthnView):  # type: ignore[misc]
    """A passkey, which signs in without a password."""

    rights = page(OWN, OWN)
    template_name = "door/passkey.html"
    event, said = "person.passkey-added", "The passkey is added."

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Ask the device for a key that it finds by itself and unlocks for its owner."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        options = ceremony.begin_registration(self.request.user, True)
        return {**context, **kwargs, "js_data": {"creation_options": options}}


@method_decorator(never_cache, name="dispatch")
class RemovePasskey(Noted, webauthn.RemoveWebAuthnView):  # type: ignore[misc]
    """One passkey less."""

    rights = page(OWN, OWN)
    template_name = "door/remove.html"
    success_url = HOME
    extra_context = {
        "title": "Remove this passkey",
        "what": "It no longer signs you in. Delete it on your device too.",
    }
    event, said = "person.passkey-removed", "The passkey is removed."


@method_decorator(never_cache, name="dispatch")
class Codes(recovery.ViewRecoveryCodesView):  # type: ignore[misc]
    """The recovery codes that are left."""

    rights = page(OWN)
    template_name = "door/codes.html"


@method_decorator(never_cache, name="dispatch")
class NewCodes(Noted, recovery.GenerateRecoveryCodesView):  # type: ignore[misc]
    """New recovery codes in the place of the old ones."""

    rights = page(OWN, OWN)
    template_name = "door/codes_new.html"
    event, said = "person.recovery-codes-made", "These codes replace the former ones."
