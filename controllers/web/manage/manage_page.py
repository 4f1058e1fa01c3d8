"""Managing: where tokens, channels, machines and policies are, and what their pages share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from controllers.models import Endpoint
from controllers.notifications import delivery
from controllers.signin import reauthentication
from controllers.web.base.form import FormPage
from controllers.web.base.page import COUNTED, Page, PageRequest, part
from resources.tables.models import AgentToken
from resources.tables.visibility import Scope
from resources.usecases.access_rules import ADMINISTER, OVERSEE, at, page


class Tab(NamedTuple):
    """One of the pages, and what it is about."""

    name: str
    title: str
    icon: str
    meaning: str

    @property
    def url(self) -> str:
        """Where it is."""
        return reverse(self.name)


TABS = (
    Tab("tokens", "Tokens", "key-round", "What agents and outside controllers sign in with."),
    Tab("channels", "Channels", "megaphone", "Where messages to people go."),
    Tab("machines", "Machines", "plug", "Who is called to carry operations out."),
    Tab("policies", "Policies", "scale", "How decisions are made now."),
)


class Managing(Page):
    """A page for those who look after the product; others are not let in."""

    section = "manage"
    tab: ClassVar[str] = ""
    # The roles that read it, anywhere or for the whole organisation; without any, every member.
    readers: ClassVar[tuple[str, ...]] = OVERSEE
    for_all: ClassVar[bool] = False

    @property
    def scope(self) -> Scope:
        """What the one who looks holds."""
        return self.look.scope or Scope()

    @property
    def administers(self) -> bool:
        """Whether the one who looks administers the whole organisation."""
        return self.scope.holds(ADMINISTER, "")

    @property
    def may_add(self) -> bool:
        """Whether the one who looks may add something, wherever that is."""
        return self.scope.holds_somewhere(ADMINISTER)

    @property
    def tabs(self) -> list[tuple[Tab, bool]]:
        """The pages that the one who looks may read, and which of them this is."""
        seen = {"policies"}
        seen |= {"tokens", "machines"} if self.scope.holds_somewhere(OVERSEE) else set()
        seen |= {"channels"} if self.scope.holds(OVERSEE, "") else set()
        return [(each, each.name == self.tab) for each in TABS if each.name in seen]

    def check(self) -> None:
        """Refuse who may not read this."""
        held = self.scope
        for_all = self.for_all and not held.holds(self.readers, "")
        if self.readers and (for_all or not held.holds_somewhere(self.readers)):
            raise PermissionDenied("Only administrators and auditors look after this.")

    def respond(self, status: int = 200) -> HttpResponse:
        """Answer those who may read it."""
        self.check()
        return super().respond(status)


class Manage(Managing):
    """The way to everything that is managed, with how it stands."""

    rights = page(at("anywhere", *OVERSEE))
    template = "manage/page.html"
    parts = {
        "manage": part(
            "manage/_places.html", "token.issued", "token.revoked", "channel", "endpoint", *COUNTED
        )
    }

    @property
    def standings(self) -> list[tuple[Tab, str]]:
        """Each page with a sentence about what is there."""
        said = {"tokens": self.tokens, "channels": self.channels, "machines": self.machines}
        return [(tab, said[tab.name]() if tab.name in said else "") for tab, _ in self.tabs]

    def tokens(self) -> str:
        """How many tokens work."""
        rows = AgentToken.objects.filter(revoked_at=None, agent__deleted_at=None)
        count = rows.filter(expires_at__gt=self.now).count()
        return "1 works" if count == 1 else f"{count:,} work"

    def channels(self) -> str:
        """How many names lead somewhere."""
        rows = delivery.named(self.now)
        connected = sum(each.channel is not None for each in rows)
        failing = sum(each.failing for each in rows)
        return f"{connected} of {len(rows)} connected" + (
            f", {failing} failing" if failing else ""
        )

    def machines(self) -> str:
        """How many machines are on."""
        count = Endpoint.objects.filter(enabled=True).count()
        return "1 is on" if count == 1 else f"{count:,} are on"


class ManageFormPage(FormPage, Managing):
    """A form of those who administer; what is grave asks them to confirm that it is them."""

    readers = ADMINISTER
    # What is not kept while somebody confirms: it is typed again.
    secret: ClassVar[tuple[str, ...]] = ()

    def show(self, status: int = 200) -> HttpResponse:
        """Show the form to those who may use it."""
        self.check()
        return super().show(status)

    @cached_property
    def kept(self) -> Mapping[str, str]:
        """What was typed before somebody had to confirm."""
        request = self.look.request
        return reauthentication.typed_before(request, self.now) if request is not None else {}

    def typed(self, name: str) -> str:
        """Return what was typed, now or before somebody had to confirm."""
        request = self.look.request
        said = request is not None and request.method == "POST"
        return super().typed(name) or ("" if said else self.kept.get(name, ""))

    def suggested(self) -> dict[str, Any]:
        """Suggest what was typed before somebody had to confirm, too."""
        return {**self.initial_of(self.kept), **super().suggested()}

    def confirmed(self, request: HttpRequest) -> HttpResponse | None:
        """Send who signed in a while ago to confirm that it is them; nothing lets them go on."""
        if not reauthentication.is_stale(request, self.viewer, self.now):
            return None
        given = {name: ",".join(values) for name, values in request.POST.lists()}
        kept = {name: value for name, value in given.items() if name not in self.secret}
        return reauthentication.ask(request, request.get_full_path(), kept, self.now)


class Question(NamedTuple):
    """What is asked before something is done: what happens, and the button that does it."""

    title: str
    words: str
    button: str
    # Where somebody goes who leaves it, or has done it.
    back: str
    icon: str = "check"
    tone: str = "danger"


class Confirm(ManageFormPage):
    """One question on a page of its own, or in a dialog."""

    template = "manage/confirm.html"
    fragment = "manage/_confirm.html"
    # Whether the answer fits a dialog; a secret is shown on a page of its own.
    in_place = True

    @property
    def question(self) -> Question:
        """What is asked."""
        raise NotImplementedError

    @property
    def fields(self) -> Mapping[str, str]:
        """What the button sends besides."""
        return {}


class Secret(Managing):
    """A secret that is shown once, on the answer to the form that made it."""

    template = "manage/secret.html"
    readers = ADMINISTER

    def __init__(self, look: PageRequest, tab: str, title: str, text: str, words: str) -> None:
        super().__init__(look)
        self.here = next(each for each in TABS if each.name == tab)
        self.title, self.text, self.words = title, text, words


def with_query(name: str, **chosen: str) -> str:
    """Return the address of a page with some choices made."""
    said = urlencode({key: value for key, value in chosen.items() if value})
    return reverse(name) + (f"?{said}" if said else "")
