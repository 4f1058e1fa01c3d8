"""Use cases: the only ways to change resources, and the rules about who may.

`specs` changes what is declared, `statuses` what is observed, `deletion` removes. Every entrance
calls these, and each call is one transaction.

Words:
- rule: who may use an address with which verb
- token: what an agent signs in with
"""

__all__ = [
    "access",
    "access_rules",
    "access_table",
    "deletion",
    "retention",
    "specs",
    "statuses",
    "tokens",
    "watch",
]
