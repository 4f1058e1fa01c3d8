"""Who may do what: roles for the organisation or a domain, deputies, and who may decide.

Everything is read from the database each time it is asked, so that what was taken away is gone at
once. Nobody stands above the rules: a superuser without a grant may do nothing here.
"""

from __future__ import annotations

from controllers.access.roles.deputies import check_approver, delegate, end_delegation
from controllers.access.roles.eligibility import (
    Authority,
    Decider,
    authority,
    deciders,
    entitled,
    still_valid,
)
from controllers.access.roles.grants import Right, grant, revoke
from controllers.access.roles.groups import (
    add_group,
    add_member,
    change_group,
    delete_group,
    find_group,
    remove_member,
)
from controllers.access.roles.interests import INTERESTED, interested_in, names_of
from controllers.access.roles.invitations import deactivate, invite, note_link, reactivate
from controllers.access.roles.pending_decisions import waiting_for
from controllers.access.roles.quorum import Quorum, Tally
from controllers.access.roles.quorum import of as quorum_of
from controllers.access.roles.quorum import of_all as quorums_of
from controllers.access.roles.rights import (
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
from controllers.access.roles.scopes import colleagues, scope_at, scopes_of

__all__ = [
    "INTERESTED",
    "Authority",
    "Decider",
    "Quorum",
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
    "deputies",
    "eligibility",
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
    "pending_decisions",
    "quorum",
    "quorum_of",
    "quorums_of",
    "reactivate",
    "remove_member",
    "revoke",
    "rights",
    "scope_at",
    "scopes",
    "scopes_of",
    "still_valid",
    "waiting_for",
]
