"""F23: keys are rotated while the product runs; shown by tests of the suite."""

from __future__ import annotations

from faults.run import Minimum, Row
from faults.tests_as_rows import by_tests

QUICK = ("tests/decisions/test_secrets.py",)
THOROUGH = ()

ROW = Row(
    "F23",
    "keys are rotated while the product runs",
    "what an older key wrote is still read",
    by_tests("sqlite", QUICK, THOROUGH),
    minimum=Minimum(0, 0, 0, 0, 0, 5),
    needs="nothing",
)
