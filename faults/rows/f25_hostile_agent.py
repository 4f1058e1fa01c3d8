"""F25: a hostile agent with a real token; shown by tests of the suite."""

from __future__ import annotations

from faults.run import Minimum, Row
from faults.tests_as_rows import by_tests

QUICK = ("tests/journeys/test_red_team.py",)
THOROUGH = (
    "tests/journeys/test_red_team.py",
    "tests/journeys/test_red_team_requests.py",
    "tests/journeys/test_red_team_work.py",
)

ROW = Row(
    "F25",
    "a hostile agent with a real token",
    "refused, written down, and nothing moves",
    by_tests("sqlite", QUICK, THOROUGH),
    minimum=Minimum(0, 0, 0, 0, 0, 8),
    needs="nothing",
)
