"""Block spending from a budget or operations under a policy, and lift the block again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from controllers.engine.document_values import section, texts
from controllers.engine.finding_text import listed
from controllers.operations.operation import (
    NAME,
    NAMES,
    REASON,
    REMOVE,
    Context,
    Document,
    FieldChange,
    Impossible,
    Operation,
    Subject,
    parameters,
)
from controllers.operations.phrases import names, plain

PATH = "spec.blocked"
WORDS = ("read", "write", "delete", "execute")


def _block_spend(context: Context, given: Document) -> Sequence[FieldChange]:
    standing = section(context.target.spec, "blocked")
    if "spend" in texts(standing, "operations"):
        return []
    return [context.target.change(PATH, _blocked(context, given, ["spend"]))]


def _blocked(context: Context, given: Document, operations: list[str]) -> dict[str, Any]:
    reason = given.get("reason") or f"{context.target.name} is beyond what it allows."
    return {"operations": operations, "reason": reason, "since": context.instant}


def _unblock_spend(context: Context, _: Document) -> Sequence[FieldChange]:
    return _lifted(context.target)


def _lifted(target: Subject) -> list[FieldChange]:
    return [target.change(PATH, REMOVE)] if "blocked" in target.spec else []


def _block_operations(context: Context, given: Document) -> Sequence[FieldChange]:
    """Block more than before, never less: what is blocked already stays so."""
    policy, standing = context.target, section(context.target.spec, "blocked")
    wanted = dict.fromkeys([*texts(standing, "operations"), *given.get("operations", WORDS)])
    new = _blocked(context, given, [*wanted])
    agents = sorted({*texts(standing, "agents"), *given.get("agents", ())})
    # A block that names nobody is for all.
    if given.get("agents") and (not standing or "agents" in standing):
        new["agents"] = agents
    compared = ("operations", "agents")
    if standing and all(new.get(key) == standing.get(key) for key in compared):
        return []
    return [policy.change(PATH, new)]


def _unblock_operations(context: Context, given: Document) -> Sequence[FieldChange]:
    policy, standing = context.target, section(context.target.spec, "blocked")
    if not given.get("agents"):
        return _lifted(policy)
    if standing and "agents" not in standing:
        raise Impossible(f"securitypolicy/{policy.name} blocks every agent: lift it for all.")
    left = [each for each in texts(standing, "agents") if each not in given["agents"]]
    return [policy.change(PATH, {**standing, "agents": left})] if left else _lifted(policy)


def _touches(_: Document) -> tuple[str, ...]:
    return (PATH,)


def _say_block(name: str, given: Document) -> str:
    agents, words = names(given, "agents"), names(given, "operations")
    what = listed(words) if words else "every operation"
    return f"Block {what} of {listed(agents) or 'all agents'} under {name}"


def _say_unblock(name: str, given: Document) -> str:
    return f"Lift the block of {name} for {listed(names(given, 'agents')) or 'all agents'}"


SPEND = parameters(budget=NAME, domain=NAME, reason=REASON)
OPERATED: Document = {"type": "array", "items": {"enum": list(WORDS)}, "minItems": 1}
OPERATIONS = (
    Operation(
        name="block-spend",
        title="Block spending",
        sentence="Declares that nothing more may be spent from a budget.",
        says=plain("Block spending from {name}"),
        kind="block",
        risk="medium",
        targets=("Budget",),
        parameters=SPEND,
        changes=_block_spend,
        touches=_touches,
        opposite="unblock-spend",
        seen="Agents that ask to spend are refused.",
    ),
    Operation(
        name="unblock-spend",
        title="Allow spending",
        sentence="Lifts the block of a budget.",
        says=plain("Allow spending from {name}"),
        kind="change",
        risk="medium",
        targets=("Budget",),
        parameters=SPEND,
        changes=_unblock_spend,
        touches=_touches,
        opposite="block-spend",
        seen="Agents that ask to spend are let through.",
    ),
    Operation(
        name="block-operations",
        title="Block operations",
        sentence="Declares that agents may not touch what a policy protects: those named, or all.",
        says=_say_block,
        kind="block",
        risk="medium",
        targets=("SecurityPolicy",),
        parameters=parameters(
            policy=NAME, domain=NAME, agents=NAMES, operations=OPERATED, reason=REASON
        ),
        changes=_block_operations,
        touches=_touches,
        opposite="unblock-operations",
        seen="Agents that ask for these operations are refused.",
    ),
    Operation(
        name="unblock-operations",
        title="Allow operations",
        sentence="Lifts the block of a policy, for the agents named or for all.",
        says=_say_unblock,
        kind="change",
        risk="medium",
        targets=("SecurityPolicy",),
        parameters=parameters(policy=NAME, domain=NAME, agents=NAMES, reason=REASON),
        changes=_unblock_operations,
        touches=_touches,
        opposite="block-operations",
        seen="Agents that ask for these operations are judged by the policy alone.",
    ),
)
