"""Access: who people are, what they may do, and where.

Roles, groups, deputies, sign-in links, sessions and preferences. Rights are read from the
database whenever they are asked for, so what was taken away is gone at once. Nobody stands above
the rules: a superuser without a role may do nothing.

Words:
- role: what somebody may do, in the organisation or in one domain
- deputy: somebody who decides for somebody else, for a time
- quorum: how many people have to approve, and of which group
- decider: somebody who may decide about a proposal now
"""

__all__ = [
    "deactivation",
    "exports",
    "freshness",
    "governance_lookup",
    "lockout",
    "people",
    "preferences",
    "provider_groups",
    "refusal_log",
    "roles",
    "secret_rotation",
    "session_records",
]
