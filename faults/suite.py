"""The suite: rows one after the other in one world, each judged by the independent checker."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from faults import checker
from faults.checker import Breach
from faults.history import busyness, moment
from faults.run import Minimum, Row, Run, counts
from faults.servers import Unavailable
from faults.world import World

Verdict = Literal["green", "VOID", "BREACH", "not shown"]
# Patience of what was held, leases of calls and of cycles, and a round of the workers.
SETTLE_SECONDS = 110.0
INTERRUPTED = "It was not run: the suite was interrupted."


class Plan(NamedTuple):
    """What is run, and for how long."""

    rows: tuple[Row, ...]
    quick: bool = False
    minutes: float | None = None
    seed: int = 1
    # Where to leave what was found, for whoever wants to look.
    keep: Path | None = None


@dataclass
class Result:
    """What came of one row."""

    row: Row
    done: str
    counted: dict[str, int]
    breaches: list[str]
    seconds: float
    missing: str = ""
    window: tuple[float, float] = (0.0, 0.0)
    short: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """Say whether the promises held; too little traffic is no proof."""
        if self.breaches:
            return "BREACH"
        if self.missing:
            return "not shown"
        return "VOID" if self.short else "green"


class Suite:
    """Runs rows; the world is made for the first that needs one."""

    def __init__(self, plan: Plan, tell: Callable[[str], None]) -> None:
        self.plan, self.tell = plan, tell
        self.random = random.Random(plan.seed)  # noqa: S311
        self.world: World | None = None
        self.known: set[Breach] = set()

    def run(self) -> list[Result]:
        """Run every row, and say what came of each."""
        results: list[Result] = []
        try:
            with suppress(KeyboardInterrupt):
                self.go_through(results)
            self.finish(results)
        finally:
            if self.world is not None:
                if self.plan.keep is not None:
                    self.world.keep_in(self.plan.keep)
                self.world.close()
        done = {each.row.name for each in results}
        rest = [each for each in self.plan.rows if each.name not in done]
        return results + [Result(each, "", {}, [], 0.0, INTERRUPTED) for each in rest]

    def go_through(self, results: list[Result]) -> None:
        """Run one row after the other; whoever interrupts it still gets what was found."""
        for row in self.plan.rows:
            self.tell(f"{row.name} {row.fault}")
            results.append(self.one(row))
            said = " ".join([results[-1].verdict, *results[-1].breaches[:3]])
            self.tell(f"{row.name} {said}")

    def one(self, row: Row) -> Result:
        """Run one row and judge it."""
        run = self.prepared(row)
        try:
            row.act(run)
        except Unavailable as error:
            run.missing = str(error)
        except Exception as error:
            run.breach(f"The row itself broke: {type(error).__name__}: {str(error)[:300]}")
        run.ended = moment()
        result = Result(row, run.done, run.counted, run.breaches, run.ended - run.began)
        result.window = (run.since, time.time())
        result.missing = run.missing
        if row.needs == "world":
            self.judge(run, result)
        result.counted["faults"] = run.faults
        result.short = short(row.minimum, result.counted) if not run.missing else []
        return result

    def prepared(self, row: Row) -> Run:
        """Make what a row needs."""
        seconds = row.quick * min(2.0, busyness()) if self.plan.quick else row.thorough
        if self.plan.minutes is not None:
            seconds = self.plan.minutes * 60
        if row.needs == "world":
            if self.world is None:
                self.tell("starting servers, web, workers and beat")
                world = World()
                world.__enter__()
                self.world = world
            self.world.heal()
        drawn = random.Random(self.random.randrange(2**32))  # noqa: S311
        return Run(self.world, self.plan.quick, seconds, drawn, self.tell, row.minimum)

    def judge(self, run: Run, result: Result) -> None:
        """Check everything again, and count what happened during a row."""
        run.place.heal()
        if not self.plan.quick:
            self.settle([result])
        facts = run.place.facts()
        result.counted |= counts(run.lines(), facts.calls, run)
        result.counted["effects"] = sum(
            each.event == "proposal.executed" and each.at.timestamp() >= run.since
            for each in facts.events
        )
        for each in checker.safety(facts):
            if each not in self.known:
                self.known.add(each)
                result.breaches.append(each.sentence)

    def settle(self, results: Iterable[Result]) -> None:
        """Wait until nothing is in a machine's hands; what stays belongs to the row it is from."""
        assert self.world is not None
        deadline = moment() + SETTLE_SECONDS
        while left := checker.unsettled(self.world.facts()):
            if moment() > deadline:
                break
            self.tell(f"settling: {len(left)} left")
            time.sleep(2)
        for since, each in left:
            if each not in self.known:
                self.known.add(each)
                owner(list(results), since).breaches.append(each.sentence)

    def finish(self, results: list[Result]) -> None:
        """Let the world come to rest, check everything a last time, and prove the ledger."""
        own = [each for each in results if each.row.needs == "world"]
        if self.world is None or not own:
            return
        self.world.heal()
        self.settle(own)
        for each in checker.safety(self.world.facts()):
            if each not in self.known:
                own[-1].breaches.append(each.sentence)
        if self.world.audit():
            own[-1].breaches.append("`ioa audit verify` finds that the ledger was touched.")
        for name, said in self.world.traces():
            own[-1].breaches.append(f"{name} printed a trace: {said}")


def owner(results: list[Result], since: datetime) -> Result:
    """Return the row during which something was last touched."""
    at = since.timestamp()
    begun = [each for each in results if each.window[0] <= at]
    return begun[-1] if begun else results[0]


def short(minimum: Minimum, counted: dict[str, int]) -> list[str]:
    """Return what there was too little of."""
    return [
        f"{counted.get(name, 0)} of {least} {name}"
        for name, least in vars(minimum).items()
        if counted.get(name, 0) < least
    ]
