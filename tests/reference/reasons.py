"""The page of reason codes: every code that the source gives, with its sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from controllers.access.roles import interests
from controllers.engine import errors
from controllers.engine.report import ENDINGS, ERRORS, VERDICTS
from tests.reference.scanning import Call, calls
from tests.reference.writing import code, table

HEAD = """\
# Reason codes

Programs read the code, people the sentence. Made by `python -m tests.catalogue` of the source; do
not edit it. What stands in [brackets] is put in. A code that ends with `…` goes on with a word,
such as a mode or a role.
"""
WORD = re.compile(r"[A-Za-z…]+")
# What is said of a code whose sentence is made elsewhere, or differs each time.
SAID = {
    "AgentOverspend": "An agent has used more than its share of a budget.",
    "AlertRule": "The alert rule of an event rings.",
    "BreakerOpen": "The controller stopped after too many failed cycles, or somebody tripped it.",
    "BudgetExceeded": "A budget is used up.",
    "BudgetThreshold": "A budget has reached a threshold.",
    "CannotBeAsked": "A person should be asked, and the question cannot be put before people.",
    "CannotJudge": "The resource cannot be judged now, so what was approved waits.",
    "CheckFailed": "What the hook checks does not hold.",
    "CostUnknown": "The model has no price, or the cost is in another currency than the limit.",
    "FieldMissing": "A field that the hook reads is not there.",
    "Frozen": "A freeze covers it.",
    "HookFailed": "A check before the plan does not hold.",
    "InvalidExpression": "The expression of the hook is none.",
    "Mode…": "No guard stands in the way: the mode decides.",
    "NotDecidable": "What the hook asks cannot be decided.",
    "Overridden": "A person's override covers it.",
    "Paused": "A person has paused it, its controller or its domain.",
    "RefNotFound": "A resource that the hook reads is not there.",
    "Skipped": "The hook checks nothing.",
    "StoppedAll": "A person has stopped everything.",
    "TimedOut": "A cycle ran out of its time.",
    "TooManyResources": "The hook would have to look at too many resources.",
    "Unfit": "The operation is not known, or lacks what it needs.",
    "Unreadable": "What the answer depends on cannot be read.",
}


class Sort(NamedTuple):
    """Codes of one sort: which call gives them, and where the code and the sentence stand."""

    title: str
    about: str
    call: str
    code: tuple[int, str]
    words: tuple[int, str]
    below: tuple[str, ...] = ("controllers/",)

    def calls(self) -> Iterator[Call]:
        """Return the calls that give them; pages only repeat what others say."""
        found = calls(self.call, self.below)
        return (each for each in found if not each.file.startswith("controllers/web/"))


SORTS = (
    Sort(
        "The gate",
        "Why an action runs, waits, is only noted or is refused: `policy.code` and `held` of a "
        "proposal, `disposition` of a plan.",
        "Ruling",
        (1, "code"),
        (2, "reason"),
    ),
    Sort(
        "Admission",
        "Why an agent may not, only with a warning, or only after a person.",
        "Finding",
        (0, "code"),
        (1, "reason"),
        ("controllers/engine/admission.py", "controllers/admission/"),
    ),
    Sort(
        "Permits",
        "Why a permit does not count.",
        "Objection",
        (0, "code"),
        (1, "reason"),
    ),
    Sort(
        "People",
        "Why somebody may not: `code` of a 403, and of `mayDecide`.",
        "denied",
        (0, "code"),
        (1, "message"),
    ),
    Sort(
        "Telemetry",
        "What is wrong with an event: `flags`.",
        "Finding",
        (0, "code"),
        (2, "message"),
        ("controllers/telemetry/",),
    ),
    Sort(
        "Alerts",
        "Why people were told: `reason` of an alert.",
        "Notice",
        (1, "reason"),
        (4, "message"),
    ),
    Sort(
        "Hooks",
        "What a hook says that did not simply pass.",
        "HookResult",
        (3, "reason"),
        (9, ""),
    ),
)


def page() -> str:
    """Write the page."""
    return HEAD + "".join(map(section, SORTS)) + convergence() + failures() + conditions()


def section(sort: Sort) -> str:
    """Write the codes of one sort."""
    rows = [(code(key), text) for key, text in sorted(said(sort).items())]
    return f"\n## {sort.title}\n\n{sort.about}\n\n{table(('Code', 'What it says'), rows)}"


@cache
def said(sort: Sort) -> dict[str, str]:
    """Return every code of a sort, with its sentences."""
    found = gathered(
        (key, text)
        for call in sort.calls()
        for key in keys(call, sort.code)
        for text in [*call.words(*sort.words)] or [""]
    )
    if sort.call == "denied":
        found |= {key: [text] for key, text in interests.SENTENCES.items()}
    return {key: SAID.get(key) or " / ".join(texts) for key, texts in found.items()}


def keys(call: Call, place: tuple[int, str]) -> Iterator[str]:
    """Return the codes that a call may give."""
    for each in call.words(*place):
        key = re.sub(r"\[[^]]*\]", "…", each)
        if WORD.fullmatch(key):
            yield key


def gathered(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the sentences of each code, each once."""
    found: dict[str, list[str]] = {}
    for key, text in pairs:
        kept = found.setdefault(key, [])
        if text and text not in kept:
            kept.append(text)
    return found


def convergence() -> str:
    """Write how a resource stands with its controller, and why no more is tried."""
    ways = [(code(reason), f"`{status}`", state) for state, (status, reason) in VERDICTS.items()]
    ways += [(code(each), "`Unknown`", "it could not be judged") for each in ERRORS]
    ends = [(code(key), text) for key, text in ENDINGS.items()]
    return (
        "\n## Standing\n\nThe condition that each controller keeps on what it watches.\n\n"
        + table(("Reason", "Status", "The resource is"), ways)
        + "\nWhy nothing more is tried about a drift:\n\n"
        + table(("Reason", "What it says"), ends)
    )


def failures() -> str:
    """Write the classes of errors."""
    found = [
        (code(each.__name__), (each.__doc__ or "").strip())
        for each in errors.EngineError.__subclasses__()
        if each.__module__ == errors.__name__
    ]
    about = "What can go wrong in a cycle or with work: `error.class`."
    return f"\n## Errors\n\n{about}\n\n{table(('Class', 'What it says'), found)}"


def conditions() -> str:
    """Write the reasons of conditions that the product sets."""
    rows = {
        (code(kind), code(reason), shown(call.words(1, "status")), " / ".join(call.words(3, "")))
        for call in calls("Condition", ("controllers/", "resources/"))
        for kind in call.words(0, "type")
        for reason in keys(call, (2, "reason"))
    }
    heads = ("Condition", "Reason", "Status", "What it says")
    about = "Reasons of conditions that the product sets."
    return f"\n## Conditions\n\n{about}\n\n{table(heads, sorted(rows))}"


def shown(statuses: list[str]) -> str:
    """Write the statuses that a condition may have."""
    return ", ".join(map(code, statuses))
