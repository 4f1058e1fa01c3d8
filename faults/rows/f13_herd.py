"""F13: thousands of reports at once; shown by tests of the suite."""

from __future__ import annotations

from faults.run import Minimum, Row
from faults.tests_as_rows import by_tests

QUICK = ("tests/journeys/test_herd.py::test_a_thousand_reports_in_one_burst",)
THOROUGH = ("tests/journeys/test_herd.py",)

ROW = Row(
    "F13",
    "thousands of reports at once",
    "told to come later, nothing lost: the last one that was taken counts",
    by_tests("sqlite", QUICK, THOROUGH),
    minimum=Minimum(0, 0, 0, 0, 0, 1),
    needs="nothing",
)
