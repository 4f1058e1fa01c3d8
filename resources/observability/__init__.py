"""Observability: metrics, spans and the correlation id, for everybody above.

Counting never changes what is counted, and nothing here reads the database.

Words:
- correlation id: one id for everything that one trigger causes
- span: how long one thing took
"""

__all__ = ["correlation", "metrics", "spans"]
