"""Channels: the names that documents use, what stands behind them, and whether it arrives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from controllers.models import Delivery
from controllers.notifications import delivery
from controllers.signin import reauthentication
from controllers.web.base.form import WebForm
from controllers.web.base.page import COUNTED, RUNG, PageRequest, part
from controllers.web.manage.manage_forms import ChannelForm
from controllers.web.manage.manage_page import Confirm, ManageFormPage, Managing, Question
from resources.documents.problems import Problem
from resources.usecases.access_rules import ADMINISTER, OVERSEE, at, page, rights

LATELY = 10


class Channels(Managing):
    """Every channel, and the last messages that did not get out."""

    rights = page(at("organisation", *OVERSEE))
    template = "manage/channels.html"
    tab = "channels"
    for_all = True
    parts = {
        "channels": part(
            "manage/_channels.html", "channel", "resource.spec-changed", *RUNG, *COUNTED
        )
    }

    @cached_property
    def rows(self) -> list[delivery.Named]:
        """The channels, by name."""
        return delivery.named(self.now)

    @property
    def connected(self) -> int:
        """How many lead somewhere."""
        return sum(each.channel is not None for each in self.rows)

    @property
    def failing(self) -> int:
        """How many fail."""
        return sum(each.failing for each in self.rows)

    @cached_property
    def lost(self) -> list[Delivery]:
        """The last messages that were given up."""
        rows = Delivery.objects.filter(state=Delivery.State.GIVEN_UP)
        return list(rows.order_by("-created_at", "-pk")[:LATELY])


class Connecting(ManageFormPage):
    """The service behind a name; its address is typed, and never shown."""

    template = fragment = "manage/channel_new.html"
    tab = "channels"
    for_all = True
    form_class = ChannelForm
    faulty = "address"
    secret = ("address",)

    def prepare(self, form: WebForm) -> None:
        """Suggest the names that documents use."""
        form.suggest("name", lambda: self.names)

    @property
    def name(self) -> str:
        """Which channel."""
        return self.form.text("name").strip()

    @cached_property
    def names(self) -> list[str]:
        """The names that documents use."""
        return [each.name for each in delivery.named(self.now)]


@rights(page(at("organisation", *ADMINISTER), at("organisation", *ADMINISTER)))
@sensitive_post_parameters("address")
@sensitive_variables("address")
@require_http_methods(["GET", "HEAD", "POST"])
def put(request: HttpRequest) -> HttpResponse:
    """Ask for the address of a service, or put it behind a name."""
    form = Connecting(PageRequest.of(request))
    form.check()
    # Asked before the form is shown, so that nobody types an address twice.
    if (elsewhere := form.confirmed(request)) is not None:
        return elsewhere
    if request.method != "POST":
        return form.show()
    address = form.form.text("address")
    try:
        channel = delivery.map_channel(form.name, address, person=form.viewer, now=form.now)
    except Problem as problem:
        return form.refuse(problem)
    reauthentication.forget(request)
    messages.success(request, f"{channel.name} leads to {channel.hint} now. Send a test.")
    return form.leave_for(reverse("channels"))


class Unmap(Confirm):
    """Take the service behind a name away."""

    tab = "channels"
    for_all = True

    @property
    def name(self) -> str:
        """Which channel."""
        return self.typed("name")

    @property
    def fields(self) -> Mapping[str, str]:
        """Name the channel."""
        return {"name": self.name}

    @property
    def question(self) -> Question:
        """Say what happens."""
        return Question(
            f"Disconnect {self.name[:80]}?",
            "Its address is forgotten. What is told on it stays in the inbox from now on.",
            "Disconnect it",
            reverse("channels"),
            "plug",
        )


@rights(page(at("organisation", *ADMINISTER), at("organisation", *ADMINISTER)))
@require_http_methods(["GET", "HEAD", "POST"])
def unmap(request: HttpRequest) -> HttpResponse:
    """Ask, then take the service behind a name away."""
    form = Unmap(PageRequest.of(request))
    form.check()
    if request.method != "POST":
        return form.show()
    try:
        delivery.unmap_channel(form.name.replace("\x00", ""), person=form.viewer, now=form.now)
    except Problem as problem:
        return form.refuse(problem)
    messages.success(request, f"{form.name} is disconnected.")
    return form.leave_for(reverse("channels"))


@rights(page(None, at("organisation", *ADMINISTER)))
@require_POST
def test(request: HttpRequest) -> HttpResponse:
    """Send a message that says it is a test, and say what became of it."""
    look, name = PageRequest.of(request), request.POST.get("name", "").replace("\x00", "")
    told = delivery.test_channel(name, person=look.viewer, now=look.now)
    say(request, name, delivery.send_one(told.pk, look.now))
    return HttpResponseRedirect(reverse("channels"), status=303)


def say(request: HttpRequest, name: str, told: Delivery) -> None:
    """Say what became of a test."""
    if told.state == Delivery.State.SENT:
        messages.success(request, f"The test arrived at {name}.")
    elif told.error:
        messages.error(request, f"The test did not arrive at {name}: {told.error}")
    else:
        messages.success(request, f"The test is on its way to {name}.")
