"""The checks around each cycle: what each asks, and what it said in the last one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from controllers.engine.terms import Controller, Hook
from controllers.models import Cycle

# Why a check could not be decided.
UNDECIDED: Mapping[str, str] = {
    "InvalidExpression": "it cannot be read",
    "RefNotFound": "nothing is there to check",
    "TooManyResources": "there is too much to check",
    "FieldMissing": "a field is not reported",
    "NotDecidable": "the values cannot be compared",
}
# A class of the list, and an icon.
PASSED, FAILED = ("", "circle-check"), ("bad", "circle-alert")
DOUBTFUL, WAITING = ("wait", "circle-alert"), ("todo", "circle-dot")


@dataclass(frozen=True)
class HookRow:
    """A hook as the page shows it."""

    name: str
    action: str
    when: str
    # A class of the list: nothing when it passed.
    tone: str
    icon: str
    text: str


def checks_of(controller: Controller, last: Cycle | None) -> list[HookRow]:
    """Return the hooks of a controller, with what its last cycle says of each."""
    before = [asked(hook, last) for hook in controller.before]
    return [*before, *(followed(hook, last) for hook in controller.after)]


def asked(hook: Hook, last: Cycle | None) -> HookRow:
    """Say what a check before the plan found."""
    given = [each for each in last.hooks if each["name"] == hook.name] if last else []
    failed = [each for each in given if each["passed"] is False]
    unknown = [each for each in given if each["passed"] is None]
    sign, text = PASSED, f"Passed for all {len(given):,} above the limit."
    if hook.fault:
        sign, text = FAILED, hook.fault
    elif failed:
        sign, text = FAILED, f"Failed for {len(failed):,}: {observed(failed[0])}."
    elif unknown:
        why = UNDECIDED.get(unknown[0]["reason"], "it is not known")
        sign, text = DOUBTFUL, f"Not known for {len(unknown):,}: {why}."
    elif not given:
        sign, text = WAITING, "Not asked: nothing was above the limit."
    elif len(given) == 1:
        text = f"Passed: {observed(given[0])}."
    if hook.fail_open and sign == FAILED:
        sign = DOUBTFUL
    return HookRow(hook.name, hook.action, "before", *sign, text)


def followed(hook: Hook, last: Cycle | None) -> HookRow:
    """Say whether what comes after a cycle was done."""
    sign, text = WAITING, "Skipped: it does nothing here."
    if hook.fault:
        sign, text = FAILED, hook.fault
    elif hook.refresh or hook.event:
        sign = PASSED if last else WAITING
        text = "Done with the last cycle." if last else "Comes with the first cycle."
    return HookRow(hook.name, hook.action, "after", *sign, text)


def observed(result: Mapping[str, Any]) -> str:
    """Write what a check saw, and where."""
    seen = ", ".join(f"{path} is {value}" for path, value in result["observed"].items())
    return f"{result['target']}, {seen}" if seen else str(result["target"])
