"""F3: three beats ring at once, and one more worker listens."""

from __future__ import annotations

from faults.run import Row, Run

# Of one controller: a cycle that began before the one before it had ended.
OVERLAPS = """
    SELECT count(*) FROM (SELECT started_at, lag(finished_at) OVER (
      PARTITION BY controller_id ORDER BY number) AS before FROM controllers_cycle) AS cycle
    WHERE before > started_at
"""
# Of one plan: more than one proposal that may still bring something about.
DOUBLES = """
    SELECT count(*) FROM (SELECT 1 FROM controllers_proposal
      WHERE controller_id IS NOT NULL AND state IN ('recommended', 'pending', 'approved',
        'executing') GROUP BY controller_id, resource_id, action_digest HAVING count(*) > 1)
    AS double
"""


def act(run: Run) -> None:
    """Ring three times as often."""
    more = [run.place.program(f"more-beat-{number}", "beat") for number in range(2)]
    more.append(run.place.program("more-worker", "worker"))
    for each in more:
        each.start()
        run.strike()
    try:
        with run.traffic():
            run.last()
    finally:
        for each in more:
            each.end()
    if overlaps := run.place.query(OVERLAPS)[0][0]:
        run.breach(f"{overlaps} cycles ran beside another one of the same controller.")
    if doubles := run.place.query(DOUBLES)[0][0]:
        run.breach(f"{doubles} plans were proposed twice.")
    run.done = "three beats and four workers at once"


ROW = Row(
    "F3",
    "three beats run",
    "no cycle runs twice, nothing is proposed twice",
    act,
    quick=8,
)
