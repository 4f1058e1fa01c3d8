"""How an address says who may use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Who = Literal["anybody", "signed in", "member", "whole"]
Where = Literal["there", "organisation", "anywhere"]

STOP = ("operator", "approver", "administrator")
LIFT = ("approver", "administrator")
OPERATE = ("operator", "administrator")
DECIDE = ("approver",)
ADMINISTER = ("administrator",)
OVERSEE = ("administrator", "auditor")


@dataclass(frozen=True)
class Rule:
    """Who may use an address with a verb.

    `member` holds a role; what lies outside their domains is not there. `whole` sees the whole
    organisation. `roles` are asked where the address leads, for the organisation, or anywhere.
    `bearer` is the scope that lets a token in; "" keeps tokens out, "any" lets every one in.
    """

    who: Who = "member"
    roles: tuple[str, ...] = ()
    where: Where = "there"
    bearer: str = ""
    # Whether people may do it at all; otherwise only tokens may.
    people: bool = True
    # Whether reading it is an act of its own, which the ledger is told.
    told: bool = False


Rules = Mapping[str, Rule]

OPEN = Rule("anybody", bearer="any")
OWN = Rule("signed in")
SEEN = Rule()
WHOLE = Rule("whole")
TAKEN = Rule(told=True)


def at(where: Where, *roles: str) -> Rule:
    """Ask for one of some roles."""
    return Rule(roles=roles, where=where)


def page(read: Rule | None = SEEN, write: Rule | None = None) -> Rules:
    """Return the rules of a page."""
    return rules(GET=read, POST=write)


def api(scope: str = "resources:read", **verbs: Rule) -> Rules:
    """Return the rules of an endpoint that people and tokens with a scope read."""
    return {"GET": Rule(bearer=scope), **verbs}


def rules(**verbs: Rule | None) -> Rules:
    """Return the verbs that an address knows."""
    return {verb: rule for verb, rule in verbs.items() if rule is not None}


def agents(scope: str) -> Rule:
    """Let only tokens with a scope through; people are told so."""
    return Rule(bearer=scope, people=False)
