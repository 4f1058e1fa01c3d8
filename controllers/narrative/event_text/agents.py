"""The words about what agents do: their work, their runs, what they tell, ask and spend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resources.tables.models import LedgerEvent

LONGEST_REASON = 300


class AgentsWords:
    """What a sentence may ask about an entry on agents' work, runs, events and spending."""

    def __init__(self, entry: LedgerEvent, names: Mapping[str, str]) -> None:
        self.entry, self.names = entry, names
        self.payload: Mapping[str, Any] = entry.payload or {}

    def __getitem__(self, name: str) -> str:
        """Return a word for a template."""
        return str(getattr(self, name))

    def text(self, name: str) -> str:
        """Return what the payload says under a name, if it says a word."""
        found = self.payload.get(name)
        return found if isinstance(found, str) else ""

    def number(self, name: str) -> float | None:
        """Return a figure of the payload."""
        found = self.payload.get(name)
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None

    @property
    def percent(self) -> str:
        """How far work has come: " 40%", or " part of the way"."""
        number = self.number("percent")
        return f" {number:.0f}%" if number is not None else " part of the way"

    @property
    def note(self) -> str:
        """What whoever works says, quoted."""
        said = self.text("note")
        return f": “{said[:LONGEST_REASON]}”" if said else ""

    @property
    def tried(self) -> str:
        """What a token tried to do: "POST /api/v1/apply"."""
        return self.text("tried") or "something"

    @property
    def run(self) -> str:
        """The number of a run."""
        number = self.number("run")
        return f"{number:.0f}" if number is not None else ""

    @property
    def step(self) -> str:
        """The name of a step of a run, or of its undoing."""
        undoing = "the undoing of " if self.payload.get("undoes") is True else ""
        return undoing + (self.text("stepName") or "a step")

    @property
    def named(self) -> str:
        """The event an agent told."""
        return self.text("eventName") or "an event"

    @property
    def broken(self) -> str:
        """What of a contract was not kept: "schema, 3 times"."""
        times = self.number("count") or 1
        return self.text("violation") + (f", {times:,.0f} times" if times > 1 else "")

    @property
    def acted(self) -> str:
        """What became of it: "it was refused"."""
        return f"it was {self.text('action') or 'noted'}"

    @property
    def rule(self) -> str:
        """What an alert rule says."""
        return self.text("alertRule")[:LONGEST_REASON]

    @property
    def does(self) -> str:
        """What an agent asks to do: "write customer-ledger"."""
        target = self.text("resource").partition("/")[2]
        return f"{self.text('operation') or 'act'} {target}".rstrip()

    @property
    def cautioned(self) -> str:
        """What stood against something that was allowed: ", against 2 warnings"."""
        found = self.payload.get("warnings")
        count = len(found) if isinstance(found, list) else 0
        return f", against {count} warning{'' if count == 1 else 's'}" if count else ""

    @property
    def pattern(self) -> str:
        """What a policy found in a text."""
        return f": {self.text('pattern')[:LONGEST_REASON]}" if self.text("pattern") else ""

    @property
    def amount(self) -> str:
        """What was spent: "1,500 tokens in 3 calls"."""
        tokens, calls = self.number("tokens") or 0, self.number("records") or 0
        return f"{tokens:,.0f} tokens in {calls:,.0f} call{'' if calls == 1 else 's'}"
