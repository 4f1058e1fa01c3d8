"""Tables: resources with their history, the ledger, tokens, and who sees which rows.

Rows are changed only by the store above. Managers narrow what is read to the domains that the
reader may see.

Words:
- ledger: the append-only record, chained by hashes
- version: the number of a change, from one counter for everything
- scope: the domains that somebody sees
"""

__all__ = [
    "batches",
    "bounded_count",
    "bulk_tables",
    "database_errors",
    "fields",
    "ledger",
    "models",
    "versions",
    "visibility",
]
