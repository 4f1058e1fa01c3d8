"""Who may use an address, as its page or view says it: a rule for each verb.

A page or view class has an attribute `rights`, a function view the decorator of that name. The
middleware asks for it before every view, and a view that says nothing is not there. What a use
case asks besides (who proposed it, how grave it is, whose work it is) is its own; a rule says who
gets as far as asking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, TypeVar

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
View = TypeVar("View", bound=Callable[..., Any])
# How a view tells the class that answers: a page, an endpoint, a view of Django.
CLASSES = ("page", "cls", "view_class")

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


def rights(declared: Rules) -> Callable[[View], View]:
    """Let a function view say who may use it."""

    def mark(view: View) -> View:
        view.rights = declared  # type: ignore[attr-defined]
        return view

    return mark


def ruled(view: Callable[..., Any], declared: Rules) -> Callable[..., Any]:
    """Wrap a view that is not ours, so that it says who may use it."""

    @wraps(view)
    def answer(*args: Any, **named: Any) -> Any:
        return view(*args, **named)

    return rights(declared)(answer)


def rules_of(view: Callable[..., Any]) -> Rules | None:
    """Return what a view says about who may use it; None when it says nothing.

    A class speaks for itself alone: what its parent allows is not allowed here by itself.
    """
    if (declared := getattr(view, "rights", None)) is not None:
        found: Rules = declared
        return found
    kind = next((getattr(view, name) for name in CLASSES if hasattr(view, name)), None)
    return None if kind is None else vars(kind).get("rights")


def rule_for(view: Callable[..., Any], method: str) -> Rule | None:
    """Return the rule of a view and a verb; None when there is none."""
    return (rules_of(view) or {}).get("GET" if method == "HEAD" else method)
