"""Pages made of code: `python -m tests.catalogue` writes them all in `docs/`.

This module makes the table of operations, `tests.measured` the page of metrics, `tests.reference`
the rest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    from controllers.operations import Operation

TABLE = Path(__file__).resolve().parent.parent / "docs" / "operations.md"
HEAD = """\
# Operations

What an action can do. Made by `python -m tests.catalogue` of `controllers/operations/`; do not
edit it.

- **The control plane** carries an operation out by declaring it: it changes the spec (of decisions
  and memories, which it keeps itself, also the state), and agents follow what is declared.
- **The agent** asks for its work, does it and reports; of a workflow that is its `orchestrator`,
  or else the agent of the current step.
- What is done to a run that is kept here is done by the control plane, too; a run never goes back.
- **The loop** tells people by itself; that is never proposed.
- An outside machine that an administrator has entered as an endpoint comes before all of them.

*Two people* means that two have to approve it, whatever the mode.

| Operation | What it does | For | Kind | Risk | Reversible | Who carries it out | How it is \
undone | How success is seen |
|---|---|---|---|---|---|---|---|---|
"""


def table(operations: Sequence[Operation]) -> str:
    """Write the whole page."""
    return HEAD + "".join(row(each) for each in operations)


def row(operation: Operation) -> str:
    """Write one line."""
    return f"| {' | '.join(cells(operation))} |\n"


def cells(operation: Operation) -> Iterator[str]:
    """Write what is said of one operation."""
    yield f"`{operation.name}`"
    yield operation.sentence
    yield "every kind" if len(operation.targets) > 8 else ", ".join(operation.targets)
    yield operation.kind
    yield operation.risk + (", two people" if people(operation) > 1 else "")
    yield "yes" if operation.reversible else "no"
    yield carried_out(operation)
    yield undone(operation)
    yield operation.seen


def people(operation: Operation) -> int:
    """Return how many have to approve."""
    grave = operation.redeclares or operation.destructive or not operation.reversible
    return 2 if grave else 1


def carried_out(operation: Operation) -> str:
    """Say who does it."""
    if operation.tells:
        return "the loop"
    return "the control plane" if operation.executor == "control-plane" else "the agent"


def undone(operation: Operation) -> str:
    """Say how it is taken back."""
    if operation.tells:
        return "nothing to undo"
    if not operation.reversible:
        return "it cannot be undone"
    if operation.on_runs and not operation.opposite:
        return "the run can still be aborted"
    if operation.executor == "control-plane":
        return "what was declared before is declared again"
    return f"`{operation.opposite}`" if operation.opposite else "nothing to undo"


def page() -> str:
    """Write the page of the operations there are."""
    from controllers import operations

    return table(operations.ALL)


def main() -> int:
    """Write every page."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ioa_site.settings")
    django.setup()
    from tests.reference import pages

    pages.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
