"""The page of commands: what `ioa COMMAND --help` says."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ioa_site import cli
from tests.reference.writing import code, table

HEAD = """\
# Commands

What `ioa COMMAND --help` says. Made by `python -m tests.catalogue` of `ioa_site/commands/`; do
not edit it. In a clone type `./ioa`; there `./ioa setup` makes the environment and `./ioa test`
runs the tests.
"""


def page() -> str:
    """Write the page."""
    found = [(f"[`{name}`](#ioa-{name})", cli.load(name).HELP) for name in cli.names()]
    return f"{HEAD}\n{table(('Command', 'Does'), found)}" + "".join(map(section, cli.names()))


def section(name: str) -> str:
    """Write about one command."""
    command = cli.load(name)
    parser = cli.parser_of(name, command)
    said = f"\n## ioa {name}\n\n{parser.description}\n"
    said += "".join(options(parser))
    return said + f"\n```\n{command.EPILOG.strip()}\n```\n"


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Write the options of a command, then those of its verbs."""
    verbs: dict[str, argparse.ArgumentParser] = {}
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            verbs = dict(action.choices)
        elif not isinstance(action, argparse._HelpAction):
            rows.append((code(spelled(action)), meant(action)))
    if rows:
        yield "\n" + table(("Option", "Meaning"), rows)
    for verb, below in verbs.items():
        yield f"\n### {below.prog.removeprefix('ioa ')}\n"
        said = next((each.help for each in helped(parser) if each.dest == verb), "")
        yield f"\n{str(said)[:1].upper()}{str(said)[1:]}.\n"
        yield from options(below)


def helped(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Return what is said of each verb."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action._choices_actions


def spelled(action: argparse.Action) -> str:
    """Write an option, or a place, as it is typed."""
    if action.choices is not None and not action.metavar:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        value = str(action.metavar or action.dest.upper())
    if action.nargs == "?":
        value = f"[{value}]"
    if action.nargs == "+":
        value = f"{value} …"
    if not action.option_strings:
        return value
    return ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {value}")


def meant(action: argparse.Action) -> str:
    """Say what an option does."""
    said = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return said + (" (required)" if action.required and action.option_strings else "")
