"""Try a rule: another threshold, other weights or another mode, against what is kept."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from django.http import HttpResponse

from controllers.engine.configuration import MODES, mode_of
from controllers.engine.drift import WEIGHTS
from controllers.engine.terms import THRESHOLD
from controllers.narrative import proposal_text
from controllers.trust import policy_replay
from controllers.trust.policy_replay import SHOWN, Changed, Replay
from controllers.web.base.page import Page, PageRequest
from controllers.web.controllers.cycle_page import found
from resources.documents.kind import Document
from resources.documents.problems import Problem, invalid
from resources.tables.models import Resource
from resources.usecases.access_rules import page


class Weight(NamedTuple):
    """One dimension: what it weighs, and what somebody typed."""

    name: str
    now: float
    typed: str


class Shown(NamedTuple):
    """One list of proposals, as it is shown."""

    title: str
    hint: str
    rows: list[tuple[Changed, str]]
    more: int


class ReplayPage(Page):
    """What another rule would have made of a controller's past; it changes nothing."""

    rights = page()
    template = "controllers/replay.html"
    section = "controllers"

    def __init__(self, look: PageRequest, name: str) -> None:
        super().__init__(look)
        self.name, self.problem, self.status = name, "", 200

    def respond(self, status: int = 200) -> HttpResponse:
        """Answer with the form, and with what came of what was typed."""
        _ = self.found
        return super().respond(self.status if self.problem else status)

    @cached_property
    def row(self) -> Resource:
        """The controller as it is declared."""
        return found(self.name)

    @property
    def threshold(self) -> float:
        """The threshold in force."""
        declared = self.row.spec.get("driftThreshold")
        return declared if isinstance(declared, int | float) else THRESHOLD

    @property
    def mode(self) -> str:
        """The mode that is chosen, or in force."""
        return self.look.query.get("mode", "") or mode_of(self.row.spec)

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes there are."""
        return MODES

    @property
    def typed(self) -> str:
        """The threshold that somebody typed."""
        return self.look.query.get("threshold", "")

    @cached_property
    def weights(self) -> list[Weight]:
        """Each dimension with what it weighs now."""
        declared = (self.row.spec.get("drift") or {}).get("weights") or {}
        return [
            Weight(name, declared.get(name, usual), self.look.query.get(name, ""))
            for name, usual in WEIGHTS.items()
        ]

    @property
    def asked(self) -> bool:
        """Whether somebody wants to try something."""
        return "threshold" in self.look.query

    @cached_property
    def patch(self) -> Document:
        """What is to be tried; an empty field leaves what is declared."""
        given = {each.name: number(each.typed) for each in self.weights if each.typed.strip()}
        mode = {} if self.mode == mode_of(self.row.spec) else {"enforcementMode": self.mode}
        threshold = number(self.typed) if self.typed.strip() else None
        return policy_replay.wanted(threshold, given, mode)

    @cached_property
    def found(self) -> Replay | None:
        """What would have been different."""
        if not self.asked:
            return None
        try:
            return policy_replay.run(self.row, self.patch, self.now)
        except Problem as problem:
            self.problem, self.status = problem.message, problem.status
            return None

    @cached_property
    def lists(self) -> list[Shown]:
        """The lists of proposals, those that contradict people first."""
        if self.found is None:
            return []
        given = (
            ("Contradicts people", "What somebody said would not have counted.", "contradictions"),
            ("Would vanish", "They would not have been proposed.", "vanishes"),
            ("Would run without asking", "People were asked about these.", "unasked"),
            ("Would be asked about", "These ran without asking.", "asked"),
        )
        rows = [(title, hint, getattr(self.found, name)) for title, hint, name in given]
        who = proposal_text.names(
            {each.decided_by for _, _, some in rows for each in some[:SHOWN]}
        )
        return [
            Shown(
                title,
                hint,
                [(each, who.get(each.decided_by, "")) for each in some[:SHOWN]],
                max(0, len(some) - SHOWN),
            )
            for title, hint, some in rows
        ]

    @property
    def appears(self) -> list[policy_replay.Appears]:
        """What would have been proposed besides."""
        return self.found.appears[:SHOWN] if self.found else []


def number(text: str) -> float:
    """Read a number that somebody typed."""
    try:
        value = float(text)
    except ValueError:
        raise invalid(f"“{text[:40]}” is not a number.") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise invalid(f"“{text[:40]}” is not a number.")
    return value
