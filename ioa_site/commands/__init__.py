"""Commands: what people type. Every module is a command, found by its name.

A command gives `HELP` (one line), `arguments(parser)`, `run(options) -> int` and, if it likes,
`EPILOG` with examples. `NEEDS` says what stands ready before `run`: "nothing", "settings"
(Django is set up; the default), "current" (the database has today's shape) or "store" (the same,
and one that is missing is made first).
`FAILED` is the code it ends with when it cannot go on, 2 unless it says otherwise.
Modules stay importable without Django, so that help never fails: import the work inside `run`.

Words:
- command: a module with a parser and a `run`
"""

from __future__ import annotations

import argparse
from typing import Literal

Needs = Literal["nothing", "settings", "current", "store"]


class Stop(Exception):
    """The command cannot go on; the text is one sentence for the person."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


def add_paths(parser: argparse.ArgumentParser) -> None:
    """Let a command take documents: files, folders or standard input."""
    parser.add_argument(
        "-f",
        "--file",
        dest="paths",
        action="extend",
        nargs="+",
        required=True,
        metavar="PATH",
        help="file, folder or -; can be given more than once",
    )


def add_person(parser: argparse.ArgumentParser) -> None:
    """Let whoever gives a command say which administrator they are."""
    parser.add_argument(
        "--as",
        dest="person",
        metavar="PERSON",
        help="the administrator you are (your name on this machine)",
    )
