"""F17: the database comes back from a backup; shown by the tests about restoring."""

from __future__ import annotations

from faults.run import Minimum, Row
from faults.tests_as_rows import by_tests

TESTS = ("tests/journeys/test_restoring.py", "tests/decisions/test_restoring.py")

ROW = Row(
    "F17",
    "the database is restored from a backup",
    "nothing happens until a person confirms",
    by_tests("postgres", TESTS),
    minimum=Minimum(0, 0, 0, 0, 0, 1),
    needs="nothing",
)
