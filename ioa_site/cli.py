"""The `ioa` command: find the command, make ready what it needs, end with a sentence."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from ioa_site import commands
from ioa_site.commands import Stop
from ioa_site.server.terminal import complain, paint, say, shown
from ioa_site.version import VERSION
from resources.documents.problems import Problem

REFUSED = 1
FAILED = 2
INTERRUPTED = 130
# What `./ioa` of a clone does itself, before any of this is there.
OF_THE_LAUNCHER = ("setup", "test")
# What a shell reports for a program that SIGPIPE ended.
PIPE_CLOSED = 141
LONGEST_SENTENCE = 500

OVERVIEW = """Usage: ioa COMMAND [OPTIONS]

{commands}

`ioa COMMAND --help` explains a command. In a clone, `./ioa setup` makes the environment
and `./ioa test` runs the tests.

Start here:
  ioa up --demo                 start with an example organisation
  ioa validate org/             check documents, without a server
  ioa apply -f org/ --dry-run   see what would change
  ioa apply -f org/             make it so
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    tolerate_any_character()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = dispatch(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        close_quietly()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            complain("")
        return INTERRUPTED
    except SystemExit as ending:
        return 0 if ending.code == 0 else failure_of(arguments)
    except Exception as error:
        sentence, code = explained(error, failure_of(arguments))
        if not sentence:
            raise
        complain(f"{paint('ioa:', 'red', sys.stderr)} {sentence}")
    return code


def dispatch(arguments: list[str]) -> int:
    """Find the command and run it."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    if not arguments or arguments[0] in ("-h", "--help"):
        say(overview())
        return 0
    if arguments[0] in ("-V", "--version"):
        say(f"ioa {VERSION}")
        return 0
    command = load(arguments[0])
    options = parser_of(arguments[0], command).parse_args(arguments[1:])
    make_ready(getattr(command, "NEEDS", "settings"))
    code: int = command.run(options)
    return code


def names() -> list[str]:
    """Return the name of every command."""
    found = pkgutil.iter_modules(commands.__path__)
    return sorted(module.name.replace("_", "-") for module in found)


def load(name: str) -> ModuleType:
    """Import a command, or say which one may have been meant."""
    if name in names():
        return import_module(f"{commands.__name__}.{name.replace('-', '_')}")
    if name in OF_THE_LAUNCHER:
        raise Stop(f"`{name}` is part of a clone: type `./ioa {name}` in its folder.")
    near = difflib.get_close_matches(name, names(), n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise Stop(f"There is no command {shown(name, 40)!r}.{hint} `ioa --help` lists them all.")


def failure_of(arguments: Sequence[str]) -> int:
    """Return the code a command ends with when it cannot go on."""
    known = bool(arguments) and arguments[0] in names()
    return getattr(load(arguments[0]), "FAILED", FAILED) if known else FAILED


def overview() -> str:
    """Return the help of the whole program."""
    listed = [f"  {name:<10} {load(name).HELP}" for name in names()]
    return OVERVIEW.format(commands="\n".join(listed)).rstrip()


def parser_of(name: str, command: ModuleType) -> argparse.ArgumentParser:
    """Build the parser of one command."""
    parser = argparse.ArgumentParser(
        prog=f"ioa {name}",
        description=f"{command.HELP[0].upper()}{command.HELP[1:]}.",
        epilog=getattr(command, "EPILOG", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.arguments(parser)
    return parser


def make_ready(needs: commands.Needs) -> None:
    """Set up Django and the database, as far as a command needs them."""
    if needs == "nothing":
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ioa_site.settings")
    import django
    from django.apps import apps

    fresh = not apps.ready
    if fresh:
        django.setup()
    if needs == "store":
        from ioa_site.work import database

        if fresh:
            database.use_one_connection()
        database.prepare()
    if needs == "current":
        from ioa_site.work import database

        database.require_current()


def explained(error: Exception, code: int) -> tuple[str, int]:
    """Turn an expected failure into a sentence; nothing for a fault of our own."""
    if isinstance(error, Stop):
        return str(error), code if error.code is None else error.code
    if isinstance(error, Problem):
        return shown(error.message, LONGEST_SENTENCE), REFUSED
    if isinstance(error, OSError):
        name = f"{shown(str(error.filename))}: " if error.filename else ""
        return f"{name}{error.strerror or error}.", code
    if "django" not in sys.modules:
        return "", code
    from django.core.exceptions import ImproperlyConfigured
    from django.db import DatabaseError

    if isinstance(error, ImproperlyConfigured):
        return str(error), code
    if isinstance(error, DatabaseError):
        reason = (str(error).strip().splitlines() or ["no reason was given"])[0]
        return f"The database cannot be used: {shown(reason).rstrip('.')}.", code
    return "", code


def tolerate_any_character() -> None:
    """Never fail because a terminal cannot show a character."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def close_quietly() -> None:
    """Point the output nowhere, so that Python's own last flush does not complain."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
