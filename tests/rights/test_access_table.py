"""Every address says who may use it, and one that does not is not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.core.checks import run_checks
from django.http import HttpRequest, HttpResponse
from django.test import Client
from rest_framework.views import APIView

from controllers.web import health
from controllers.web.base.page import Page, view
from controllers.web.manage.tokens import Tokens
from resources.admin import admin_rights
from resources.api.base import View
from resources.usecases import access_table
from resources.usecases.access_rules import OPEN, OWN, SEEN, page, rights, rule_for, rules_of
from resources.usecases.access_table import Address

VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def verbs_of(address: Address) -> set[str]:
    """Return the verbs that an endpoint of the API knows."""
    kind = getattr(address.view, "cls", getattr(address.view, "view_class", None))
    if kind is None or not issubclass(kind, APIView):
        return set()
    return {verb for verb in VERBS if hasattr(kind, verb.lower())}


def classes_with_rights() -> Iterator[type]:
    """Yield every page and endpoint that says who may use it."""
    waiting: list[type] = [Page, View]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if "rights" in vars(kind) and kind.__module__.startswith(("controllers", "resources")):
            yield kind


def test_every_route_declares_who_may_use_it() -> None:
    undeclared = [f"{e.name} {e.route}" for e in access_table.addresses() if e.rules is None]

    assert undeclared == []


def test_every_verb_of_the_api_declares_who_may_use_it() -> None:
    missing = [
        f"{verb} {each.name}"
        for each in access_table.addresses()
        for verb in verbs_of(each)
        if verb not in (each.rules or {})
    ]

    assert missing == []


def test_an_endpoint_declares_no_verb_that_it_does_not_know() -> None:
    declared = [
        f"{verb} {each.name}"
        for each in access_table.addresses()
        if each.name.startswith("api-") and (known := verbs_of(each))
        for verb in each.rules or {}
        if verb not in known
    ]

    assert declared == []


def test_addresses_that_are_called_the_same_declare_the_same() -> None:
    by_name = access_table.rules_by_name()

    assert [e.route for e in access_table.addresses() if e.rules != by_name.get(e.name)] == []


def test_nothing_is_declared_that_is_not_there() -> None:
    there = {
        getattr(e.view, name, None) for e in access_table.addresses() for name in ("page", "cls")
    }

    assert [kind for kind in classes_with_rights() if kind not in there] == []


def test_the_admin_declares_nothing_that_is_not_there() -> None:
    there = {each.name for each in access_table.addresses()}

    assert {f"admin:{name}" for name in admin_rights.declared(admin.site)} <= there


def test_the_table_has_every_address_and_verb() -> None:
    table = list(access_table.rights_table())

    assert len({(each.address.route, each.address.name, each.method) for each in table}) == len(
        table
    )
    assert len(table) == sum(len(each.rules or {}) for each in access_table.addresses())


@pytest.mark.django_db
def test_an_address_that_nobody_declared_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Client().get("/healthz").status_code == 200

    monkeypatch.delattr(health.healthz, "rights")

    assert Client().get("/healthz").status_code == 404


def test_a_check_names_the_address_that_nobody_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named() == []

    monkeypatch.delattr(health.healthz, "rights")
    monkeypatch.delattr(Tokens, "rights")

    assert named() == [
        "manage/tokens (tokens) does not say who may use it.",
        "healthz (healthz) does not say who may use it.",
    ]


def named() -> list[str]:
    """Return what the checks of Django say about addresses."""
    return [each.msg for each in run_checks(tags=["urls"]) if each.id == "resources.E001"]


class Parent(Page):
    """A page that everybody sees."""

    rights = page(OPEN)


class Child(Parent):
    """A page that says nothing."""


class Other(Parent):
    """A page that says something else."""

    rights = page(OWN)


def test_a_page_does_not_take_over_what_its_parent_allows() -> None:
    found: list[Any] = [rules_of(view(kind)) for kind in (Parent, Child, Other)]

    assert found == [page(OPEN), None, page(OWN)]


def test_a_rule_is_asked_for_by_verb() -> None:
    @rights(page(SEEN, OWN))
    def show(request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    assert [rule_for(show, verb) for verb in ("GET", "HEAD", "POST", "PUT")] == [
        SEEN,
        SEEN,
        OWN,
        None,
    ]
