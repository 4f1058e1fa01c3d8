"""May an agent do this: ordered guards over what people, policies and budgets say.

The first guard that refuses wins. A guard refuses only as far as its policy's mode lets it: what
may not be blocked is a warning, a note, or nothing but counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Literal, NamedTuple

from controllers.engine import gate, patterns, precedence
from controllers.engine.allowances import MILLIONTHS, TOKENS, Allowance
from controllers.engine.document_values import duration, figure, items, section, text, texts
from controllers.engine.gate import CODES
from controllers.engine.precedence import Standing
from controllers.engine.terms import Document, Mode

# From the one that lets most happen to the one that lets least.
MODES: Sequence[Mode] = ("observe", "advise", "warn", "enforce")
# How far a policy's own word about injections goes.
_DETECTION: Mapping[str, Mode] = {"block": "enforce", "warn": "warn", "log": "advise"}
# Holds that also stop the one who would act; an override only covers what is declared.
_STOPPING = ("stop", "freeze", "pause")
# What changes nothing passes where only changes are stopped.
_READING = ("stop", "pause")


ACCESS = ("read", "write", "delete", "execute")
Decision = Literal["allowed", "denied", "waiting"]


class Policy(NamedTuple):
    """A security policy, with the mode that counts: the weaker of its own and its controller's."""

    key: int
    name: str
    domain: str
    spec: Document
    mode: Mode


class Ask(NamedTuple):
    """What an agent wants to do, on what, at which cost, and who it is."""

    agent: str
    domain: str
    spec: Document
    operation: str
    target: str
    target_domain: str
    target_spec: Document
    # The data of the target's domain that it is about, if it is about data.
    asset: str = ""
    tokens: int = 0
    millionths: int = 0
    currency: str = ""
    # Whether its cost is known: given, or worked out from a price.
    priced: bool = True
    texts: tuple[str, ...] = ()
    # How long the agent has been using its token.
    session: timedelta = timedelta(0)

    @property
    def access(self) -> str:
        """What it does to the target, in the words of data scopes."""
        return self.operation if self.operation in ACCESS else "execute"

    def cost_in(self, unit: str) -> int:
        """Return what it would cost in a unit."""
        if unit == TOKENS:
            return self.tokens
        return self.millionths if unit == self.currency else 0


class Used(NamedTuple):
    """An allowance, and how much of it is spent or promised."""

    allowance: Allowance
    amount: int


class Facts(NamedTuple):
    """Everything an answer rests on."""

    ask: Ask
    policies: tuple[Policy, ...] = ()
    used: tuple[Used, ...] = ()
    # Budgets that nothing may be spent from: reference, mode, reason.
    blocked: tuple[tuple[str, Mode, str, int], ...] = ()
    # The holds that cover the agent, and those that cover the target.
    on_agent: tuple[Standing, ...] = ()
    on_target: tuple[Standing, ...] = ()
    # What could not be read, and how strict the one that it is about would be.
    faults: tuple[tuple[str, Mode], ...] = ()
    # Whether people have approved it.
    approved: bool = False


class Finding(NamedTuple):
    """Something that stands against it: a code, a sentence, and how far that goes."""

    code: str
    reason: str
    mode: Mode = "enforce"
    # The rule it breaks, and whose rule that is.
    rule: str = ""
    policy: int = 0
    # Whether a person may let it happen.
    asks: bool = False


class Verdict(NamedTuple):
    """The answer, with everything that was found on the way to it."""

    decision: Decision
    reasons: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()

    @property
    def breaches(self) -> tuple[Finding, ...]:
        """The rules that were broken, however far their modes go."""
        return tuple(each for each in (*self.reasons, *self.warnings, *self.notes) if each.rule)


Guard = Callable[[Facts], Iterable[Finding]]


def judge(facts: Facts) -> Verdict:
    """Answer one ask: the first guard that refuses, a person who is asked, or yes."""
    warnings: list[Finding] = []
    notes: list[Finding] = []
    asks: list[Finding] = []
    for guard in GUARDS:
        for found in guard(facts):
            if blocks(found.mode):
                if not found.asks:
                    return Verdict("denied", (found,), tuple(warnings), tuple(notes))
                asks.append(found)
            else:
                (warnings if found.mode == "warn" else notes).append(found)
    if asks and not facts.approved:
        return Verdict("waiting", tuple(asks), tuple(warnings), tuple(notes))
    return Verdict("allowed", (), tuple(warnings), tuple(notes))


def blocks(mode: Mode) -> bool:
    """Tell whether a mode lets an operation be blocked."""
    return gate.disposition(mode, "block", "low", True, "required") == "run"


