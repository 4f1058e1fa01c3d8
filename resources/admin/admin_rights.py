"""Who may use the admin: its own pages by name, those about rows by what they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.admin import AdminSite
from django.urls import URLPattern, URLResolver

from resources.usecases.access_rules import (
    ADMINISTER,
    OPEN,
    OPERATE,
    OVERSEE,
    OWN,
    Rule,
    Rules,
    at,
    page,
    ruled,
)

Rights = Mapping[str, Rules]

INSIDE = at("anywhere", *OPERATE, "auditor")
# An address that Django has and nobody may use: it refuses by itself.
NEVER: Rules = {}
SITE: Rights = {
    "index": page(INSIDE),
    "app_list": page(INSIDE),
    "jsi18n": page(INSIDE),
    "autocomplete": page(INSIDE),
    "view_on_site": page(INSIDE),
    "password_change": page(INSIDE, INSIDE),
    "password_change_done": page(INSIDE),
    "logout": page(None, OWN),
    "login": page(OPEN, OPEN),
    # Old addresses of rows, and whatever else begins like the admin.
    "": page(INSIDE),
}
KIND: Rights = {
    "changelist": page(INSIDE),
    "add": page(at("anywhere", *OPERATE), at("anywhere", *OPERATE)),
    "check": page(None, at("anywhere", *OPERATE)),
    "check_one": page(None, at("there", *OPERATE)),
    "change": page(INSIDE, at("there", *OPERATE)),
    "history": page(INSIDE),
    "revision": page(INSIDE),
    "delete": page(at("there", *ADMINISTER), at("there", *ADMINISTER)),
}
TOKENS: Rights = {
    **dict.fromkeys(("changelist", "change", "history"), page(at("anywhere", *OVERSEE))),
    "add": page(at("anywhere", *ADMINISTER), at("anywhere", *ADMINISTER)),
    "revoke": page(at("anywhere", *ADMINISTER), at("there", *ADMINISTER)),
    "delete": NEVER,
}


def readable(rule: Rule) -> Rights:
    """Return the rules of rows that are read and never written."""
    read = dict.fromkeys(("changelist", "change", "history"), page(rule))
    return {**read, "add": NEVER, "delete": NEVER}


def declared(site: AdminSite) -> Rights:
    """Return the rules of every page of the admin by the name of its address."""
    rows = {
        f"{model._meta.app_label}_{model._meta.model_name}_{action}": found
        for model, pages in site._registry.items()
        for action, found in getattr(pages, "rights", {}).items()
    }
    return {**rows, **SITE}


def site_urls(site: AdminSite) -> tuple[list[Any], str, str]:
    """Return the addresses of the admin, each with its rules."""
    patterns, app, space = site.urls
    mark(patterns, declared(site))
    return patterns, app, space


def mark(patterns: Iterable[URLPattern | URLResolver], table: Rights) -> None:
    """Let each view say who may use it; one that the table does not name says nothing."""
    for each in patterns:
        if isinstance(each, URLResolver):
            mark(each.url_patterns, table)
        elif (found := table.get(each.name or "")) is not None:
            each.callback = ruled(each.callback, found)
