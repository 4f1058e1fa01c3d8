"""Tools for work that was allowed, and for proposals; none of them decides."""

from __future__ import annotations

from typing import Any

from ioa_client import Client
from ioa_mcp.tool_results import first, known

Item = dict[str, Any]


def list_work(product: Client, state: str = "claimable", limit: int = 50) -> Item:
    """List work that waits for you."""
    return first(product.work.list(state=state), limit)


def claim_work(product: Client, action: int) -> Item:
    """Claim an action; keep the claim's id, fence and epoch for every later call."""
    return product.work.claim(action)


def heartbeat_work(product: Client, action: int, fence: str, epoch: str) -> Item:
    """Go on with a claim; refused when a person said no: then stop, and report it."""
    return product.work.heartbeat(claim(action, fence, epoch))


def progress_work(
    product: Client,
    action: int,
    fence: str,
    epoch: str,
    percent: int | None = None,
    note: str = "",
) -> Item:
    """Say how far an action is, in percent and words; it goes on as with a heartbeat."""
    return product.work.progress(claim(action, fence, epoch), percent, note)


def report_work_result(
    product: Client,
    action: int,
    fence: str,
    outcome: str,
    failure: str | None = None,
    about: Item | None = None,
) -> Item:
    """Say `success` or `failure` (transient, permanent, stopped, unknown).

    `about` may have detail and outputs.
    """
    return product.work.result(
        claim(action, fence, ""), outcome, failure=failure, **known(about, "detail", "outputs")
    )


def propose(product: Client, resource: str, actions: list[Item], why: str) -> Item:
    """Propose operations with parameters on a resource such as `agent/scribe`; people answer."""
    return product.proposals.file(resource, actions, why)


def revise_proposal(product: Client, proposal: int, actions: list[Item], why: str) -> Item:
    """Answer a request for changes with another plan."""
    return product.proposals.revise(proposal, actions, why)


def read_proposal(product: Client, proposal: int) -> Item:
    """Read a proposal: its state, what people answered, what became of it."""
    return product.proposals.read(proposal)


def read_feedback(product: Client, limit: int = 50) -> Item:
    """List your proposals that people sent back, each with what should be different."""
    return first(product.proposals.feedback(), limit)


def claim(action: int, fence: str, epoch: str) -> Item:
    """Return a claim as the client takes it."""
    return {"id": action, "fence": fence, "epoch": epoch}


TOOLS = (
    list_work,
    claim_work,
    heartbeat_work,
    progress_work,
    report_work_result,
    propose,
    revise_proposal,
    read_proposal,
    read_feedback,
)
