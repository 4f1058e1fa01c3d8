"""The people: who holds which role where; administrators bring them in and give them roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from controllers.access import deactivation, people, roles
from controllers.models import Grant
from controllers.web.base.page import Page, PageRequest, part
from controllers.web.people.person_signin import Door
from controllers.web.people.profile import MEANINGS, called
from resources.documents.problems import Problem, invalid
from resources.tables.models import Resource
from resources.tables.visibility import Scope
from resources.usecases.access_rules import ADMINISTER, at, page, rights

SHOWN = 500
RISKS = ("low", "medium", "high")


@dataclass(frozen=True)
class PeopleFormState:
    """What somebody typed into a form, to be shown again when it cannot be done."""

    typed: Mapping[str, str]
    problem: str = ""


NOTHING = PeopleFormState({})


class Managed(Page):
    """What the pages about people share."""

    section = "people"

    @property
    def scope(self) -> Scope:
        """What the one who looks holds."""
        return self.look.scope or Scope()

    @cached_property
    def places(self) -> list[tuple[str, str]]:
        """Where the one who looks may give roles: the name of each place, and its words."""
        if self.scope.holds(ADMINISTER, ""):
            rows = Resource.objects.filter(kind="Domain", deleted_at=None).order_by("name")
            names = list(rows.values_list("name", flat=True)[:SHOWN])
            return [("", "Whole organisation"), *((each, each) for each in names)]
        own = sorted(domain for role, domain in self.scope.held if role in ADMINISTER)
        return [(each, each) for each in own]

    @property
    def roles(self) -> list[tuple[str, str]]:
        """The roles and what each lets somebody do."""
        return list(MEANINGS.items())

    @property
    def risks(self) -> tuple[str, ...]:
        """How far an approver may decide."""
        return RISKS


class People(Managed):
    """Everybody the one who looks works with."""

    rights = page()
    template = "people/list.html"
    parts = {"people": part("people/_list.html", "person")}

    def __init__(self, look: PageRequest, wish: PeopleFormState = NOTHING) -> None:
        super().__init__(look)
        self.wish = wish

    @cached_property
    def rows(self) -> list[tuple[User, list[Grant]]]:
        """Each with the roles they hold where the one who looks sees them."""
        near = roles.colleagues(User.objects.all(), self.look.scope)
        found = list(near.order_by("-is_active", "first_name", "username")[:SHOWN])
        held = seen_grants(self.look.scope, self.now).filter(person__in=found)
        by_person: dict[int, list[Grant]] = {}
        for each in held.order_by("role", "domain"):
            by_person.setdefault(each.person_id, []).append(each)
        return [(each, by_person.get(each.pk, [])) for each in found]


class PersonPage(Managed):
    """One person: their roles, and what an administrator may change about them."""

    rights = page()
    template = "people/person.html"
    parts = {
        "person": part("people/_person.html", "person"),
        "person-roles": part("people/_roles.html", "person"),
        "person-door": part("people/_door.html", "person"),
    }

    def __init__(self, look: PageRequest, key: int, wish: PeopleFormState = NOTHING) -> None:
        super().__init__(look)
        self.key, self.wish = key, wish

    @cached_property
    def person(self) -> User:
        """Who it is about."""
        near = roles.colleagues(User.objects.all(), self.look.scope)
        found = near.filter(pk=self.key).first() if self.key < 2**63 else None
        if found is None:
            raise Http404("There is no such person.")
        return found

    @cached_property
    def grants(self) -> list[tuple[Grant, str, bool]]:
        """Their roles, what each lets them do, and whether the one who looks may take it."""
        held = seen_grants(self.look.scope, self.now).filter(person=self.person)
        return [
            (each, MEANINGS[each.role], self.scope.holds(ADMINISTER, each.domain))
            for each in held.order_by("role", "domain")
        ]

    @property
    def own(self) -> bool:
        """Whether somebody looks at themselves."""
        return self.person.pk == self.viewer.pk

    @cached_property
    def door(self) -> Door | None:
        """How they sign in, for who administers the organisation; one's own is elsewhere."""
        seen = self.scope.holds(ADMINISTER, "") and not self.own
        return Door(self.person, self.now) if seen else None

    @cached_property
    def over(self) -> bool:
        """Whether the one who looks administers every place of theirs."""
        held = set(Grant.objects.filter(person=self.person).values_list("domain", flat=True))
        return all(self.scope.holds(ADMINISTER, place) for place in held or {""})


def seen_grants(scope: Scope | None, now: datetime) -> QuerySet[Grant]:
    """Return the grants that stand and that somebody sees."""
    lasting = Grant.objects.filter(Q(ends_at=None) | Q(ends_at__gt=now))
    if scope is None or scope.is_whole:
        return lasting
    return lasting.filter(domain__in=scope.reading)


