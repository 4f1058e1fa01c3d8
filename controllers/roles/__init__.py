"""Who may do what: roles for the organisation or a domain, deputies, and who may decide.

Everything is read from the database each time it is asked, so that what was taken away is gone at
once. Nobody stands above the rules: a superuser without a grant may do nothing here.
"""

from __future__ import annotations

from controllers.roles.deputies import delegate, end_delegation
from controllers.roles.eligibility import Authority, authority, deciders, still_valid
from controllers.roles.granting import Right, grant, revoke
from controllers.roles.interests import INTERESTED, interested_in, names_of
from controllers.roles.noting import Missing, Refused
from controllers.roles.rights import (
    Denied,
    check_glass,
    check_lift,
    check_operate,
    check_propose,
    check_stop,
    holds_role,
)
from controllers.roles.waiting import waiting_for

__all__ = [
    "INTERESTED",
    "Authority",
    "Denied",
    "Missing",
    "Refused",
    "Right",
    "authority",
    "check_glass",
    "check_lift",
    "check_operate",
    "check_propose",
    "check_stop",
    "deciders",
    "delegate",
    "end_delegation",
    "grant",
    "holds_role",
    "interested_in",
    "names_of",
    "revoke",
    "still_valid",
    "waiting_for",
]
