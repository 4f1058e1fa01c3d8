"""The words a sentence about an entry is made of; what an entry does not say is left out."""

from __future__ import annotations

from collections.abc import Mapping

from controllers import operations
from controllers.engine.report import ENDINGS
from controllers.narrative.event_text.agents import LONGEST_REASON, AgentsWords
from controllers.narrative.event_text.spelled_names import field, listed, moment, named, shortly
from resources.documents import kinds

OUTCOMES: Mapping[str, str] = {
    "converged": "all on target",
    "drift_reported": "some drift",
    "partial": "some could not be looked at",
    "hook_skipped": "nothing planned, a check does not hold",
    "failed": "it failed",
    "timed_out": "it took too long",
    "superseded": "another process went on with it",
    "interrupted": "it was interrupted",
    "lost": "its process was lost",
}


class Words(AgentsWords):
    """What a sentence may ask about one entry, by name."""

    @property
    def event(self) -> str:
        """The name of the event."""
        return self.entry.event

    @property
    def quote(self) -> str:
        """What was said, in its own words."""
        return self.text("reason") or self.text("why")

    @property
    def because(self) -> str:
        """The reason that a machine gives."""
        said = self.quote or self.text("error") or self.text("detail")
        return "" if not said or self.by_person else f": {said[:LONGEST_REASON]}"

    @property
    def refusal(self) -> str:
        """Why a person may not, in the words of what refused them."""
        return f": {self.text('detail')[:LONGEST_REASON]}" if self.text("detail") else ""

    @property
    def file(self) -> str:
        """What was taken out."""
        return self.text("file") or "a file"

    @property
    def filters(self) -> str:
        """What narrowed a file: " (domain growth, risk low)"."""
        said = self.payload.get("filters")
        told = (
            [f"{name} {value}" for name, value in said.items()] if isinstance(said, dict) else ()
        )
        return f" ({', '.join(told)[:LONGEST_REASON]})" if told else ""

    @property
    def by_person(self) -> bool:
        """Whether a person did it."""
        return self.entry.actor.startswith("person/")

    @property
    def it(self) -> str:
        """What it is about, shortly: "P-7", "growth-optimizer", "everything"."""
        kind, _, name = self.entry.subject.partition("/")
        if kind == "proposal":
            return f"P-{name}"
        if kind == "person":
            return named(self.entry.subject, self.names)
        return "everything" if kind == "organisation" else name or kind

    @property
    def on(self) -> str:
        """The resource a proposal is for: " on growth-optimizer"."""
        name = self.text("resource").partition("/")[2]
        return f" on {name}" if name else ""

    @property
    def own(self) -> str:
        """ "its" or "their" when somebody speaks of itself, or else whose it is."""
        if self.entry.actor == self.entry.subject:
            return "their" if self.by_person else "its"
        return f"{self.it}'s"

    @property
    def away(self) -> str:
        """Who was signed out: oneself, or somebody by an administrator."""
        return "out" if self.entry.actor == self.entry.subject else f"{self.it} out"

    @property
    def changed(self) -> str:
        """The fields that changed: ": tokenBudget.maxDaily and 2 more"."""
        found = self.payload.get("changed")
        fields = [field(each) for each in found if isinstance(each, str)] if found else []
        return f": {listed(fields)}" if fields else ""

    @property
    def condition(self) -> str:
        """A condition and what it says: "Ready False, Starting"."""
        said = f"{self.text('type')} {self.text('status')}"
        return f"{said}, {self.text('reason')}" if self.text("reason") else said

    @property
    def owner(self) -> str:
        """Who answers for something."""
        owner = self.text("owner")
        return self.names.get(f"person/{owner}", owner.partition("/")[2] or owner or "nobody")

    @property
    def trust(self) -> str:
        """What a controller may do alone: "Throttle in growth"."""
        found = operations.find(self.text("operation"))
        named = found.title if found else self.text("operation")
        return f"{named} in {self.text('domain') or 'no domain'}"

    @property
    def score(self) -> str:
        """A drift beside its limit: ": score 0.49, limit 0.2"."""
        score, limit = self.number("driftScore"), self.number("threshold")
        if score is None:
            return ""
        return f": score {score:.2f}" + (f", limit {limit:g}" if limit is not None else "")

    @property
    def ending(self) -> str:
        """Why nothing more is done about a drift."""
        return f". {ENDINGS.get(self.text('reason'), 'Stopped.')}"

    @property
    def action(self) -> str:
        """What was done: "sent an alert about", "did throttle on"."""
        operation = self.text("operation") or self.text("actionType")
        if operation in ("alert", "escalate", "notify"):
            return "told people about"
        found = operations.find(operation)
        return f"did “{found.title if found else operation or 'something'}” on"

    @property
    def result(self) -> str:
        """How an action ended, unless it went well."""
        failed = self.text("result") == "failure"
        return f": it failed. {self.text('reason')}".rstrip() if failed else ""

    @property
    def watched(self) -> str:
        """What a look is about: "23 agents"."""
        number, kind = self.number("resourceCount"), kinds.by_name(self.text("targetKind"))
        words = kind.plural.lower() if kind else "resources"
        return f"{number:,.0f} {words}" if number is not None else words

    @property
    def cycle(self) -> str:
        """How a look ended: "cycle 4,127 in 1.9 s: 8 actions"."""
        number, lasted = self.number("cycle"), self.number("durationMs")
        said = f"cycle {number:,.0f}" if number is not None else "a cycle"
        if lasted is not None:
            said += f" in {lasted / 1000:.1f} s" if lasted >= 1000 else f" in {lasted:.0f} ms"
        actions, outcome = self.number("actionsPerformed") or 0, self.text("outcome")
        if outcome == "acted":
            return f"{said}: {actions:,.0f} action{'' if actions == 1 else 's'}"
        return f"{said}: {OUTCOMES[outcome]}" if outcome in OUTCOMES else said

    @property
    def message(self) -> str:
        """What a controller notes."""
        return f": {self.text('message')[:LONGEST_REASON]}" if self.text("message") else ""

    @property
    def plan(self) -> str:
        """What a proposal would do: "Throttle growth-optimizer"."""
        actions = self.payload.get("actions")
        first = actions[0] if isinstance(actions, list) and actions else {}
        found = operations.find(str(first.get("operation", "")))
        return f"{found.title if found else 'Change'}{self.on.replace(' on ', ' ', 1)}"

    @property
    def asks(self) -> str:
        """How a proposal is made: it runs, it asks, it suggests."""
        lane = self.text("lane")
        words = {"run": "acts on its own", "recommend": "suggests"}
        return words.get(lane, "asks" if not self.by_person else "proposed")

    @property
    def votes(self) -> str:
        """How many agree: ", 1 of 2"."""
        heard, people = self.number("votes"), self.number("people")
        return f", {heard:g} of {people:g}" if heard is not None and (people or 0) > 1 else ""

    @property
    def behalf(self) -> str:
        """For whom a deputy speaks."""
        who = self.text("behalf")
        return f" for {named(who, self.names)}" if who else ""

    @property
    def until(self) -> str:
        """Until when: " until 4 Mar, 10:15 UTC"."""
        for name in ("until", "endsAt", "expiresAt", "reviewBy"):
            if written := moment(self.text(name)):
                return f" until {written}"
        return ""

    @property
    def hold(self) -> str:
        """What a hold does: "held tokenBudget.maxDaily of x at 180,000", "paused x"."""
        kind, path = self.text("kind"), field(self.text("path").replace(".", "/"))
        if kind == "override" and self.payload.get("value") is not None:
            return f"held {path} of {self.it} at {shortly(self.payload['value'])}"
        if kind == "override":
            return f"holds {path + ' of ' if path else ''}{self.it} as it is"
        return f"{'froze' if kind == 'freeze' else 'paused'} {self.it}"

    @property
    def instead(self) -> str:
        """What a person has done instead: ": tokenBudget.maxDaily is 90,000"."""
        said = self.payload.get("instead")
        given = said if isinstance(said, dict) else self.payload
        path, value = given.get("path"), given.get("value")
        if not isinstance(path, str) or not path or value is None:
            return ""
        return f": {field(path.replace('.', '/'))} is {shortly(value)}"

    @property
    def operation(self) -> str:
        """The operation of a step."""
        found = operations.find(self.text("operation"))
        return f" “{found.title}”" if found else ""

    @property
    def to(self) -> str:
        """Into whose hands a step went."""
        return self.text("to").partition("/")[2] or self.text("to") or "a machine outside"

    @property
    def rung(self) -> str:
        """Whom an escalation tells: "growth-lead"."""
        return self.text("role") or "more people"

    @property
    def successor(self) -> str:
        """What took the place of a proposal."""
        number = self.number("supersededBy")
        return f" by P-{number:.0f}" if number is not None else ""

    @property
    def right(self) -> str:
        """A role and where it counts: "approver in growth"."""
        where = f" in {self.text('domain')}" if self.text("domain") else ""
        return f"{self.text('role').lower()}{where}"

    @property
    def member(self) -> str:
        """Who joined or left a group."""
        return named(self.text("person"), self.names)

    @property
    def formerly(self) -> str:
        """What a group was called before: ", formerly board"."""
        former = self.text("formerly")
        return f", formerly {former}" if former != self.text("name") else ""

    @property
    def deputy(self) -> str:
        """Who stands in for somebody."""
        return named(self.text("deputy"), self.names)

    @property
    def count(self) -> str:
        """How many."""
        number = self.number("resources") if "count" not in self.payload else self.number("count")
        return f"{number:,.0f}" if number is not None else "some"
