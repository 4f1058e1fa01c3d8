"""Store: the one place that writes resource rows, and everything read beside them.

A write changes each row only at the version that was read, keeps a revision, leaves a mark for
the loop, chains the ledger entry and announces the commit.

Words:
- draft: what a row is to become
- stale: somebody else changed the row first
- evidence: the proof that nobody touched the ledger
"""

__all__ = [
    "announcements",
    "conditions",
    "evidence",
    "history",
    "references",
    "selectors",
    "snapshots",
    "store",
]
