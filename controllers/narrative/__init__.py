"""Narrative: the sentences that people read about proposals, events and drift.

Everything here is read from rows and declarations, and nothing is decided. Pages, messages and
the API take their sentences from here, so that one thing is said in one way.

Words:
- event text: one sentence for an entry of the ledger
- consequence: what follows from a yes, and what from doing nothing
"""

__all__ = ["drift_queries", "event_text", "proposal_text", "time_text"]
