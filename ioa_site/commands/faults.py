"""Break servers and processes while the product is used, and check what it promised."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ioa_site.commands import Needs, Stop
from ioa_site.server.terminal import say, shown, table

if TYPE_CHECKING:
    from faults.run import Row
    from faults.suite import Result

HELP = "run the fault suite; ends with 1 when a promise was broken, with 2 when nothing was shown"
EPILOG = """examples:
  ioa faults --quick                         each row for seconds
  ioa faults --only F4,F6 --minutes 10       two rows, ten minutes each
  ioa faults --quick --json faults.json      for scripts too

A PostgreSQL, a Redis, two web processes, three workers, a beat and a machine outside are started
for the run, used over HTTP by agents and people, and broken in one way after the other. What they
left behind is judged by a checker that knows only tables and logs. A row with less traffic than it
needs is VOID, not green. Needs Linux and `./ioa setup --dev`, which brings the servers."""
NEEDS: Needs = "nothing"
VOID = 2
HEADS = ("row", "fault", "done", "traffic", "seconds", "verdict")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("--quick", action="store_true", help="each row for seconds only")
    parser.add_argument("--only", metavar="F4,F6", help="only these rows")
    parser.add_argument("--minutes", type=float, metavar="N", help="how long each row lasts")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the results here too")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="leave logs and history here")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="what is drawn (%(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the rows, print the table, and say how it ended."""
    try:
        from faults.rows import all_rows
        from faults.servers import Unavailable
        from faults.suite import Plan, Suite
    except ModuleNotFoundError:
        raise Stop(
            "Faults are part of a clone: `./ioa setup --dev` brings what they need."
        ) from None
    rows = chosen(all_rows(), options.only)
    plan = Plan(rows, options.quick, options.minutes, options.seed, options.keep)
    try:
        results = Suite(plan, progress).run()
    except Unavailable as reason:
        raise Stop(str(reason), code=VOID) from None
    for line in table([as_row(each) for each in results], HEADS):
        say(line)
    for each in results:
        for sentence in [*each.breaches, *each.short, *([each.missing] if each.missing else [])]:
            say(f"{each.row.name} {each.verdict}: {shown(sentence, 500)}")
    if options.json:
        write(options.json, results, options.seed)
    return code_of(results)


def chosen(rows: tuple[Row, ...], only: str | None) -> tuple[Row, ...]:
    """Return the rows that were asked for."""
    if only is None:
        return rows
    names = only.upper().split(",")
    known = {each.name: each for each in rows}
    if unknown := [each for each in names if each not in known]:
        raise Stop(f"There is no row {unknown[0]}. Known rows are {', '.join(known)}.")
    return tuple(known[each] for each in names)


def progress(text: str) -> None:
    """Say what happens now."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


def as_row(result: Result) -> tuple[str, ...]:
    """Write a result as a row of the table."""
    traffic = ", ".join(f"{times} {name}" for name, times in result.counted.items() if times)
    seconds = f"{result.seconds:.0f}"
    return (result.row.name, result.row.fault, result.done, traffic, seconds, result.verdict)


def code_of(results: list[Result]) -> int:
    """Return 0 only when every row is green."""
    verdicts = {each.verdict for each in results}
    if "BREACH" in verdicts:
        return 1
    return 0 if verdicts == {"green"} else VOID


def write(file: Path, results: list[Result], seed: int) -> None:
    """Write the results as JSON."""
    import orjson

    rows = [
        {
            "row": each.row.name,
            "fault": each.row.fault,
            "expected": each.row.expected,
            "done": each.done,
            "traffic": each.counted,
            "minimum": vars(each.row.minimum),
            "seconds": round(each.seconds, 1),
            "verdict": each.verdict,
            "breaches": each.breaches,
            "short": each.short,
            "missing": each.missing,
        }
        for each in results
    ]
    document = {"seed": seed, "rows": rows}
    file.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
