"""Open pages without a browser: told by the hub as a browser is, and held against fresh ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import orjson
from django.test import Client
from django.utils import timezone

from controllers.web.live import broadcast, topics
from controllers.web.live.subscription import Seat

VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
# What the client of the live pages never touches; the same as in `static/live.js`.
KEPT_TAGS = frozenset(("form", "input", "select", "textarea", "dialog"))
# What scripts write anew by themselves, every second.
TICKING = ("data-age", "data-left", "data-clock")
NUMBER = re.compile(r' data-number="(\d*)"')
TOKEN = re.compile(r'<input type="hidden" name="csrfmiddlewaretoken" value="\w+">')
OPENING = re.compile(r"<([a-z][a-z0-9-]*)[^<>]*>")
NAMED = re.compile(r'\sid="([^"]*)"')


@dataclass
class Node:
    """An element: its name, its attributes, what is in it."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list[Node | str] = field(default_factory=list)

    @property
    def kept(self) -> bool:
        """Whether a page keeps it as it is, whatever it is told."""
        classes = self.attributes.get("class", "").split()
        return self.tag in KEPT_TAGS or "decide" in classes or "data-keep" in self.attributes

    @property
    def elements(self) -> list[Node]:
        """What is in it, without the words."""
        return [each for each in self.inside if isinstance(each, Node)]

    def walk(self) -> Iterator[Node]:
        """Yield it and everything in it."""
        yield self
        for each in self.elements:
            yield from each.walk()

    def find(self, name: str) -> Node | None:
        """Return what has an id."""
        return next((each for each in self.walk() if each.attributes.get("id") == name), None)


class Reader(HTMLParser):
    """Reads HTML into nodes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.root = Node("")
        self.path = [self.root]
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Go into an element."""
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.path[-1].inside.append(node)
        if tag not in VOID:
            self.path.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element with nothing in it."""
        self.path[-1].inside.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Leave an element; what was left open in it ends too."""
        names = [each.tag for each in self.path]
        if tag in names:
            del self.path[len(names) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        """Note words."""
        if data.strip():
            self.path[-1].inside.append(" ".join(data.split()))


def read(html: str) -> Node:
    """Read HTML."""
    return Reader(html).root


def lines(node: Node, parts: frozenset[str], depth: int = 0) -> Iterator[str]:
    """Yield a page as lines to compare, without what is not the server's to say any more."""
    shown = node.attributes
    if node.kept:
        yield f"{' ' * depth}<{node.tag} kept>"
        inside: list[Node | str] = list(nested(node, parts))
    else:
        said = "".join(f' {key}="{value}"' for key, value in sorted(shown.items()))
        yield f"{' ' * depth}<{node.tag}{said}>"
        ticks = any(name in shown for name in TICKING)
        inside = [] if ticks else node.inside
    for each in inside:
        if isinstance(each, Node):
            yield from lines(each, parts, depth + 1)
        else:
            yield f"{' ' * (depth + 1)}{each}"


def nested(node: Node, parts: frozenset[str]) -> Iterator[Node]:
    """Yield the parts inside something that is kept: they are shown anew all the same."""
    for each in node.elements:
        if each.attributes.get("id") in parts:
            yield each
        else:
            yield from nested(each, parts)


class Tab:
    """A page that somebody has open."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        response = client.get(address, follow=True)
        chain = getattr(response, "redirect_chain", [])
        self.address = chain[-1][0] if chain else address
        self.status = response.status_code
        html = response.content.decode()
        number = NUMBER.search(html)
        self.seat = Seat(self.address, int(number[1]) if number else None)
        self.html = plain(html)
        self.told: list[str] = []
        self.gone = False

    def hear(self, text: str) -> None:
        """Do what the client does with a message: take what is pushed, fetch what is named."""
        message: dict[str, Any] = orjson.loads(text)
        self.told = [message["html"]]
        if message["fetch"]:
            asked = {"Live-Parts": ",".join(message["fetch"])}
            response = self.client.get(self.address, headers=asked)
            assert response.status_code < 500, f"{self.address}: {message['fetch']}"
            self.gone = response.status_code != 200
            self.told += [] if self.gone else [response.content.decode()]

    def tree(self) -> Node:
        """Return the page as it shows itself, with every part that was told in its place."""
        tree = read(self.html)
        for fresh in (each for html in self.told for each in read(plain(html)).elements):
            old = tree.find(fresh.attributes.get("id", ""))
            if old is not None and not old.kept:
                old.tag, old.attributes, old.inside = fresh.tag, fresh.attributes, fresh.inside
        return tree

    def text(self) -> str | None:
        """Return the same as text, unless it takes a tree to tell what a page keeps."""
        html: str | None = self.html
        for outer in (each for told in self.told for each in elements(plain(told))):
            html = html and replaced(html, outer)
        return html

    def differences(self, fresh: Tab) -> list[str]:
        """Return where the page differs from one that was loaded just now."""
        if self.gone or fresh.status != 200 or self.status != 200:
            return []
        if fresh.address != self.address:
            # Who looks at an empty queue is not taken to what arrives: they choose.
            moved = self.address != "/approvals"
            return [f"{self.address} has become {fresh.address}"] if moved else []
        if self.text() == fresh.html:
            return []
        parts = frozenset(parts_of(self.address))
        old, new = list(lines(self.tree(), parts)), list(lines(fresh.tree(), parts))
        found = list(difflib.unified_diff(old, new, "open", "fresh", lineterm="", n=2))
        return [f"{self.address} differs", *found] if found else []


def plain(html: str) -> str:
    """Return a page without what is new in every answer."""
    return NUMBER.sub("", TOKEN.sub("", html))


def elements(html: str) -> Iterator[str]:
    """Yield the text of each element that is in no other."""
    start = OPENING.search(html)
    while start is not None:
        end = end_of(html, start)
        yield html[start.start() : end]
        start = OPENING.search(html, end)


def end_of(html: str, start: re.Match[str]) -> int:
    """Return where an element ends; one that is never closed has no other in it."""
    depth = 0
    for each in re.finditer(rf"<(/?){start[1]}(?=[\s>])[^<>]*>", html[start.start() :]):
        depth += -1 if each[1] else 1
        if depth == 0:
            return start.start() + each.end()
    return start.end()


def replaced(html: str, outer: str) -> str | None:
    """Return a page with an element in place of the one of its name, or nothing if it is kept."""
    opening = OPENING.match(outer)
    name = NAMED.search(opening[0]) if opening else None
    place = re.search(rf'<[a-z][^<>]*\sid="{re.escape(name[1])}"', html) if name else None
    start = OPENING.match(html, place.start()) if place else None
    if start is None:
        return html
    if start[1] in KEPT_TAGS or "decide" in start[0] or "data-keep" in start[0]:
        return None
    return html[: start.start()] + outer + html[end_of(html, start) :]


def parts_of(address: str) -> Iterable[str]:
    """Return the names of the parts of a page."""
    nothing = topics.news([], 0, 0)
    return broadcast.Press(nothing, timezone.now()).page(address).pieces()


def said(html: str, fetch: Iterable[str]) -> str:
    """Return a message as the hub writes it."""
    return orjson.dumps({"number": 0, "html": html, "fetch": list(fetch)}).decode()


def tell(tabs: Iterable[Tab]) -> None:
    """Tell all that is new, in one round, as the hub does."""
    seats = {tab.seat for tab in tabs}
    edition = broadcast.publish(seats, 0, timezone.now())
    for tab in tabs:
        text = edition.messages.get(tab.seat)
        if text is not None:
            tab.hear(text)