def right_in(typed: Mapping[str, str]) -> roles.Right:
    """Read a right from a form."""
    return roles.Right(
        role=typed.get("role", ""),
        domain=typed.get("domain", ""),
        ceiling=typed.get("ceiling") or "high",
        ends_at=last_moment(typed.get("until", "")),
    )


def last_moment(typed: str) -> datetime | None:
    """Return when a last day is over, in UTC; nothing for no end."""
    if not typed:
        return None
    try:
        day = date.fromisoformat(typed)
        return datetime.combine(day, time.min, UTC) + timedelta(days=1)
    except (ValueError, OverflowError):
        raise invalid("Choose the last day.") from None


@rights(page(None, at("there", *ADMINISTER)))
@require_POST
def invite(request: HttpRequest) -> HttpResponse:
    """Add somebody, and show the link that lets them in; it is shown once."""
    look, typed = PageRequest.of(request), request.POST.dict()
    try:
        user = roles.invite(
            typed.get("username", "").strip(),
            typed.get("name", ""),
            right_in(typed),
            by=look.viewer,
            now=look.now,
        )
    except Problem as problem:
        return People(look, PeopleFormState(typed, problem.message)).respond(problem.status)
    return linked(request, user)


def linked(request: HttpRequest, person: User) -> HttpResponse:
    """Show a link that works once, on a page that is kept nowhere."""
    base = request.build_absolute_uri("/")
    page = LinkPage(PageRequest.of(request), person, people.sign_in_link(person, base))
    return page.respond()


class LinkPage(Managed):
    """A link for somebody's first sign-in."""

    template = "people/link.html"

    def __init__(self, look: PageRequest, person: User, link: str) -> None:
        super().__init__(look)
        self.person, self.link = person, link


@rights(page(None, at("there", *ADMINISTER)))
@require_POST
def link(request: HttpRequest, key: int) -> HttpResponse:
    """Make a link for who has not been here yet."""
    page = PersonPage(PageRequest.of(request), key)
    try:
        roles.note_link(page.person, by=page.viewer, now=page.now)
    except Problem as problem:
        return refused(page, {}, problem)
    return linked(request, page.person)


@rights(page(None, at("there", *ADMINISTER)))
@require_POST
def grant(request: HttpRequest, key: int) -> HttpResponse:
    """Give a role, or give it again with another ceiling or end."""
    typed = request.POST.dict()

    def deed(page: PersonPage) -> str:
        given = roles.grant(page.person, right_in(typed), by=page.viewer, now=page.now)
        where = given.domain or "the whole organisation"
        return f"{called(page.person)} is {given.get_role_display().lower()} of {where} now."

    return done(request, key, typed, deed)


# Anybody may also give up a role of their own.
@rights(page(None, at("there", *ADMINISTER)))
@require_POST
def revoke(request: HttpRequest, key: int) -> HttpResponse:
    """Take a role; it is gone at once."""
    typed = request.POST.dict()

    def deed(page: PersonPage) -> str:
        role, domain = typed.get("role", ""), typed.get("domain", "")
        taken = roles.revoke(page.person, role, by=page.viewer, now=page.now, domain=domain)
        return "Taken. It counts from now on." if taken else "They did not hold it any more."

    return done(request, key, typed, deed)


@rights(page(None, at("there", *ADMINISTER)))
@require_POST
def deactivate(request: HttpRequest, key: int) -> HttpResponse:
    """Send somebody away, or let them back in."""
    typed = request.POST.dict()

    def deed(page: PersonPage) -> str:
        if typed.get("do") == "back":
            deactivation.let_in(page.person, by=page.viewer, now=page.now)
            return f"{called(page.person)} may sign in again."
        deactivation.shut_out(page.person, by=page.viewer, now=page.now)
        return f"{called(page.person)} is out. Every page of theirs is closed."

    return done(request, key, typed, deed)


def done(
    request: HttpRequest, key: int, typed: Mapping[str, str], deed: Callable[[PersonPage], str]
) -> HttpResponse:
    """Do something about a person and say so; a refusal keeps what was typed."""
    page = PersonPage(PageRequest.of(request), key)
    try:
        said = deed(page)
    except Problem as problem:
        return refused(page, typed, problem)
    messages.success(request, said)
    return HttpResponseRedirect(reverse("person", args=[key]), status=303)


def refused(page: PersonPage, typed: Mapping[str, str], problem: Problem) -> HttpResponse:
    """Show the page again, with why not and what was typed."""
    wish = PeopleFormState(typed, problem.message)
    return PersonPage(page.look, page.key, wish).respond(problem.status)
