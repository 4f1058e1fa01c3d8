"""A person's own page: their roles, their keys and theme, and who decides for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from controllers.access import preferences, roles
from controllers.access.roles.quorum import groups_of
from controllers.models import Delegation, Grant
from controllers.trust import decision_quality
from controllers.trust.decision_quality import Quality, Together
from controllers.web.base.page import Page, PageRequest, part
from resources.documents.problems import Problem, invalid, missing
from resources.usecases import access
from resources.usecases.access_rules import DECIDE, OWN, Rule, page, rights

YEAR = int(timedelta(days=365).total_seconds())
THEMES = {"system": "Like the system", "light": "Light", "dark": "Dark"}
# More people than a list can offer are found by nobody in a list.
MOST_PEOPLE = 500
ENDED_SHOWN = 5
# What each role lets people do: `controllers.access.roles.rights` is the rule.
MEANINGS = {
    "viewer": "See what is there.",
    "operator": "Run controllers, propose, pause and override.",
    "approver": "Decide proposals, pause, override and lift.",
    "administrator": "Give roles, run controllers, propose, pause, override and lift.",
    "auditor": "Read everything, also the records in the admin; change nothing.",
}


@dataclass(frozen=True)
class DeputyFormState:
    """A deputy as somebody typed it, to be shown again when it cannot be."""

    deputy: str = ""
    start: str = ""
    end: str = ""
    reason: str = ""
    problem: str = ""

    @classmethod
    def typed(cls, form: Mapping[str, str]) -> DeputyFormState:
        """Read what was typed."""
        return cls(*(form.get(name, "") for name in ("deputy", "from", "to", "reason")))


class Profile(Page):
    """What somebody may, wants, and has arranged."""

    rights = page(OWN, OWN)
    template = "finding/profile.html"
    section = "profile"
    parts = {
        "grants": part("finding/_grants.html", "person", "group"),
        "quality": part("finding/_quality.html", "proposal", "person"),
        "deputies": part("finding/_deputies.html", "person"),
        "deputise": part("finding/_deputise.html", "person"),
    }

    def __init__(self, look: PageRequest, wish: DeputyFormState | None = None) -> None:
        super().__init__(look)
        today = look.now.astimezone(UTC).date()
        week = today + timedelta(days=7)
        self.wish = wish or DeputyFormState(start=f"{today}", end=f"{week}")

    @cached_property
    def grants(self) -> list[Grant]:
        """The roles in force."""
        lasting = Q(ends_at=None) | Q(ends_at__gt=self.now)
        mine = Grant.objects.filter(lasting, person=self.viewer)
        return list(mine.order_by("role", "domain"))

    @cached_property
    def quality(self) -> Quality:
        """How somebody decides; nobody else sees it."""
        return decision_quality.of_person(self.viewer, self.now)

    @cached_property
    def together(self) -> Together | None:
        """How everybody decides, for administrators."""
        return decision_quality.of_everybody(self.viewer, self.now)

    @property
    def held(self) -> list[tuple[Grant, str]]:
        """Each role with what it lets somebody do."""
        return [(grant, MEANINGS[grant.role]) for grant in self.grants]

    @cached_property
    def groups(self) -> list[str]:
        """The groups somebody is in."""
        return groups_of(self.viewer.pk)

    @property
    def may_delegate(self) -> bool:
        """Whether there is anything to delegate."""
        return any(grant.role == Grant.Role.APPROVER for grant in self.grants)

    @cached_property
    def delegations(self) -> list[Delegation]:
        """What stands or is to come, and has to do with somebody."""
        return list(self.involved.filter(revoked_at=None, ends_at__gt=self.now))

    @property
    def involved(self) -> QuerySet[Delegation]:
        """The delegations from or to somebody, those that begin first first."""
        rows = Delegation.objects.filter(Q(person=self.viewer) | Q(deputy=self.viewer))
        return rows.select_related("person", "deputy").order_by("starts_at", "pk")

    @property
    def given(self) -> list[Delegation]:
        """Who decides for somebody."""
        return [each for each in self.delegations if each.person_id == self.viewer.pk]

    @property
    def taken(self) -> list[Delegation]:
        """For whom somebody decides."""
        return [each for each in self.delegations if each.deputy_id == self.viewer.pk]

    @cached_property
    def ended(self) -> list[Delegation]:
        """What was lately."""
        over = Q(revoked_at__isnull=False) | Q(ends_at__lte=self.now)
        return list(self.involved.filter(over).order_by("-pk")[:ENDED_SHOWN])

    @cached_property
    def people(self) -> list[User]:
        """Who may be named as a deputy."""
        near = roles.colleagues(User.objects.filter(is_active=True), self.look.scope)
        others = near.exclude(pk=self.viewer.pk)
        return list(others.order_by("first_name", "last_name", "username")[:MOST_PEOPLE])

    @property
    def themes(self) -> list[tuple[str, str, bool]]:
        """The themes: their word, how they are called, whether it is the chosen one."""
        request = self.look.request
        chosen = request.COOKIES.get("theme", "") if request else ""
        chosen = chosen if chosen in THEMES else "system"
        return [(word, title, word == chosen) for word, title in THEMES.items()]


@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest) -> HttpResponse:
    """Show the profile, or keep what somebody chose on it."""
    look = PageRequest.of(request)
    if request.method != "POST":
        return Profile(look).respond()
    preferences.switch_shortcuts(look.viewer, request.POST.get("shortcuts") == "on")
    messages.success(request, "Saved.")
    response = HttpResponseRedirect(reverse("profile"), status=303)
    theme = request.POST.get("theme", "")
    if theme in ("light", "dark"):
        response.set_cookie("theme", theme, max_age=YEAR, samesite="Lax")
    elif theme == "system":
        response.delete_cookie("theme", samesite="Lax")
    return response


# A live page finds what it consists of by its address.
show.page = Profile  # type: ignore[attr-defined]


@rights(page(None, Rule("signed in", DECIDE, "anywhere")))
@require_POST
def deputise(request: HttpRequest) -> HttpResponse:
    """Name a deputy, or end what stands; a refusal keeps what was typed."""
    look = PageRequest.of(request)
    wish = DeputyFormState.typed(request.POST.dict())
    try:
        if "end" in request.POST:
            end(look.viewer, request.POST["end"], look.now)
            messages.success(request, "Ended. It counts from now on.")
        else:
            named = name(look.viewer, wish, look.now)
            messages.success(request, f"{called(named)} decides for you in that time.")
    except Problem as problem:
        return refused(look, wish, problem)
    return HttpResponseRedirect(reverse("profile"), status=303)


def refused(look: PageRequest, wish: DeputyFormState, problem: Problem) -> HttpResponse:
    """Show the page again, with why not and what was typed."""
    typed = DeputyFormState(wish.deputy, wish.start, wish.end, wish.reason, problem.message)
    return Profile(look, typed).respond(problem.status)


def name(person: User, wish: DeputyFormState, now: datetime) -> User:
    """Let somebody decide for a person, from a day to a day."""
    roles.check_approver(person, now)
    near = roles.colleagues(User.objects.all(), access.scope_of(person))
    deputy = near.filter(username=wish.deputy.replace("\x00", "")).first()
    if deputy is None:
        raise invalid("Choose who decides for you.")
    starts_at = midnight(wish.start, "first") if wish.start else now
    ends_at = midnight(wish.end, "last") + timedelta(days=1)
    span = {"starts_at": starts_at, "ends_at": ends_at}
    roles.delegate(deputy, person=person, reason=wish.reason, now=now, **span)
    return deputy


def midnight(typed: str, which: str) -> datetime:
    """Return when a day begins, in UTC; the last day of all has no end."""
    try:
        day = date.fromisoformat(typed)
    except ValueError:
        raise invalid(f"Choose the {which} day.") from None
    if day == date.max:
        raise invalid(f"Choose an earlier {which} day.")
    return datetime.combine(day, time.min, UTC)


def end(person: User, typed: str, now: datetime) -> None:
    """End a delegation."""
    if not typed.isdecimal() or len(typed) > len(str(2**63)) - 1:
        raise missing("There is no such delegation.")
    roles.end_delegation(int(typed), by=person, now=now)


def called(person: User) -> str:
    """Return what people call somebody."""
    return person.get_full_name() or person.get_username()
