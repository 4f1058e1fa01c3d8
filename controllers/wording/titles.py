"""Titles: what would be done, verb first, with its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controllers import operations
from controllers.engine.reading import figure
from controllers.engine.reading import number as as_number
from controllers.engine.wording import listed, shown
from controllers.models import Proposal

Parameters = Mapping[str, Any]
Phrase = Callable[[str, Parameters], str]


def number(proposal: Proposal) -> str:
    """Return the short name people use: P-2381."""
    return f"P-{proposal.pk}"


def question(proposal: Proposal) -> str:
    """Ask whether it is to be done: the title with a question mark."""
    return f"{title(proposal)}?"


def title(proposal: Proposal) -> str:
    """Say what would be done, verb first: "Throttle growth-optimizer to 58% …"."""
    name = proposal.resource.name
    said = [phrase(name, each) for each in proposal.actions]
    if not said:
        return f"Change {name}"
    if len(said) == 1:
        return said[0]
    more = f", and {len(said) - 2} more" if len(said) > 2 else ""
    return f"{said[0]} and {lowered(said[1])}{more}"


def phrase(name: str, action: Mapping[str, Any]) -> str:
    """Say what one action would do to a resource."""
    operation = str(action.get("operation", ""))
    given = action.get("parameters") or {}
    known = PHRASES.get(operation)
    if known is not None:
        return known(name, given)
    found = operations.find(operation)
    return f"{found.title if found else 'Change'} {name}"


def lowered(sentence: str) -> str:
    """Let a sentence go on after another; names that are capitals stay so."""
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def percent(share: Any) -> str:
    """Write a share as a percentage."""
    amount = as_number(share)
    return f"{figure(round(amount * 100, 1))}%" if amount is not None else "a part"


def _given_list(given: Parameters, name: str) -> list[str]:
    found = given.get(name)
    return [str(each) for each in found] if isinstance(found, list) else []


def _throttle(name: str, given: Parameters) -> str:
    if given.get("factor") == 1:
        return f"Give {name} its full daily tokens back"
    return f"Throttle {name} to {percent(given.get('factor'))} of its daily tokens"


def _throttle_agents(name: str, given: Parameters) -> str:
    agents = _given_list(given, "agents")
    whom = listed(agents) or f"the agents of {given.get('domain') or name}"
    own = "its" if len(agents) == 1 else "their"
    if given.get("factor") == 1:
        return f"Give {whom} {own} full daily tokens back"
    share = percent(given.get("factor"))
    return f"Throttle {whom} to {share} of {own} daily tokens, for {name}"


def _of_run(verb: str) -> Phrase:
    def said(name: str, given: Parameters) -> str:
        return f"{verb} {name} {given.get('run', '')}".rstrip()

    return said


def _retry(name: str, given: Parameters) -> str:
    steps = _given_list(given, "steps")
    noun = "step" if len(steps) == 1 else "steps"
    return f"Retry {noun} {listed(steps)} of {name}" if steps else f"Retry {name}"


def _pass_gate(name: str, given: Parameters) -> str:
    return f"Let run {given.get('run', '')} of {name} pass {given.get('step', 'its gate')}"


def _block_operations(name: str, given: Parameters) -> str:
    agents, words = _given_list(given, "agents"), _given_list(given, "operations")
    what = listed(words) if words else "every operation"
    return f"Block {what} of {listed(agents) or 'all agents'} under {name}"


def _unblock_operations(name: str, given: Parameters) -> str:
    agents = _given_list(given, "agents")
    return f"Lift the block of {name} for {listed(agents) or 'all agents'}"


def _scale(name: str, given: Parameters) -> str:
    before, after = (shown(given.get(key)) for key in ("from", "to"))
    return f"Scale {name} from {before} to {after} active agents"


def _modify(name: str, given: Parameters) -> str:
    leaves = list(_leaves(given.get("patch") or {}))
    if len(leaves) != 1:
        return f"Change {listed([path for path, _ in leaves])} of {name}"
    path, value = leaves[0]
    if value is None:
        return f"Remove {path} from {name}"
    if isinstance(value, (dict, list)):
        return f"Change {path} of {name}"
    return f"Set {path} of {name} to {shown(value)}"


def _leaves(patch: Mapping[str, Any], at: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in patch.items():
        inner = isinstance(value, dict) and value
        found += _leaves(value, f"{at}{key}.") if inner else [(f"{at}{key}", value)]
    return found


def _scope(text: str) -> Phrase:
    def said(name: str, given: Parameters) -> str:
        return text.format(agent=given.get("agent", "an agent"), data=given.get("resource", name))

    return said


def _plain(text: str) -> Phrase:
    def said(name: str, given: Parameters) -> str:
        return text.format(name=name, to=given.get("to") or given.get("type") or "as it was")

    return said


def _permit(_: str, given: Parameters) -> str:
    target = str(given.get("on", "")).partition("/")[2]
    tokens = as_number(given.get("tokens"))
    cost = f", for {figure(tokens)} tokens" if tokens else ""
    return f"Let {given.get('by', 'an agent')} {given.get('operation', 'act')} {target} once{cost}"


def _grant_autonomy(name: str, given: Parameters) -> str:
    where = f" in {given['domain']}" if given.get("domain") else ""
    return f"Let {name} {given.get('operation', 'act')}{where} without asking"


PHRASES: Mapping[str, Phrase] = {
    "grant-autonomy": _grant_autonomy,
    "permit-operation": _permit,
    "throttle": _throttle,
    "throttle-agents": _throttle_agents,
    "pause": _plain("Pause {name}"),
    "resume": _plain("Resume {name}"),
    "restart": _plain("Restart {name}"),
    "refresh-status": _plain("Ask {name} to report again"),
    "block-spend": _plain("Block spending from {name}"),
    "unblock-spend": _plain("Allow spending from {name}"),
    "block-operations": _block_operations,
    "unblock-operations": _unblock_operations,
    "revoke-data-scope": _scope("Revoke {agent}’s access to {data}"),  # noqa: RUF001
    "grant-data-scope": _scope("Give {agent} access to {data}"),
    "start": _plain("Start a new run of {name}"),
    "retry": _retry,
    "compensate": _of_run("Compensate"),
    "abort": _of_run("Abort"),
    "pass-gate": _pass_gate,
    "archive": _plain("Archive {name}"),
    "restore": _plain("Bring {name} back as {to}"),
    "archive-memory": _plain("Archive {name}"),
    "supersede-memory": _plain("Mark {name} as superseded"),
    "expire-memory": _plain("Expire {name}"),
    "restore-memory": _plain("Bring {name} back as {to}"),
    "scale-agents": _scale,
    "modify-spec": _modify,
    "take-over": _plain("Put {name} under supervision"),
    "release": _plain("Let {name} act as {to} again"),
}
