"""Through whose hands an operation goes: ours, an agent's, a controller's, a machine's."""

from __future__ import annotations

from typing import NamedTuple

from controllers import operations
from controllers.models import Endpoint, Proposal
from controllers.operations import Impossible


class Hand(NamedTuple):
    """Who carries a step out, and whether doing it twice is the same as doing it once."""

    executor: str
    idempotent: bool
    agent: str = ""
    endpoint: Endpoint | None = None


def hand_of(proposal: Proposal, name: str) -> Hand:
    """Return who carries an operation out on a proposal's target."""
    operation = operations.find(name)
    if operation is None:
        raise Impossible(f"Nobody here knows how to {name}.")
    found = operations.carrier_of(operation, proposal)
    if found.kind == "agent" and not found.agent:
        raise Impossible(f"No agent answers for {proposal.resource}.")
    return Hand(found.kind, operation.idempotent, found.agent, found.endpoint)
