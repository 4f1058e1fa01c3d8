"""API of resources, and what every endpoint of the product shares.

Authentication, strict parameters, formats, serializers and problem documents are here once; the
endpoints of resources use them like those of the loop.

Words:
- problem document: a refusal as RFC 9457 writes it
- feed: the stream of changes of one client
"""

__all__ = [
    "authentication",
    "base",
    "feed",
    "fields",
    "parameters",
    "preconditions",
    "problems",
    "rate_limits",
    "schema",
    "serializer_base",
    "serializers",
]
