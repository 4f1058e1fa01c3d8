"""How somebody signs in, and what an administrator does about it: sign out, unlock, forget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from controllers.access import deactivation, lockout, roles, session_records
from controllers.models import Lockout, Visit
from controllers.signin import reauthentication
from controllers.web.base.page import PageRequest
from controllers.web.manage.manage_page import Confirm, Question
from controllers.web.people.profile import called
from resources.documents.problems import Problem
from resources.usecases.access_rules import ADMINISTER, at, page, rights

# How somebody came, as a list says it.
METHODS = {
    "link": "a one-time link",
    "password": "a password",
    "passkey": "a passkey",
    "provider": "the identity provider",
}
FACTORS = {"totp": "an authenticator app", "webauthn": "a passkey"}
Deed = Callable[[User, User, datetime], int]


class Way(NamedTuple):
    """One thing an administrator does: how it is asked, done and told."""

    title: str
    words: str
    button: str
    icon: str
    deed: Deed
    done: str
    nothing: str
    # What lets somebody in asks who does it to confirm; what keeps them out never does.
    grave: bool = False


WAYS: Mapping[str, Way] = {
    "sign-out": Way(
        "Sign {} out everywhere?",
        "Every session of theirs ends at once, on every device. They may sign in again.",
        "Sign out everywhere",
        "log-out",
        lambda person, by, now: session_records.end_all(person, by=by, now=now),
        "{} is signed out everywhere.",
        "{} was signed in nowhere.",
    ),
    "unlock": Way(
        "Let {} try again?",
        "They tried to sign in too often and are kept waiting. They may try again at once.",
        "Unlock",
        "key-round",
        lambda person, by, now: lockout.unlock(person, by=by, now=now),
        "{} can try again.",
        "{} was not locked out.",
    ),
    "factors": Way(
        "Take the second factors of {} away?",
        "For who has lost them. Their app, passkeys and recovery codes stop working, and they sign"
        " in without. Make sure by another way that it is them who asks.",
        "Take them away",
        "shield-check",
        lambda person, by, now: deactivation.forget_factors(person, by=by, now=now),
        "{} signs in without a second factor now.",
        "{} had no second factor.",
        grave=True,
    ),
}


class Door:
    """What is known about how somebody signs in, for an administrator."""

    def __init__(self, person: User, now: datetime) -> None:
        self.person, self.now = person, now

    @cached_property
    def visits(self) -> list[tuple[Visit, str]]:
        """Where they are signed in, and how they came."""
        found = session_records.open_ones(self.person, self.now)
        return [(each, METHODS.get(each.method, each.method)) for each in found]

    @cached_property
    def locked(self) -> datetime | None:
        """Until when nothing is heard from them, if they tried too often."""
        name = lockout.spelled(self.person.get_username())
        rows = Lockout.objects.filter(account=name, until__gt=self.now)
        return max((each.until for each in rows if each.until), default=None)

    @cached_property
    def factors(self) -> list[str]:
        """What they show besides their password."""
        rows = Authenticator.objects.filter(user=self.person, type__in=FACTORS).order_by("pk")
        return [FACTORS[each] for each in rows.values_list("type", flat=True)]


class DoorForm(Confirm):
    """One of these questions, about somebody."""

    section = "people"

    def __init__(self, look: PageRequest, key: int) -> None:
        super().__init__(look)
        with look.eyes():
            near = roles.colleagues(User.objects.all(), look.scope)
        found = near.filter(pk=key).first() if key < 2**63 else None
        if found is None:
            raise Http404("There is no such person.")
        self.person = found

    def check(self) -> None:
        """Let only those in who administer the organisation."""
        if not self.administers:
            raise PermissionDenied("Only an administrator of the organisation does this.")

    @property
    def do(self) -> str:
        """Which question."""
        return self.typed("do") or "sign-out"

    @property
    def way(self) -> Way:
        """What is asked and done."""
        if self.do not in WAYS:
            raise Http404("There is nothing to do here.")
        return WAYS[self.do]

    @property
    def question(self) -> Question:
        """Say what happens."""
        way, back = self.way, reverse("person", args=[self.person.pk])
        title = way.title.format(called(self.person))
        tone = "primary" if self.do == "unlock" else "danger"
        return Question(title, way.words, way.button, back, way.icon, tone)

    @property
    def fields(self) -> Mapping[str, str]:
        """Name the question."""
        return {"do": self.do}

    def act(self) -> str:
        """Do it; return what to say."""
        way = self.way
        some = way.deed(self.person, self.viewer, self.now)
        return (way.done if some else way.nothing).format(called(self.person))


@rights(page(at("organisation", *ADMINISTER), at("organisation", *ADMINISTER)))
@require_http_methods(["GET", "HEAD", "POST"])
def door(request: HttpRequest, key: int) -> HttpResponse:
    """Ask, then do it."""
    form = DoorForm(PageRequest.of(request), key)
    form.check()
    if request.method != "POST":
        return form.show()
    if form.way.grave and (elsewhere := form.confirmed(request)) is not None:
        return elsewhere
    try:
        said = form.act()
    except Problem as problem:
        return form.refuse(problem)
    reauthentication.forget(request)
    messages.success(request, said)
    return form.leave_for(form.question.back)
