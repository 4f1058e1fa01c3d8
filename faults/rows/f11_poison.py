"""F11: documents that no two readers understand alike; shown by tests of the suite."""

from __future__ import annotations

from faults.run import Minimum, Row
from faults.tests_as_rows import by_tests

QUICK = ("tests/hostile/test_agents_entrances.py",)
THOROUGH = ("tests/hostile",)

ROW = Row(
    "F11",
    "documents that no two readers understand alike",
    "refused in words with a pointer, the same everywhere, and others go on",
    by_tests("sqlite", QUICK, THOROUGH),
    minimum=Minimum(0, 0, 0, 0, 0, 100),
    needs="nothing",
)
