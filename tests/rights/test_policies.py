"""Every address says who may use it, and answers everybody as it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.views import APIView

from ioa_site import policies

VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")
MERGE = "application/merge-patch+json"


class Route(NamedTuple):
    """An address as it is written, and what answers there."""

    name: str
    written: str
    view: Any


def routes(found: Any = None, prefix: str = "", spaces: tuple[str, ...] = ()) -> Iterator[Route]:
    """Yield every address there is."""
    for each in get_resolver().url_patterns if found is None else found:
        written = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            inner = (*spaces, each.namespace) if each.namespace else spaces
            yield from routes(each.url_patterns, written, inner)
        elif isinstance(each, URLPattern):
            space = "".join(f"{one}:" for one in spaces)
            named = f"{space}{each.name}" if each.name else (space or written)
            yield Route(named, written, each.callback)


def verbs_of(route: Route) -> set[str]:
    """Return the verbs that an endpoint of the API knows."""
    kind = getattr(route.view, "cls", getattr(route.view, "view_class", None))
    if kind is None or not issubclass(kind, APIView):
        return set()
    return {verb for verb in VERBS if hasattr(kind, verb.lower())}


def test_every_route_declares_who_may_use_it() -> None:
    known = policies.declared()

    undeclared = [f"{each.name} {each.written}" for each in routes() if each.name not in known]

    assert undeclared == []


def test_every_verb_of_the_api_declares_who_may_use_it() -> None:
    known = policies.declared()

    missing = [
        f"{verb} {each.name}"
        for each in routes()
        for verb in verbs_of(each)
        if verb not in known[each.name]
    ]

    assert missing == []


def test_nothing_is_declared_that_is_not_there() -> None:
    there = {each.name for each in routes()}

    assert sorted(set(policies.declared()) - there) == []


@pytest.mark.django_db
def test_an_address_that_nobody_declared_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    without = {name: rules for name, rules in policies.declared().items() if name != "healthz"}
    assert Client().get("/healthz").status_code == 200

    monkeypatch.setattr(policies, "declared", lambda: without)

    assert Client().get("/healthz").status_code == 404
