"""Export the organisation as documents."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ioa_site.commands import Needs
from ioa_site.server.progress import Bar
from ioa_site.server.terminal import complain, counted, say, shown

HELP = "write the organisation as documents, one file for each resource"
EPILOG = """examples:
  ioa export org/                        everything, in domains/, agents/, budgets/ …
  ioa export org/ --kind agent           only agents
  ioa export org/ --force                over an earlier export
  ioa export org/ --no-status            only what is declared

What is written satisfies the published schemas and applies again without a change. While an export
runs, the folder holds a file EXPORT-INCOMPLETE; it goes away at the end."""
NEEDS: Needs = "store"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("folder", metavar="DIR", help="a new or empty folder")
    parser.add_argument(
        "--kind", action="append", metavar="K", help="only this kind; can be given more than once"
    )
    parser.add_argument("--no-status", action="store_true", help="leave out what was observed")
    parser.add_argument("--force", action="store_true", help="write into a folder that has files")
    parser.add_argument("--progress", action="store_true", help="show progress off a terminal too")


def run(options: argparse.Namespace) -> int:
    """Write the files and count them."""
    from ioa_site.work import export
    from ioa_site.work.names import kind_called
    from resources.documents import kinds

    began = time.monotonic()
    bar = Bar(forced=options.progress)
    wanted = {kind_called(each).name for each in options.kind or ()}
    chosen = [kind for kind in kinds.ALL if not wanted or kind.name in wanted]
    count, others = export.export(
        Path(options.folder),
        chosen=chosen,
        with_status=not options.no_status,
        force=options.force,
        bar=bar,
    )
    bar.clear()
    for file in others:
        complain(f"notice: {shown(str(file))}: left as it was; no resource stands behind it")
    took = time.monotonic() - began
    say(f"Wrote {counted(count, 'document')} to {shown(options.folder)}. ({took:.1f} s)")
    return 0