def weaker(*modes: Mode) -> Mode:
    """Return the mode that lets most happen."""
    return min(modes, key=MODES.index)


def stronger(*modes: Mode) -> Mode:
    """Return the mode that lets least happen."""
    return max(modes, key=MODES.index)


def _held(facts: Facts) -> Iterator[Finding]:
    """People said no: to everything, to the agent, to its domain, or to the target."""
    stops = _READING if facts.ask.access == "read" else precedence.ORDER
    held = [each for each in facts.on_agent if each.kind in _STOPPING] + [*facts.on_target]
    standing = [each for each in held if each.kind in stops]
    for hold in sorted(standing, key=lambda each: precedence.ORDER.index(each.kind))[:1]:
        yield Finding(CODES[hold.kind], precedence.sentence(hold))


def _unreadable(facts: Facts) -> Iterator[Finding]:
    for reason, mode in facts.faults:
        yield Finding("Unreadable", reason, mode)


def _paused(facts: Facts) -> Iterator[Finding]:
    if facts.ask.spec.get("state") == "paused":
        yield Finding("AgentPaused", f"{facts.ask.agent} is declared to be paused.")


def _session(facts: Facts) -> Iterator[Finding]:
    for policy in facts.policies:
        trust = section(policy.spec, "zeroTrust")
        most = duration(trust.get("maxSessionDuration"))
        if trust.get("enabled") is True and most is not None and facts.ask.session > most:
            reason = f"{policy.name} lets a token be used for {trust['maxSessionDuration']}."
            rule = "zeroTrust/maxSessionDuration"
            yield Finding("SessionTooLong", reason, policy.mode, rule, policy.key)


def _injected(facts: Facts) -> Iterator[Finding]:
    for policy in facts.policies:
        defence = section(policy.spec, "promptInjectionDefense")
        if defence.get("enabled") is False:
            continue
        found = patterns.detected(texts(defence, "detectPatterns"), facts.ask.texts)
        if found:
            own = _DETECTION.get(text(defence.get("onDetection")) or "log", "advise")
            reason = f"The text fits a pattern of {policy.name}: {found}"
            rule = "promptInjectionDefense"
            yield Finding("Injection", reason, weaker(own, policy.mode), rule, policy.key)


def _blocked(facts: Facts) -> Iterator[Finding]:
    for policy in facts.policies:
        block = section(policy.spec, "blocked")
        named = texts(block, "agents")
        if facts.ask.access in texts(block, "operations") and (
            "agents" not in block or facts.ask.agent in named
        ):
            why = text(block.get("reason")) or "operations are blocked for now."
            reason = f"{policy.name} blocks {facts.ask.access}: {why}"
            yield Finding("OperationBlocked", reason, policy.mode, "blocked", policy.key)


def _scoped(facts: Facts) -> Iterator[Finding]:
    """Let data be touched as its scopes say, and what belongs to others not at all."""
    ask, near = facts.ask, _of_target(facts)
    scopes = [(policy, number, each) for policy in near for number, each in _scopes(policy, ask)]
    if any(_lets(scope, ask) for _, _, scope in scopes):
        yield from _asking(scopes, ask)
        return
    for policy, number, _ in sorted(scopes, key=lambda each: not _names(each[2], ask))[:1]:
        reason = f"{policy.name} does not let {ask.agent} {ask.access} {ask.asset}."
        yield Finding("OutsideScope", reason, policy.mode, f"dataScopes/{number}", policy.key)
    if not scopes and ask.target_domain not in ("", "*", ask.domain):
        reason = f"{ask.target} belongs to {ask.target_domain}, and no scope lets {ask.agent} in."
        rule = "dataScopes"
        yield from (Finding("OtherDomain", reason, each.mode, rule, each.key) for each in near[:1])
        if not near:
            yield Finding("OtherDomain", reason, "warn")


def _of_target(facts: Facts) -> list[Policy]:
    wanted = (facts.ask.target_domain, "", "*")
    near = [each for each in facts.policies if each.domain in wanted]
    return sorted(near, key=lambda each: each.domain in ("", "*"))


def _scopes(policy: Policy, ask: Ask) -> Iterator[tuple[int, Document]]:
    for number, each in enumerate(items(policy.spec, "dataScopes")):
        if ask.asset and text(each.get("resource")) == ask.asset:
            yield number, each


def _names(scope: Document, ask: Ask) -> bool:
    """Tell whether a scope is for an agent; one that names nobody is for those of its domain."""
    if "allowedAgents" not in scope:
        return ask.domain == ask.target_domain
    return ask.agent in texts(scope, "allowedAgents")


