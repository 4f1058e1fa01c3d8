"""What names a plan: a digest of what it would do, and one of what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from controllers.engine.terms import Document
from resources.documents.canonical import digest


def of_actions(uid: str, actions: Iterable[Document]) -> str:
    """Name what a plan would do: target, operations, parameters and fields, in their order."""
    steps = [
        {
            "operation": each["operation"],
            "parameters": each.get("parameters", {}),
            "touches": sorted(each.get("touches", ())),
        }
        for each in actions
    ]
    return digest({"target": uid, "steps": steps})


def of_basis(basis: Mapping[str, Any]) -> str:
    """Name what a plan rests on."""
    return digest(basis)


def reads(evidence: Iterable[Document]) -> dict[str, Any]:
    """Return what a plan read of a resource: how each thing stands, not its passing figure.

    A figure moves with every report, and votes must outlive that; a field that differs counts
    with what was observed, because the plan writes it.
    """
    return {
        f"{each['dimension']}:{each['subject']}": each.get("observed")
        if each["dimension"] == "field"
        else each["verdict"]
        for each in evidence
    }


def cause(controller: str, operations: Sequence[str], evidence: Iterable[Document]) -> str:
    """Name the root cause that proposals about many resources share."""
    subjects = sorted({f"{each['dimension']}:{each['subject']}" for each in evidence})
    return digest([controller, list(operations), subjects])
