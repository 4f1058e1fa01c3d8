"""A client for agents: whole documents in and out, nothing but Python's own library.

with Client("http://127.0.0.1:8000", token) as ioa:
    ioa.resources.report("agent", "scribe", {"state": "running"})
"""

from __future__ import annotations

from ioa_client.client import Client
from ioa_client.errors import Failure, Problem, Unreachable
from ioa_client.transport import Document

__all__ = ["Client", "Document", "Failure", "Problem", "Unreachable"]
