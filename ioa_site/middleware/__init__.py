"""Middleware: what happens around every request.

The request's context, the domains its person sees, refusals that are written down, and answers
while the database is away.

Words:
- domain scope: what the person of a request may see
"""

__all__ = ["bad_request", "database_errors"]
