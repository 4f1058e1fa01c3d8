"""F19: operations across scopes at once; PostgreSQL has to break no deadlock."""

from __future__ import annotations

import itertools
import random

from faults import staging
from faults.calling import Actor, Ask, Caller
from faults.run import Minimum, Row, Run
from faults.world import World

COUNT = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


class Crosser(Actor):
    """A person who pauses and frees domains, controllers and resources in any order."""

    def __init__(self, world: World, name: str, random: random.Random) -> None:
        super().__init__(Caller(name, world.person(name), world.clients))
        self.random, self.placed = random, itertools.count()

    def turn(self) -> None:
        """Place a hold somewhere, and lift it."""
        unit = self.random.choice(staging.units())
        scope = self.random.choice(
            [
                {"scope": "domain", "domain": "yard"},
                {"scope": "controller", "controller": "keeper"},
                {"scope": "resource", "resource": f"agent/{unit}"},
            ]
        )
        body = {"kind": "pause", "reason": "Across.", **scope}
        found = self.caller.act(Ask("hold", "POST", "holds", body))
        next(self.placed)
        if found.good:
            key = found.document["hold"]["id"]
            self.caller.act(Ask("lift", "POST", f"holds/{key}/lift", {"reason": "On."}))
        self.stopping.wait(0.1)


def act(run: Run) -> None:
    """Cross scopes while everybody works; the count covers all rows before, too."""
    crossers = [Crosser(run.place, name, run.random) for name in ("admin", "tomas")]
    with run.traffic():
        for each in crossers:
            each.start()
        for _ in run.until():
            run.place.supervisor.stopping.wait(0.5)
        for each in crossers:
            each.stopping.set()
        for each in crossers:
            each.join(60)
            run.strike(next(each.placed))
    found = run.place.query(COUNT)[0][0]
    if found:
        run.breach(f"PostgreSQL had to break {found} deadlocks.")
    run.done = f"{run.faults} holds across scopes, {found} deadlocks in all rows so far"


ROW = Row(
    "F19",
    "holds are placed and lifted across scopes while work goes on",
    "no deadlock: everybody locks in one order",
    act,
    quick=8,
    minimum=Minimum(actions=60, decisions=8, effects=2, calls=1, pauses=1, faults=10),
)
