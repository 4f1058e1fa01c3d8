"""The page of rights: every address and verb, and who may use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from resources.tables.models import PAGE_MODELS
from resources.usecases.access_rules import Rule
from resources.usecases.access_table import Right, rights_table
from tests.reference.writing import code, table

HEAD = """\
# Rights

Who may use which address. Every page and endpoint says it itself (`rights`), and an address that
says nothing is not there. Made by `python -m tests.catalogue` of the addresses there are; do not
edit it.

- **Anybody** need not sign in. **Signed in** needs no role. **Member** holds a role anywhere, and
  what lies outside their domains is not there. **Whole** sees the whole organisation.
- A role is asked for *there* (where the address leads), for the *organisation*, or *anywhere*.
- A token of an agent comes in with the scope in the last column; *no* keeps tokens out.
- What a use case asks besides (who proposed it, how grave it is, whose work it is) is not here.
"""
HEADS = ("Address", "Verb", "Who", "Roles", "Token")
SECTIONS = {"Pages": "", "API": "api/", "Admin": "admin/"}


def page() -> str:
    """Write the page."""
    found: dict[str, list[Right]] = {name: [] for name in SECTIONS}
    for each in rights_table():
        found[section_of(each.address.route)].append(each)
    return HEAD + "".join(f"\n## {name}\n\n{section(found[name])}" for name in SECTIONS)


def section_of(route: str) -> str:
    """Return the part of the page that an address belongs to."""
    return next(
        (name for name, begins in SECTIONS.items() if begins and route.startswith(begins)), "Pages"
    )


def section(rights: Iterable[Right]) -> str:
    """Write a table; what is the same for every kind is written once."""
    return table(HEADS, dict.fromkeys(rows(rights)))


def rows(rights: Iterable[Right]) -> Iterator[tuple[str, ...]]:
    """Yield the lines; verbs with one rule share theirs."""
    for route, found in groupby(rights, key=lambda each: each.address.route):
        verbs: dict[Rule, dict[str, None]] = {}
        for each in found:
            verbs.setdefault(each.rule, {})[each.method] = None
        for rule, methods in verbs.items():
            yield address(route), ", ".join(methods), *said(rule)


def address(route: str) -> str:
    """Write an address as it is declared; the pages of kinds are all alike."""
    for name in PAGE_MODELS:
        route = route.replace(f"admin/resources/{name.lower()}/", "admin/resources/<kind>/")
    return code(f"/{route}")


def said(rule: Rule) -> tuple[str, str, str]:
    """Say who may come, with which roles, and with which token."""
    who = rule.who if rule.people else "only tokens"
    roles = f"{', '.join(rule.roles)} ({rule.where})" if rule.roles else ""
    return who + (", told to the ledger" if rule.told else ""), roles, rule.bearer or "no"