def _lets(scope: Document, ask: Ask) -> bool:
    allowed = texts(scope, "allowedOperations")
    return _names(scope, ask) and ("allowedOperations" not in scope or ask.access in allowed)


def _asking(scopes: Sequence[tuple[Policy, int, Document]], ask: Ask) -> Iterator[Finding]:
    letting = [each for each in scopes if _lets(each[2], ask)]
    if all(scope.get("requiresApproval") is True for _, _, scope in letting):
        policy = letting[0][0]
        reason = f"{policy.name} asks for a person before {ask.asset} is touched."
        yield Finding("ScopeAsks", reason, policy.mode, asks=True)


def _capable(facts: Facts) -> Iterator[Finding]:
    """Let an agent do what it declares that it can do, and nothing else."""
    ask, declared = facts.ask, facts.ask.spec.get("capabilities")
    if ask.operation in ACCESS or not declared:
        return
    known = [*texts(ask.spec, "capabilities"), *_named(ask.spec)]
    if ask.operation in known:
        return
    reason = f"{ask.agent} does not declare that it can {ask.operation}."
    own = [each for each in facts.policies if each.domain in (ask.domain, "", "*")]
    strict = max(own, key=lambda each: MODES.index(each.mode), default=None)
    if strict is None:
        yield Finding("Undeclared", reason, "warn")
    else:
        yield Finding("Undeclared", reason, strict.mode, "capabilities", strict.key)


def _named(spec: Document) -> list[str]:
    return [text(each.get("name")) for each in items(spec, "capabilities")]


def _spending(facts: Facts) -> Iterator[Finding]:
    if not facts.ask.tokens and not facts.ask.millionths:
        return
    for source, mode, why, key in facts.blocked:
        yield Finding("SpendBlocked", f"{source}: {why}", mode, policy=key)


def _afforded(facts: Facts) -> Iterator[Finding]:
    """Let nothing be spent beyond a limit, or in money that cannot be compared with it."""
    ask, unknown = facts.ask, set()
    for allowance, amount in facts.used:
        if allowance.unit != TOKENS and (reason := _incomparable(ask, allowance)):
            # A budget says so once, however many windows it limits.
            if reason not in unknown:
                yield Finding("CostUnknown", reason, allowance.mode)
            unknown.add(reason)
            continue
        wanted = ask.cost_in(allowance.unit)
        if wanted and amount + wanted > allowance.most:
            yield spent(allowance, amount, wanted)


def _incomparable(ask: Ask, allowance: Allowance) -> str:
    if not ask.priced and ask.tokens:
        return f"Nobody has set a price for this model, and {allowance.source} limits money."
    if ask.millionths and ask.currency != allowance.unit:
        return f"{allowance.source} counts in {allowance.unit}, not in {ask.currency}."
    return ""


def spent(allowance: Allowance, amount: int, wanted: int) -> Finding:
    """Say that a limit would be passed."""
    left = max(0, allowance.most - amount)
    window = allowance.span.window or f"{allowance.span.start} to {allowance.span.end}"
    whose = f" of {allowance.name}" if allowance.holder == "agent" and allowance.budget else ""
    reason = (
        f"{allowance.source}{whose} has {shown(left, allowance.unit)} left ({window}),"
        f" and this takes {shown(wanted, allowance.unit)}."
    )
    code = "ShareSpent" if whose else "BudgetSpent" if allowance.budget else "TokensSpent"
    return Finding(code, reason, allowance.mode, policy=allowance.budget)


def shown(amount: int, unit: str) -> str:
    """Write an amount with its unit."""
    return f"{figure(amount if unit == TOKENS else amount / MILLIONTHS)} {unit}"


def _approval(facts: Facts) -> Iterator[Finding]:
    """Ask a person where the agent, its capability or the target says so."""
    ask = facts.ask
    if ask.access != "read":
        for whose, spec in ((ask.agent, ask.spec), (ask.target, ask.target_spec)):
            if section(spec, "governance").get("requiresApproval") is True:
                yield Finding("ApprovalRequired", f"{whose} asks for a person first.", asks=True)
                return
    for each in items(ask.spec, "capabilities"):
        if text(each.get("name")) == ask.operation and each.get("requiresApproval") is True:
            reason = f"{ask.agent} declares that a person is asked before {ask.operation}."
            yield Finding("CapabilityAsks", reason, asks=True)


GUARDS: Sequence[Guard] = (
    _held,
    _unreadable,
    _paused,
    _session,
    _injected,
    _blocked,
    _scoped,
    _capable,
    _spending,
    _afforded,
    _approval,
)
