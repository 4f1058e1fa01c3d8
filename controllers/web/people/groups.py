"""Groups: who is in them, which policies name them, and what administrators change about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from controllers.access import roles
from controllers.access.roles.quorum import Declared, Policy
from controllers.models import ApprovalGroup, Grant, Membership
from controllers.web.base.page import PageRequest, part
from controllers.web.people.people_page import (
    NOTHING,
    SHOWN,
    Managed,
    PeopleFormState,
    seen_grants,
)
from controllers.web.people.profile import called
from resources.documents.problems import Problem, invalid
from resources.usecases.access_rules import ADMINISTER, at, page, rights

DECLARING = ("resource.created", "resource.spec-changed", "resource.deleted")
ABOUT = ("group", "person", *DECLARING)


@dataclass(frozen=True)
class Member:
    """Somebody in a group, and whether they may decide anywhere."""

    person: User
    decides: bool
    removable: bool = False


class Grouped(Managed):
    """What the pages about groups share."""

    @property
    def manages(self) -> bool:
        """Whether the one who looks may change groups."""
        return self.scope.holds(ADMINISTER, "")

    @cached_property
    def policies(self) -> Mapping[str, list[Policy]]:
        """The groups that policies name, with those policies."""
        return Declared.read().named_groups

    def members(self, keys: list[int]) -> dict[int, list[Member]]:
        """Return whom the one who looks knows of some groups, by the group."""
        near = roles.colleagues(User.objects.all(), self.look.scope)
        rows = Membership.objects.filter(group__in=keys, person__in=near)
        ordered = rows.select_related("person").order_by("person__first_name", "person__username")
        held = seen_grants(self.look.scope, self.now).filter(role=Grant.Role.APPROVER)
        deciding = set(held.values_list("person", flat=True))
        found: dict[int, list[Member]] = {}
        for each in ordered[: SHOWN * 4]:
            able = each.person_id in deciding and each.person.is_active
            member = Member(each.person, able, self.manages)
            found.setdefault(each.group_id, []).append(member)
        return found


class Groups(Grouped):
    """Every group."""

    rights = page()
    template = "people/groups.html"
    parts = {"groups": part("people/_groups.html", *ABOUT)}

    def __init__(self, look: PageRequest, wish: PeopleFormState = NOTHING) -> None:
        super().__init__(look)
        self.wish = wish

    @cached_property
    def found(self) -> list[ApprovalGroup]:
        """The groups, by name."""
        return list(ApprovalGroup.objects.order_by("name")[:SHOWN])

    @cached_property
    def rows(self) -> list[tuple[ApprovalGroup, list[Member], list[Policy]]]:
        """Each with who is in it and which policies name it."""
        members = self.members([each.pk for each in self.found])
        return [
            (each, members.get(each.pk, []), self.policies.get(each.name, []))
            for each in self.found
        ]

    @cached_property
    def lost(self) -> list[tuple[str, list[Policy]]]:
        """The groups that policies name and that are not there: nobody can approve."""
        known = set(ApprovalGroup.objects.values_list("name", flat=True))
        return sorted((name, asked) for name, asked in self.policies.items() if name not in known)


class GroupPage(Grouped):
    """One group."""

    rights = page()
    template = "people/group.html"
    parts = {"group": part("people/_group.html", *ABOUT)}

    def __init__(self, look: PageRequest, key: int, wish: PeopleFormState = NOTHING) -> None:
        super().__init__(look)
        self.key, self.wish = key, wish

    @cached_property
    def group(self) -> ApprovalGroup:
        """Which one it is."""
        rows = ApprovalGroup.objects.filter(pk=self.key)
        found = rows.first() if self.key < 2**63 else None
        if found is None:
            raise Http404("There is no such group.")
        return found

    @cached_property
    def inside(self) -> list[Member]:
        """Who is in it."""
        return self.members([self.group.pk]).get(self.group.pk, [])

    @cached_property
    def naming(self) -> list[Policy]:
        """The policies that name it."""
        return self.policies.get(self.group.name, [])

    @property
    def name(self) -> str:
        """Its name, as it was typed or as it is."""
        return self.wish.typed.get("name", self.group.name)

    @property
    def description(self) -> str:
        """What it is for, as it was typed or as it is."""
        return self.wish.typed.get("description", self.group.description)

    @cached_property
    def others(self) -> list[User]:
        """Who may be put into it; nobody puts themselves in."""
        inside = [each.person.pk for each in self.inside]
        active = User.objects.filter(is_active=True).exclude(pk__in=[*inside, self.viewer.pk])
        return list(active.order_by("first_name", "last_name", "username")[:SHOWN])


@rights(page(None, at("organisation", *ADMINISTER)))
@require_POST
def add(request: HttpRequest) -> HttpResponse:
    """Make a group, and lead to it."""
    look, typed = PageRequest.of(request), request.POST.dict()
    name, description = typed.get("name", "").strip(), typed.get("description", "")
    try:
        made = roles.add_group(name, description, by=look.viewer, now=look.now)
    except Problem as problem:
        return Groups(look, PeopleFormState(typed, problem.message)).respond(problem.status)
    messages.success(request, f"{made.name} is there. Put somebody into it.")
    return HttpResponseRedirect(reverse("group", args=[made.pk]), status=303)


@rights(page(None, at("organisation", *ADMINISTER)))
@require_POST
def change(request: HttpRequest, key: int) -> HttpResponse:
    """Call it something else, or say otherwise what it is for."""
    typed = request.POST.dict()

    def deed(page: GroupPage) -> str:
        name, description = typed.get("name", "").strip(), typed.get("description", "")
        roles.change_group(
            page.group, by=page.viewer, now=page.now, name=name, description=description
        )
        return "Saved."

    return done(request, key, typed, deed)


@rights(page(None, at("organisation", *ADMINISTER)))
@require_POST
def member(request: HttpRequest, key: int) -> HttpResponse:
    """Put somebody in, or take them out."""
    typed = request.POST.dict()

    def deed(page: GroupPage) -> str:
        person = person_in(typed)
        if typed.get("do") == "remove":
            roles.remove_member(page.group, person, by=page.viewer, now=page.now)
            return f"{called(person)} is not in {page.group.name} any more."
        roles.add_member(page.group, person, by=page.viewer, now=page.now)
        return f"{called(person)} is in {page.group.name}."

    return done(request, key, typed, deed)


@rights(page(None, at("organisation", *ADMINISTER)))
@require_POST
def delete(request: HttpRequest, key: int) -> HttpResponse:
    """Delete a group that no policy names."""

    def deed(page: GroupPage) -> str:
        roles.delete_group(page.group, by=page.viewer, now=page.now)
        return f"{page.group.name} is deleted."

    return done(request, key, {}, deed, reverse("groups"))


def person_in(typed: Mapping[str, str]) -> User:
    """Return whom somebody chose."""
    text = typed.get("person", "")
    key = int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
    found = User.objects.filter(pk=key).first()
    if found is None:
        raise invalid("Choose a person.")
    return found


def done(
    request: HttpRequest,
    key: int,
    typed: Mapping[str, str],
    deed: Callable[[GroupPage], str],
    then: str = "",
) -> HttpResponse:
    """Do something about a group and say so; a refusal keeps what was typed."""
    page = GroupPage(PageRequest.of(request), key)
    try:
        said = deed(page)
    except Problem as problem:
        return GroupPage(page.look, key, PeopleFormState(typed, problem.message)).respond(
            problem.status
        )
    messages.success(request, said)
    return HttpResponseRedirect(then or reverse("group", args=[key]), status=303)
