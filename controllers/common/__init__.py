"""Common: what several contexts need and none of them owns.

Bulk writes, the time of the database, requests that are sent twice, stored secrets, quoting and
retention. Nothing here knows a rule of the product: a thing that does belongs to the context
whose rule it is.

Words:
- row: a stored record as the engine's value
- quotation: text of an agent, made safe to show to people
"""

__all__ = [
    "bulk_insert",
    "clocks",
    "idempotency",
    "judgement_writes",
    "quotation",
    "retention",
    "rows",
    "secrets",
]
