"""Machines: who is called to carry operations out, with which secret, and what went wrong."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlsplit

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from controllers import operations
from controllers.models import Endpoint, Step
from controllers.operations import endpoints
from controllers.signin import reauthentication
from controllers.web.base.form import WebForm
from controllers.web.base.page import PageRequest, part
from controllers.web.manage.manage_forms import MachineForm
from controllers.web.manage.manage_page import (
    Confirm,
    ManageFormPage,
    Managing,
    Question,
    Secret,
)
from resources.documents.problems import Problem
from resources.tables.models import Resource
from resources.usecases.access_rules import ADMINISTER, OVERSEE, at, page, rights

OFFERED = 500
# As many of the last failures as a row shows.
NAMED = 3
WORDS = (
    "Calls are signed with it, as Standard Webhooks asks. The former one goes on signing beside"
    " it until the next is made."
)


class MachineRow(NamedTuple):
    """A machine as people read it."""

    row: Endpoint
    address: str
    failures: list[Step]
    more: int
    # Whether the one who looks may change it.
    mine: bool


def shown(url: str) -> str:
    """Return what is shown of an address: nothing that could be a secret."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


class Machines(Managing):
    """The machines that the one who looks may see."""

    rights = page(at("anywhere", *OVERSEE))
    template = "manage/machines.html"
    tab = "machines"
    parts = {"machines": part("manage/_machines.html", "endpoint", "proposal", "person")}

    @cached_property
    def rows(self) -> list[MachineRow]:
        """The machines, by name."""
        lately = endpoints.failures(self.now)
        return [
            self.told(each, lately.get(each.name, []))
            for each in Endpoint.objects.order_by("name")
        ]

    def told(self, row: Endpoint, failures: list[Step]) -> MachineRow:
        """Write one machine for the one who looks."""
        mine = self.scope.holds(ADMINISTER, row.domain)
        more = max(0, len(failures) - NAMED)
        return MachineRow(row, shown(row.url), failures[:NAMED], more, mine)

    @property
    def on(self) -> int:
        """How many are on."""
        return sum(each.row.enabled for each in self.rows)

    @property
    def troubled(self) -> int:
        """How many did not do something lately."""
        return sum(bool(each.failures) for each in self.rows)


class NewMachine(ManageFormPage):
    """What is asked for about a machine."""

    template = fragment = "manage/machine_new.html"
    tab = "machines"
    form_class = MachineForm

    def prepare(self, form: WebForm) -> None:
        """Offer the places and the operations there are."""
        form.offer("domain", self.places)
        form.offer("operations", self.operations)

    def places(self) -> list[tuple[str, str]]:
        """Return where the one who looks may enter one: the name of each place, its words."""
        names = sorted(domain for role, domain in self.scope.held if role in ADMINISTER)
        if self.administers:
            rows = Resource.objects.filter(kind="Domain", deleted_at=None).order_by("name")
            names = ["", *rows.values_list("name", flat=True)[:OFFERED]]
        return [(each, each or "Whole organisation") for each in names]

    def operations(self) -> list[tuple[str, str]]:
        """Return what it can take: each operation of the catalogue that changes something."""
        names = sorted(each.name for each in operations.ALL if not each.tells)
        return [(each, each) for each in names]

    @property
    def values(self) -> dict[str, str]:
        """What was typed into the fields."""
        return {name: self.form.text(name).strip() for name in ("name", "url", "domain")}


@rights(page(at("anywhere", *ADMINISTER), at("there", *ADMINISTER)))
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables("secret")
def register(request: HttpRequest) -> HttpResponse:
    """Ask for a machine, then show its secret once."""
    form = NewMachine(PageRequest.of(request))
    if request.method != "POST":
        return form.show()
    form.check()
    if (elsewhere := form.confirmed(request)) is not None:
        return elsewhere
    given = form.values
    try:
        row, secret = endpoints.register(
            given["name"],
            given["url"],
            form.form.chosen("operations"),
            given["domain"],
            person=form.viewer,
            now=form.now,
        )
    except Problem as problem:
        return form.refuse(problem)
    reauthentication.forget(request)
    return Secret(form.look, "machines", f"The secret of {row.name}", secret, WORDS).respond()


class Rotate(Confirm):
    """Another secret for a machine."""

    tab = "machines"
    in_place = False

    def __init__(self, look: PageRequest, name: str) -> None:
        super().__init__(look)
        self.row = found(look, name)

    def check(self) -> None:
        """Let those in who look after it."""
        if not self.scope.holds(ADMINISTER, self.row.domain):
            raise PermissionDenied("Only administrators look after machines.")

    @property
    def question(self) -> Question:
        """Say what happens."""
        return Question(
            f"Make a new secret for {self.row.name}?",
            "You see it once. Both secrets sign its calls, so that it can change over in peace;"
            " made once more, the one it has now is gone.",
            "Make a new secret",
            reverse("machines"),
            "key-round",
            "primary",
        )


def found(look: PageRequest, name: str) -> Endpoint:
    """Return a machine that somebody sees."""
    with look.eyes():
        row = Endpoint.objects.filter(name=name.replace("\x00", "")).first()
    if row is None:
        raise Http404("There is no such machine.")
    return row


@rights(page(at("there", *ADMINISTER), at("there", *ADMINISTER)))
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables("secret")
def rotate(request: HttpRequest, name: str) -> HttpResponse:
    """Ask, then show another secret once."""
    form = Rotate(PageRequest.of(request), name)
    form.check()
    if request.method != "POST":
        return form.show()
    if (elsewhere := form.confirmed(request)) is not None:
        return elsewhere
    try:
        secret = endpoints.rotate(form.row.name, person=form.viewer, now=form.now)
    except Problem as problem:
        return form.refuse(problem)
    reauthentication.forget(request)
    title = f"The new secret of {form.row.name}"
    return Secret(form.look, "machines", title, secret, WORDS).respond()


@rights(page(None, at("there", *ADMINISTER)))
@require_POST
def switch(request: HttpRequest, name: str) -> HttpResponse:
    """Switch a machine on or off."""
    look = PageRequest.of(request)
    row, enabled = found(look, name), request.POST.get("do") == "on"
    endpoints.switch(row.name, enabled, person=look.viewer, now=look.now)
    word = "on" if enabled else "off. What it would take is done otherwise"
    messages.success(request, f"{row.name} is {word}.")
    return HttpResponseRedirect(reverse("machines"), status=303)
