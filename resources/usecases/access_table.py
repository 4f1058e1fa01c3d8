"""The table of all rights: every address there is, with what its view says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from django.core import checks
from django.urls import ResolverMatch, URLPattern, URLResolver, get_resolver

from resources.usecases.access_rules import Rule, Rules, rules_of

Pattern = URLPattern | URLResolver


class Address(NamedTuple):
    """An address as it is written, what it is called, and what answers there."""

    name: str
    route: str
    view: Callable[..., Any]

    @property
    def rules(self) -> Rules | None:
        """What its view says; None when it says nothing."""
        return rules_of(self.view)


class Right(NamedTuple):
    """Who may use an address with a verb."""

    address: Address
    method: str
    rule: Rule


def addresses() -> Iterator[Address]:
    """Yield every address there is."""
    return inside(get_resolver().url_patterns, "", ())


def inside(patterns: Iterable[Pattern], prefix: str, spaces: tuple[str, ...]) -> Iterator[Address]:
    """Yield the addresses under a prefix."""
    for each in patterns:
        route = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            inner = (*spaces, each.namespace) if each.namespace else spaces
            yield from inside(each.url_patterns, route, inner)
        else:
            yield Address(called(each.name, spaces, route), route, each.callback)


def called(name: str | None, spaces: Iterable[str], route: str) -> str:
    """Return what an address is called; one without a name is called as it is written."""
    space = "".join(f"{each}:" for each in spaces)
    return f"{space}{name}" if name else space or route


def name_of(match: ResolverMatch) -> str:
    """Return what the address that a request found is called."""
    return called(match.url_name, match.namespaces, match.route)


def rights_table() -> Iterator[Right]:
    """Yield every address and verb with its rule."""
    for each in addresses():
        for method, rule in (each.rules or {}).items():
            yield Right(each, method, rule)


def rules_by_name() -> dict[str, Rules]:
    """Return the rules of every address that has some, by what it is called."""
    return {each.name: each.rules for each in addresses() if each.rules is not None}


def check_addresses(**given: Any) -> list[checks.CheckMessage]:
    """Name the addresses whose views say nothing: they answer 404 to everybody."""
    return [
        checks.Error(
            f"{each.route} ({each.name}) does not say who may use it.",
            hint="Give its class `rights`, or decorate its function with `rights`.",
            id="resources.E001",
        )
        for each in addresses()
        if each.rules is None
    ]
