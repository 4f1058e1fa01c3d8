"""Who may do what: roles for the organisation or a domain, deputies, and who may decide.

Everything is read from the database each time it is asked, so that what was taken away is gone at
once. Nobody stands above the rules: a superuser without a grant may do nothing here.
"""

from __future__ import annotations

from controllers.roles.deputies import check_approver, delegate, end_delegation
from controllers.roles.eligibility import (
    Authority,
    Decider,
    authority,
    deciders,
    entitled,
    still_valid,
)
from controllers.roles.granting import Right, grant, revoke
from controllers.roles.groups import (
    add_group,
    add_member,
    change_group,
    delete_group,
    find_group,
    remove_member,
)
from controllers.roles.interests import INTERESTED, interested_in, names_of
from controllers.roles.inviting import deactivate, invite, note_link, reactivate
from controllers.roles.noting import Missing, Refused
from controllers.roles.quorum import Quorum, Tally
from controllers.roles.quorum import of as quorum_of
from controllers.roles.quorum import of_all as quorums_of
from controllers.roles.rights import (
    Denied,
    approvers,
    check_administers,
    check_glass,
    check_lift,
    check_operate,
    check_propose,
    check_run,
    check_stop,
    holds_anywhere,
    holds_role,
)
from controllers.roles.scopes import colleagues, scope_at, scopes_of
from controllers.roles.waiting import waiting_for

__all__ = [
    "INTERESTED",
    "Authority",
    "Decider",
    "Denied",
    "Missing",
    "Quorum",
    "Refused",
    "Right",
    "Tally",
    "add_group",
    "add_member",
    "approvers",
    "authority",
    "change_group",
    "check_administers",
    "check_approver",
    "check_glass",
    "check_lift",
    "check_operate",
    "check_propose",
    "check_run",
    "check_stop",
    "colleagues",
    "deactivate",
    "deciders",
    "delegate",
    "delete_group",
    "end_delegation",
    "entitled",
    "find_group",
    "grant",
    "holds_anywhere",
    "holds_role",
    "interested_in",
    "invite",
    "names_of",
    "note_link",
    "quorum_of",
    "quorums_of",
    "reactivate",
    "remove_member",
    "revoke",
    "scope_at",
    "scopes_of",
    "still_valid",
    "waiting_for",
]
