"""What allauth asks of us: who gets in, what is counted, what is kept, and in which words."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from controllers.access import freshness, lockout, people, session_records
from controllers.common import secrets
from resources.documents.problems import Problem
from resources.observability import metrics
from resources.store import announcements

# What somebody typed before they were asked to confirm: see `stepping`.
TYPED = "door-typed"
NOWHERE = "0.0.0.0"  # noqa: S104 - what stands for an address that is not known


def address_of(request: HttpRequest) -> str:
    """Return where a request comes from."""
    return str(request.META.get("REMOTE_ADDR") or NOWHERE)[:45]


def came(request: HttpRequest, method: str) -> session_records.Came:
    """Return how somebody came in."""
    return session_records.Came(method, address_of(request), request.headers.get("User-Agent", ""))


def method_of(request: HttpRequest, person: User) -> str:
    """Name what somebody signed in with: the passkey alone, or what came before its second."""
    records = get_authentication_records(request, person)
    if any(each.get("passwordless") for each in records):
        return "passkey"
    first = records[0]["method"] if records else "password"
    return "provider" if first == "socialaccount" else str(first)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """People by name and password; nobody signs up."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": "The name or the password is wrong.",
        "incorrect_password": "The password is wrong.",
        "enter_current_password": "Type your present password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Let nobody make an account of their own."""
        return False

    def is_safe_url(self, url: str) -> bool:
        """Go on only inside the product, wherever it is served."""
        return url_has_allowed_host_and_scheme(url, allowed_hosts=None)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return where a request comes from; the web server knows which proxy to believe."""
        return address_of(request)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the try, or refuse it."""
        refuse_many(str(credentials.get("username", "")), request)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Look at the password, once the try is counted."""
        found: User | None = super().authenticate(request, **credentials)
        if found is not None:
            lockout.succeeded(str(credentials.get("username", "")), address_of(request))
        return found

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Note that somebody ran out of tries."""
        failed(str(credentials.get("username", "")), request)

    def login(self, request: HttpRequest, user: User) -> None:
        """Let somebody in, and keep how and from where."""
        now, method = timezone.now(), method_of(request, user)
        with transaction.atomic():
            super().login(request, user)
            session_records.begin(request.session, user, came(request, method), now)
            # That a link was used is written when it is used up.
            if method != "link":
                actor = people.actor_for(user)
                people.note(user, "person.signed-in", {"by": method}, actor=actor, now=now)
        metrics.SIGN_INS.labels("let in").inc()

    def logout(self, request: HttpRequest) -> None:
        """End a session that the identity provider begins anew; what was typed is kept for it."""
        typed = request.session.get(TYPED)
        super().logout(request)
        if typed:
            request.session[TYPED] = typed

    def set_password(self, user: User, password: str) -> None:
        """Give somebody another password, and sign them out everywhere else."""
        now, session = timezone.now(), context.request.session.session_key or ""
        with transaction.atomic():
            user.set_password(password)
            user.save(update_fields=["password"])
            session_records.end_others(session, person=user, now=now)
            actor = people.actor_for(user)
            people.note(user, "person.password-changed", {}, actor=actor, now=now)
            announcements.announce()

    def is_reauthentication_required(self, *, app: str) -> bool:
        """Ask again only after a while."""
        request = context.request
        records = get_authentication_records(request, request.user)
        return freshness.is_stale(request.user, records, timezone.now())

    def add_message(
        self, request: HttpRequest, level: int, *args: Any, message: str = "", **kwargs: Any
    ) -> None:
        """Pass on what went wrong; the pages have words of their own for what went well."""
        if message:
            messages.add_message(request, level, message, extra_tags="danger")

    def send_notification_mail(self, *args: Any, **kwargs: Any) -> None:
        """Send nothing: what happens to somebody is in their chain."""


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Second factors, kept so that only this installation can read them."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "That is not right. Look for a new code and try again.",
        "cannot_generate_recovery_codes": "Set up an app or a passkey first.",
    }

    def encrypt(self, text: str) -> str:
        """Encrypt a secret before it is stored."""
        return secrets.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Read a stored secret."""
        return secrets.decrypt(encrypted_text)

    def get_totp_issuer(self) -> str:
        """Name the product in the app."""
        return "IOA Control"

    def generate_authenticator_name(self, user: User, type: str) -> str:  # noqa: A002
        """Suggest a name for a passkey: where it was made."""
        return session_records.device(context.request.headers.get("User-Agent", ""))


def refuse_many(account: str, request: HttpRequest) -> None:
    """Count a try; say when to come back if there were too many."""
    try:
        lockout.attempt(account, address_of(request), timezone.now())
    except Problem as problem:
        metrics.SIGN_INS.labels("locked out").inc()
        raise ValidationError(problem.message, code="locked") from None


def failed(account: str, request: HttpRequest) -> None:
    """Note that a try was wrong."""
    metrics.SIGN_INS.labels("refused").inc()
    lockout.failed(account, address_of(request), timezone.now())
