"""Hold one event against what is declared about it; nothing is written here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from controllers.telemetry import payload_scan
from controllers.telemetry.arrivals import Arrival, Effect, Finding
from controllers.telemetry.contracts import Contract, Rules
from controllers.telemetry.names import canonical, is_name
from resources.documents.reader import escape
from resources.tables.models import Resource

LARGEST = 32 * 1024
CLOCK_SKEW = timedelta(minutes=5)
SEVERITIES = ("info", "warning", "error", "critical")
CATEGORIES = ("metric", "log", "trace", "alert", "audit")
STORY = re.compile(r"[A-Za-z0-9._-]{1,64}")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)
# So much of what a schema has against one payload is told.
MOST_FAULTS = 10
LONGEST_FAULT = 300


@dataclass(frozen=True)
class Judged:
    """An event, what is declared about it, what is wrong with it, and how it would be kept."""

    arrival: Arrival
    event: str
    contract: Contract | None
    findings: tuple[Finding, ...]
    payload: dict[str, Any]
    size: int

    @property
    def refused(self) -> bool:
        """Whether it is not taken."""
        return any(each.effect == "refuse" for each in self.findings)

    @property
    def flags(self) -> str:
        """What it is marked with."""
        return ",".join(dict.fromkeys(each.code for each in self.findings))

    @property
    def invalid(self) -> bool:
        """Whether it breaks its contract."""
        return any(each.code not in ("uncontracted", "source") for each in self.findings)


def judge(arrival: Arrival, rules: Rules, agent: Resource, now: datetime) -> Judged:
    """Hold an event against its contract, its source and the policies of its domain."""
    event = canonical(arrival.event)
    size = len(orjson.dumps(arrival.payload))
    wrong = [*_unreadable(arrival, event, size, now)]
    if wrong:
        return Judged(arrival, event[:100], None, tuple(wrong), {}, size)
    contract, found = _governed(arrival, event, rules, agent)
    if contract is not None:
        found += _unkept(arrival, contract)
    found += _hostile(arrival, rules)
    payload, traces = payload_scan.personal(arrival.payload)
    effect: Effect = contract.effect if contract is not None else "flag"
    for each in traces[:MOST_FAULTS]:
        said = f"holds personal data: {each.kind}"
        found.append(Finding("pii", f"/payload{each.pointer}", said, effect))
    return Judged(arrival, event, contract, tuple(found), payload, size)


def _unreadable(arrival: Arrival, event: str, size: int, now: datetime) -> Iterator[Finding]:
    """Yield why nobody could take it, whatever is declared."""
    if not is_name(event):
        said = "must be a name such as growth.signup_completed"
        yield Finding("name", "/event", said, "refuse")
    if size > LARGEST:
        said = f"must not be larger than {LARGEST // 1024} kB"
        yield Finding("size", "/payload", said, "refuse")
    if arrival.at is not None and arrival.at > now + CLOCK_SKEW:
        yield Finding("time", "/time", "must not lie in the future", "refuse")
    for name, said_id in (
        ("correlation", arrival.correlation_id),
        ("correlation", arrival.causation_id),
    ):
        if said_id and not STORY.fullmatch(said_id):
            said = "must have up to 64 letters, digits, dots, hyphens and _"
            yield Finding("correlation", f"/{name}Id", said, "refuse")


def _governed(
    arrival: Arrival, event: str, rules: Rules, agent: Resource
) -> tuple[Contract | None, list[Finding]]:
    """Find the contract an event falls under; nobody speaks for somebody else."""
    declared = rules.contracts.get(event, ())
    said = [*_pretended(arrival, agent)]
    mine = [each for each in declared if _may_tell(each, agent)]
    if declared and not mine:
        who = declared[0].agent or declared[0].domain
        message = f"must be told by {who}, as {declared[0].name} declares"
        said.append(Finding("source", "/event", message, "refuse"))
    if said:
        return None, said
    if mine:
        # The one that names its teller most exactly.
        return max(mine, key=lambda each: (bool(each.agent), bool(each.domain), -each.key)), []
    effect: Effect = "refuse" if agent.domain in rules.strict else "flag"
    message = "must be declared: no contract has this name"
    return None, [Finding("uncontracted", "/event", message, effect)]


def _pretended(arrival: Arrival, agent: Resource) -> Iterator[Finding]:
    for name, claimed, real in (
        ("agent", arrival.agent, agent.name),
        ("domain", arrival.domain, agent.domain),
    ):
        if claimed and claimed != real:
            message = f"must be {real or 'left out'}: this token is {agent.name}'s"
            yield Finding("source", f"/source/{name}", message, "refuse")


def _may_tell(contract: Contract, agent: Resource) -> bool:
    if contract.agent and contract.agent != agent.name:
        return False
    return not contract.domain or contract.domain == agent.domain


def _unkept(arrival: Arrival, contract: Contract) -> list[Finding]:
    """Return what of a contract an event does not keep."""
    found: list[Finding] = []
    effect = contract.effect
    if arrival.category and arrival.category != contract.category:
        message = f"must be {contract.category}, as {contract.name} declares"
        found.append(Finding("category", "/category", message, effect))
    if arrival.severity and contract.severity and arrival.severity != contract.severity:
        message = f"must be {contract.severity}, as {contract.name} declares"
        found.append(Finding("severity", "/severity", message, effect))
    if message := _untraceable(arrival.correlation_id, contract):
        found.append(Finding("correlation", "/correlationId", message, effect))
    return [*found, *_misshapen(arrival, contract)]


def _untraceable(correlation_id: str, contract: Contract) -> str:
    if not correlation_id:
        return "is required" if contract.correlation.get("required") is True else ""
    form = contract.correlation.get("format")
    if form == "uuid" and not _is_uuid(correlation_id):
        return "must be a UUID"
    if form == "ulid" and not _ULID.fullmatch(correlation_id):
        return "must be a ULID"
    return ""


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def _misshapen(arrival: Arrival, contract: Contract) -> Iterator[Finding]:
    if contract.checks and contract.validator is None:
        message = f"cannot be checked: the schema of {contract.name} is none"
        yield Finding("schema", "/payload", message, contract.effect)
        return
    if contract.validator is None:
        return
    for place, error in enumerate(contract.validator.iter_errors(arrival.payload)):
        if place == MOST_FAULTS:
            return
        at = "".join(f"/{escape(str(part))}" for part in ("payload", *error.instance_path))
        yield Finding(
            "schema", at, f"does not fit: {error.message}"[:LONGEST_FAULT], contract.effect
        )


def _hostile(arrival: Arrival, rules: Rules) -> Sequence[Finding]:
    """Return which policies see words in it that try to take over."""
    if not rules.defences:
        return ()
    seen = payload_scan.plain(arrival.payload)
    return [
        Finding(
            "injection",
            "/payload",
            f"holds words that {defence.policy} looks for",
            defence.effect,
            defence.policy,
            pattern.text,
        )
        for defence in rules.defences
        for pattern in defence.patterns
        if pattern.found_in(seen)
    ]
