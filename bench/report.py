"""The page of figures: `python -m bench.report A.json B.json > docs/benchmarks.md`.

It is made of what `ioa bench --json` wrote, in as many files as there were runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from bench.figures import GATES, Figure, as_rows
from ioa_site.version import VERSION

HEAD = """# Benchmarks

Figures of v{version}, as ratios in one run wherever a ratio is possible: subject and floor
alternate in fresh processes on freshly copied databases, and CPU is that of the process and its
database together. The value is the median of the pairs, the spread their lowest and highest. A
ratio under 1.15 at 100,000 proves nothing on a shared machine.

{machines}

Repeat it with

```sh
./ioa bench --json figures.json          # everything, most of an hour on two cores
./ioa bench --quick                      # 10,000 resources, a few minutes
./ioa bench --only B1,B3 --database sqlite
python -m bench.report figures.json      # this page
```

| Figure | What | Database | Size | Value | Spread | Pairs | Aim | Fails at | Verdict |
|---|---|---|---|---|---|---|---|---|---|
{rows}
"""


def read(files: Sequence[Path]) -> tuple[list[str], list[tuple[Figure, int]]]:
    """Read runs; what was measured again counts as it was measured last."""
    machines: dict[str, None] = {}
    found: dict[tuple[str, str, int], tuple[Figure, int]] = {}
    for file in files:
        run: dict[str, Any] = orjson.loads(file.read_bytes())
        machines |= dict.fromkeys(run["machines"])
        for name, databases in run["figures"].items():
            for figure, pairs in figures_of(name, databases):
                found[name, figure.database, figure.size] = (figure, pairs)
    return list(machines), list(found.values())


def figures_of(name: str, databases: dict[str, Any]) -> Iterator[tuple[Figure, int]]:
    """Read one figure, with the number of pairs behind it."""
    for database, sizes in databases.items():
        for size, kept in sizes.items():
            values = (kept["low"], kept[GATES[name].unit], kept["high"])
            yield Figure(name, database, int(size), values), kept["runs"]


def page(files: Sequence[Path]) -> str:
    """Write the page."""
    machines, found = read(files)
    pairs = {(each.name, each.database, f"{each.size:,}"): count for each, count in found}
    rows = []
    for row in as_rows([each for each, _ in found]):
        name, what, database, size, value, spread, *rest = row
        count = pairs[name, database, size]
        shown = spread if count > 1 else ""
        rows.append(
            "| " + " | ".join((name, what, database, size, value, shown, str(count), *rest))
        )
    told = "\n".join(f"- {each}" for each in machines)
    return HEAD.format(version=VERSION, machines=told, rows=" |\n".join(rows) + " |")


if __name__ == "__main__":
    sys.stdout.write(page([Path(each) for each in sys.argv[1:]]))
