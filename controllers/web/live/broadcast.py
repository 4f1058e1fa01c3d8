"""One round of news for all open pages: what is shared is rendered once, the rest is named."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

import orjson
from django.db import connections
from django.db.models.fields.json import KT
from django.http import Http404, QueryDict
from django.urls import Resolver404, resolve
from django.utils import timezone

from controllers.web.base.page import AROUND, Page, PageRequest, Part
from controllers.web.live import topics
from controllers.web.live.subscription import Seat
from controllers.web.live.topics import Entry, News
from resources.tables import versions, visibility
from resources.tables.models import LedgerEvent
from resources.tables.visibility import Scope

logger = logging.getLogger("ioa.live")

# Who missed more than this is shown everything anew.
MOST_ENTRIES = 500


class Edition(NamedTuple):
    """What a round found: how far it went, whether people changed, and what each page is told."""

    upto: int
    people: bool
    messages: Mapping[Seat, str]


class Missed(NamedTuple):
    """What a page has to fetch to show everything up to a number."""

    number: int
    fetch: list[str]


def publish(seats: Collection[Seat], known: int, now: datetime | None = None) -> Edition:
    """Find what is new to open pages and write it down; runs in a thread of its own."""
    try:
        news = read([each.number for each in seats], known)
        stale = [each for each in seats if each.number != news.upto]
        messages: dict[Seat, str] = {}
        for scope in {each.scope for each in stale}:
            near = [each for each in stale if each.scope == scope]
            messages |= printed(Press(news, now or timezone.now()), near, scope)
        return Edition(news.upto, news.concerns({topics.PERSON}, known), messages)
    finally:
        connections.close_all()


def printed(press: Press, seats: Collection[Seat], scope: Scope | None) -> dict[Seat, str]:
    """Write the messages to pages of people who see the same; what is shared is shared by them."""
    with visibility.within(scope):
        told = {each: press.message(each) for each in seats}
    return {each: text for each, text in told.items() if text}


def missed(seat: Seat, now: datetime) -> Missed:
    """Say what a page missed since its number."""
    news = read([seat.number], 0)
    if seat.number is None:
        return Missed(news.upto, [])
    return Missed(news.upto, Press(news, now).concerned(seat))


def read(numbers: Collection[int | None], known: int) -> News:
    """Read what was written after the smallest number, as far as nothing can be missing.

    `known` is how far everything was already read: a horizon may seem to step back, but what was
    complete once stays so.
    """
    upto = max(known, versions.horizon())
    since = min((each for each in numbers if each is not None), default=upto)
    # Everybody's news: only which parts are old is told from it, and nothing of what happened.
    with visibility.everything():
        entries_of_all = LedgerEvent.objects.all()
    rows = entries_of_all.filter(id__gt=since, id__lte=upto).order_by("-id")
    found = rows.values_list("id", "stream", "event", "subject", KT("payload__resource"))
    entries = [Entry(*row) for row in found[: MOST_ENTRIES + 1]] if since < upto else []
    if len(entries) > MOST_ENTRIES:
        since = entries.pop().number
    return topics.news(entries, since, upto)


class Press:
    """Writes the messages of one round; each page is made once, each shared part rendered once."""

    def __init__(self, news: News, now: datetime) -> None:
        self.news, self.now = news, now
        self.around = Page(PageRequest("/", QueryDict(), now))
        self.pages: dict[str, Page] = {}
        self.rendered: dict[tuple[str, str], str | None] = {}

    def message(self, seat: Seat) -> str | None:
        """Return what an open page is told, if anything concerns it."""
        pieces = self.page(seat.address).pieces()
        html, fetch = [], []
        for name in self.concerned(seat):
            text = self.render(seat.address, name, pieces[name])
            if text is None:
                fetch.append(name)
            else:
                html.append(text)
        if not html and not fetch:
            return None
        said = {"number": self.news.upto, "html": "\n".join(html), "fetch": fetch}
        return orjson.dumps(said).decode()

    def concerned(self, seat: Seat) -> list[str]:
        """Return the parts of a page about which something is new."""
        number = self.news.upto if seat.number is None else seat.number
        pieces = self.page(seat.address).pieces()
        return [each for each in pieces if self.news.concerns(pieces[each].topics, number)]

    def page(self, address: str) -> Page:
        """Return the page at an address; one that has no parts of its own has those around it."""
        if address not in self.pages:
            self.pages[address] = self.made(address) or self.around
        return self.pages[address]

    def made(self, address: str) -> Page | None:
        """Make a page as nobody in particular sees it; one that cannot be made stops no other."""
        path, _, query = address.partition("?")
        try:
            match = resolve(path)
            kind: type[Page] | None = getattr(match.func, "page", None)
            if kind is None:
                return None
            page = kind(PageRequest(path, QueryDict(query), self.now), **match.kwargs)
            page.pieces()
        except (Http404, Resolver404):
            return None
        except Exception:
            logger.exception("The page %s could not be made.", path)
            return None
        return page

    def render(self, address: str, name: str, part: Part) -> str | None:
        """Render a part if it is shared; one that cannot be rendered is fetched by each."""
        if not part.shared:
            return None
        # What stands around is the same on all pages.
        everywhere = AROUND.get(name) is part
        key = ("" if everywhere else address, name)
        if key not in self.rendered:
            page = self.around if everywhere else self.page(address)
            self.rendered[key] = rendered(page, name)
        return self.rendered[key]


def rendered(page: Page, name: str) -> str | None:
    """Render a part, or say in the log why not."""
    try:
        return page.render_part(name)
    except Http404:
        return None
    except Exception:
        logger.exception("The part %s of %s could not be rendered.", name, page.look.path)
        return None
