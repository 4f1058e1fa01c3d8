"""Tools to ask before acting, to use a permit, and to account for what was spent."""

from __future__ import annotations

from typing import Any

from ioa_client import Client
from ioa_mcp.tool_results import known

Item = dict[str, Any]
LONGEST_WAIT = 300
DETAILS = ("tokens", "cost", "model", "parameters", "text", "why")


def ask_admission(
    product: Client,
    operation: str,
    resource: str,
    details: Item | None = None,
    wait_seconds: int = 0,
) -> Item:
    """Ask whether you may do an operation on a resource such as `asset/ledger`.

    `details` may have tokens {input, output}, cost {value, currency}, model {provider, name},
    parameters, text and why. The decision is allowed (with a permit), denied, or waiting for a
    person; `wait_seconds` waits for that person.
    """
    found = product.admission.ask(operation, resource, **known(details, *DETAILS))
    if found["decision"] != "waiting" or wait_seconds <= 0:
        return found
    return product.admission.wait(found["id"], min(wait_seconds, LONGEST_WAIT))


def read_admission(product: Client, admission: int, wait_seconds: int = 0) -> Item:
    """Read the answer to what you asked; wait up to `wait_seconds` for a person's."""
    return product.admission.wait(admission, min(wait_seconds, LONGEST_WAIT))


def redeem_permit(
    product: Client,
    admission: int,
    permit: str,
    operation: str,
    resource: str,
    details: Item | None = None,
) -> Item:
    """Use a permit, once, right before the operation; repeat exactly what you asked for."""
    return product.admission.redeem(
        admission, permit, operation, resource, **known(details, *DETAILS)
    )


def report_usage(product: Client, records: list[Item]) -> Item:
    """Report what you spent: tokens, cost, model, permit, and what it was for."""
    return product.usage.report(records)


TOOLS = (ask_admission, read_admission, redeem_permit, report_usage)
