"""What an agent asks and what is said to it, as plain values."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal, NamedTuple

from controllers.engine.allowances import TOKENS, Allowance
from controllers.engine.precedence import Standing
from controllers.engine.types import Document, Mode

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
