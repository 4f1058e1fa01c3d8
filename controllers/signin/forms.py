"""Codes and passkeys: tries are counted, a code of an app works once, odd answers are refused."""

from __future__ import annotations

from typing import Any

from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.crypto import salted_hmac

from controllers.access import lockout
from controllers.signin.adapter import address_of, failed, refuse_many

# A code is good for its half minute and the two beside it.
REMEMBERED = 3
NOT_UNDERSTOOD = "What the device said cannot be understood. Try again."
SALT = "controllers.signin.forms"


class CountedAttemptsMixin:
    """Counts tries of codes like tries of passwords."""

    user: Any
    authenticator: Authenticator

    def clean_code(self) -> str:
        """Look at a code, once the try is counted."""
        request, name = context.request, self.user.get_username()
        refuse_many(name, request)
        try:
            code: str = super().clean_code()  # type: ignore[misc]
            use_up(self.authenticator, code)
        except ValidationError:
            failed(name, request)
            raise
        lockout.succeeded(name, address_of(request))
        return code


class Patient:
    """Takes whatever a device, or somebody who plays one, sends: what is odd is refused."""

    def full_clean(self) -> None:
        """Look at what was sent; what cannot be read is wrong, and nothing more."""
        try:
            super().full_clean()  # type: ignore[misc]
        except (TypeError, ValueError, KeyError, AttributeError, IndexError):
            self.cleaned_data: dict[str, Any] = {}
            self.add_error("credential", NOT_UNDERSTOOD)  # type: ignore[attr-defined]


class AddPasskeyForm(Patient, AddWebAuthnForm):  # type: ignore[misc]
    """A new passkey."""


class PasskeyForm(Patient, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey that completes a sign-in."""


class PasskeyAloneForm(Patient, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey that signs in by itself."""


class PasskeyAgainForm(Patient, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey that shows once more who it is."""


class CodeForm(CountedAttemptsMixin, AuthenticateForm):  # type: ignore[misc]
    """The code that completes a sign-in."""


class CodeAgainForm(CountedAttemptsMixin, ReauthenticateForm):  # type: ignore[misc]
    """The code that shows once more who it is."""


def use_up(authenticator: Authenticator, code: str) -> None:
    """Use a code of an app up, for all processes."""
    if authenticator.type != Authenticator.Type.TOTP:
        return
    digest = salted_hmac(SALT, f"{authenticator.pk}:{code.strip()}").hexdigest()[:32]
    with transaction.atomic():
        row = Authenticator.objects.select_for_update().get(pk=authenticator.pk)
        used = [*row.data.get("used", ())]
        if digest in used:
            raise get_adapter().validation_error("incorrect_code")
        row.data["used"] = [*used, digest][-REMEMBERED:]
        row.save(update_fields=["data"])
