"""What is declared about events: contracts and defences, compiled once for each generation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from controllers.engine.document_values import section, text, texts
from controllers.telemetry.arrivals import EFFECTS, Effect
from controllers.telemetry.names import canonical
from resources.tables.models import Resource
from resources.tables.visibility import SHARED

LARGEST_PATTERN = 1_000_000
# How a defence answers, from the mildest to the strictest.
ANSWERS: Mapping[str, Effect] = {"log": "note", "warn": "flag", "block": "refuse"}
_SIGNS = re.compile(r"[\\.+*?()|\[\]{}^$]")


def _refuse(address: str) -> Any:
    """Fetch nothing: a schema that names another place cannot make us call it."""
    raise ValueError(f"{address} is not looked up.")


def schema_of(declared: Any) -> Draft202012Validator | None:
    """Compile a JSON Schema; nothing when it cannot be used.

    Its patterns take time in proportion to the text, whatever they are.
    """
    try:
        return Draft202012Validator(
            declared,
            retriever=_refuse,
            mask="what was sent",
            pattern_options=RegexOptions(size_limit=LARGEST_PATTERN),
        )
    except (ValidationError, ValueError, TypeError):
        return None


@dataclass(frozen=True, eq=False)
class Contract:
    """One contract, ready to be held against events."""

    key: int
    uid: UUID
    name: str
    event: str
    category: str
    severity: str
    mode: str
    domain: str
    agent: str
    correlation: Mapping[str, Any]
    checks: bool
    validator: Draft202012Validator | None

    @property
    def effect(self) -> Effect:
        """What follows when an event does not keep to it."""
        return EFFECTS.get(self.mode, "flag")


class Pattern(NamedTuple):
    """Words that a defence looks for."""

    text: str
    validator: Draft202012Validator

    def found_in(self, seen: str) -> bool:
        """Tell whether they are in a text."""
        return self.validator.is_valid(seen)


class Defence(NamedTuple):
    """How a policy answers words that try to take over."""

    policy: str
    domain: str
    effect: Effect
    patterns: tuple[Pattern, ...]


class Rules(NamedTuple):
    """Everything that is declared about the events of one agent."""

    contracts: Mapping[str, tuple[Contract, ...]]
    defences: tuple[Defence, ...]
    # Domains with a contract that is enforced: what nobody declared is refused there.
    strict: frozenset[str]


def contract_of(row: Resource) -> Contract:
    """Read a contract."""
    spec = row.spec
    source, payload = section(spec, "source"), spec.get("payload")
    return Contract(
        key=row.pk,
        uid=row.uid,
        name=row.name,
        event=canonical(text(spec.get("event"))),
        category=text(spec.get("category")),
        severity=text(spec.get("severity")),
        mode=text(spec.get("enforcementMode")) or "warn",
        domain=text(source.get("domain")),
        agent=text(source.get("agent")),
        correlation=section(spec, "correlationId"),
        checks=isinstance(payload, dict),
        validator=schema_of(payload) if isinstance(payload, dict) else None,
    )


def defence_of(row: Resource) -> Defence:
    """Read what a policy has against words that try to take over."""
    declared = section(row.spec, "promptInjectionDefense")
    on = declared.get("enabled", True) is not False
    found = (pattern_of(each) for each in texts(declared, "detectPatterns") if on)
    effect = ANSWERS.get(text(declared.get("onDetection")), "note")
    return Defence(row.name, row.domain, effect, tuple(each for each in found if each))


def pattern_of(said: str) -> Pattern | None:
    """Compile a pattern; one that is none is looked for as it is written."""
    for written in (said, _SIGNS.sub(r"\\\g<0>", said)):
        validator = schema_of({"pattern": f"(?i){written}"})
        if validator is not None:
            return Pattern(said, validator)
    return None


class Cache:
    """Keeps what was compiled, by resource and generation; what is gone is forgotten."""

    def __init__(self, kind: str, compile_one: Callable[[Resource], Any]) -> None:
        self.kind, self.compile_one = kind, compile_one
        self.kept: dict[tuple[UUID, int], Any] = {}

    def read(self) -> list[Any]:
        """Return all that live, compiling only what is new."""
        rows = Resource.objects.filter(kind=self.kind, deleted_at=None).order_by("pk")
        names = list(rows.values_list("uid", "generation"))
        kept = self.kept
        missing = [uid for uid, generation in names if (uid, generation) not in kept]
        fresh = self.compiled(missing) if missing else {}
        known = kept | fresh
        # What somebody declared anew between the two questions is seen the next time.
        self.kept = {name: known[name] for name in names if name in known}
        return [each for each in self.kept.values() if each is not None]

    def compiled(self, uids: Iterable[UUID]) -> dict[tuple[UUID, int], Any]:
        """Compile some."""
        rows = Resource.objects.filter(uid__in=list(uids), deleted_at=None)
        return {(row.uid, row.generation): self.compile_one(row) for row in rows}


CONTRACTS = Cache("Telemetry", contract_of)
DEFENCES = Cache("SecurityPolicy", defence_of)


def rules_for(domain: str) -> Rules:
    """Return what is declared about events, as an agent of a domain meets it."""
    by_event: dict[str, tuple[Contract, ...]] = {}
    strict: set[str] = set()
    for each in CONTRACTS.read():
        by_event[each.event] = (*by_event.get(each.event, ()), each)
        if each.mode == "enforce":
            strict.add(each.domain)
    near = (each for each in DEFENCES.read() if each.domain in (domain, *SHARED))
    return Rules(by_event, tuple(each for each in near if each.patterns), frozenset(strict))
