"""F16: two versions on one database; shown by the rules that migrations have to keep."""

from __future__ import annotations

from faults.run import Minimum, Row
from faults.tests_as_rows import by_tests

TESTS = ("tests/test_lint_migrations.py",)

ROW = Row(
    "F16",
    "the version before runs beside this one",
    "a migration adds, and takes away only what nobody uses",
    by_tests("sqlite", TESTS),
    minimum=Minimum(0, 0, 0, 0, 0, 1),
    needs="nothing",
)
