"""What would come about: the deeds of a plan, their ways back, and what follows without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from controllers import operations
from controllers.engine.finding_text import shown
from controllers.engine.proposal_lifecycle import UNDO_WINDOW
from controllers.models import Proposal, Step
from controllers.narrative.proposal_text.titles import lowered, phrase
from controllers.narrative.proposal_text.words import STEPS, Word
from controllers.operations import REMOVE, Impossible, Operation
from controllers.operations.local_executor import found, live

# So many fields are named in a sentence; the steps name all.
NAMED = 2
WINDOW_HOURS = int(UNDO_WINDOW.total_seconds() // 3600)


class Field(NamedTuple):
    """One field that is to be something else; what is no plain value is only named."""

    target: str
    path: str
    before: str
    after: str
    plain: bool


class Undo(NamedTuple):
    """How a deed is taken back; `gone` says that it cannot be."""

    text: str
    gone: bool = False


@dataclass(frozen=True)
class Deed:
    """One action of a plan, as it would be done or was done."""

    sequence: int
    title: str
    # Who brings it about: the control plane, an agent, or a machine outside.
    hand: str
    fields: tuple[Field, ...]
    sentence: str
    undo: Undo
    # Why it could not be done as things stand.
    fault: str = ""
    # How one sees that it worked.
    seen: str = ""
    step: Step | None = None

    @property
    def settled(self) -> bool:
        """Whether it is so already, so that nothing would be declared anew."""
        declares = self.hand == "the control plane" and self.step is None
        return declares and not self.fields and not self.fault

    @property
    def step_word(self) -> Word:
        """How it stands, once it was begun."""
        return STEPS[self.step.state] if self.step else STEPS["waiting"]

    @property
    def plain(self) -> list[Field]:
        """The fields whose values can be shown."""
        return [each for each in self.fields if each.plain]


def deeds(proposal: Proposal, now: datetime, steps: Iterable[Step] = ()) -> list[Deed]:
    """Return what a plan would do as things stand, or did."""
    done = {each.sequence: each for each in steps if not each.undoes}
    return [
        deed(proposal, each, done.get(each.get("sequence", 0)), now) for each in proposal.actions
    ]


def deed(proposal: Proposal, action: Mapping[str, Any], step: Step | None, now: datetime) -> Deed:
    """Return one action, with the fields it would change."""
    name = str(action.get("operation", ""))
    operation = operations.find(name)
    sequence = action.get("sequence", 0)
    title = phrase(proposal.resource.name, action)
    if operation is None:
        lost = f"Nobody knows the operation {name}."
        return Deed(sequence, title, "", (), "", Undo("Cannot be undone", gone=True), lost)
    hand = who(proposal, operation, step)
    fault = ""
    fields: tuple[Field, ...] = ()
    if step is not None and step.before:
        fields = tuple(written(each) for each in step.before)
    elif hand == "the control plane" and step is None:
        try:
            fields = planned(proposal, operation, action.get("parameters") or {}, now)
        except Impossible as error:
            fault = str(error)
    back = way_back(operation, bool(action.get("reversible")), hand)
    return Deed(
        sequence, title, hand, fields, operation.sentence, back, fault, operation.seen, step
    )


def who(proposal: Proposal, operation: Operation, step: Step | None) -> str:
    """Name who brings it about."""
    if step is not None:
        kind, agent, name = step.executor, step.agent, ""
    else:
        executor = operations.carrier_of(operation, proposal)
        kind, agent = executor.kind, executor.agent
        name = str(executor.endpoint or "")
    if kind == "control-plane":
        return "the control plane"
    if kind in ("agent", "controller"):
        return agent or "its agent"
    return name or "a machine outside"


def planned(
    proposal: Proposal, operation: Operation, parameters: Mapping[str, Any], now: datetime
) -> tuple[Field, ...]:
    """Work out which fields would change, beside what they are now."""
    changes = operations.plan(operation, proposal.resource, parameters, now=now)
    target = (proposal.resource.kind, proposal.resource.name)
    others = [each[:2] for each in changes if each[:2] != target]
    rows = {**live(others), target: proposal.resource} if changes else {}
    return tuple(
        field(each, found(rows[each.kind, each.name], each.path)[1], each.value)
        for each in changes
    )


def written(entry: Mapping[str, Any]) -> Field:
    """Return a field out of a rollback point: what was there, and what was written."""
    change = operations.FieldChange(entry["kind"], entry["name"], entry["path"], None)
    return field(change, entry["value"] if entry["had"] else None, entry["wrote"])


def field(change: operations.FieldChange, before: Any, after: Any) -> Field:
    """Return one change of one field."""
    plain = not isinstance(before, dict | list) and not isinstance(after, dict | list)
    new = "nothing" if after is REMOVE else shown(after) if plain else ""
    return Field(change.name, change.path, shown(before) if plain else "", new, plain)


def way_back(operation: Operation, reversible: bool, hand: str) -> Undo:
    """Say how an operation is taken back."""
    if not (reversible and operation.reversible):
        return Undo("Cannot be undone", gone=True)
    if hand == "the control plane":
        return Undo("Undo: set back")
    opposite = operations.find(operation.opposite)
    return Undo(f"Undo: {opposite.title.lower()}") if opposite else Undo("Nothing to undo")


def if_approved(proposal: Proposal, planned: Sequence[Deed]) -> str:
    """Say what an approval brings about, with the figures and the way back."""
    said = [consequence(each) for each in planned]
    return " ".join([*dict.fromkeys(said), return_of(proposal)])


def consequence(deed: Deed) -> str:
    """Say what one deed changes."""
    if deed.fault:
        return f"As things stand it cannot be done: {deed.fault}"
    if deed.settled:
        return "It is so already: nothing would change."
    if not deed.plain:
        return f"{deed.sentence} Expected: {lowered(deed.seen)}"
    said = [
        f"Sets {each.path.partition('.')[2]} of {each.target} from {each.before} to {each.after}."
        for each in deed.plain[:NAMED]
    ]
    more = len(deed.plain) - NAMED
    return " ".join([*said, f"And {more} more of this kind."] if more > 0 else said)


def return_of(proposal: Proposal) -> str:
    """Say how long it can be undone."""
    if not proposal.reversible:
        return "It cannot be undone."
    return f"It can be undone for {WINDOW_HOURS} h after it ran."


def if_nothing(proposal: Proposal) -> str:
    """Say what follows when nobody decides, before the time that ends it."""
    said = [str(each["otherwise"]) for each in proposal.actions if each.get("otherwise")]
    return " ".join(dict.fromkeys(said)) or "Everything stays as it is."
