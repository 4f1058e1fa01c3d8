"""The contract of front doors: others enter a context only where its `__init__.py` lets them in.

A context is a package directly below one of the containers. Its `__all__` names what others may
use: functions and classes, or whole rooms (modules). A room that is a package has a door too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from importlinter import Contract, ContractCheck, fields, output

MOST_NAMES = 25
# What stands above the glossary of a context.
WORDS = "Words:\n- "


class Door(NamedTuple):
    """What the `__init__.py` of a package says of itself."""

    text: str
    names: tuple[str, ...]


class FrontDoors(Contract):
    """Nobody enters a room that its context does not name, and no door names too many."""

    type_name = "front_doors"

    containers: Any = fields.ListField(fields.StringField())
    # Tables are names by nature; packages that a framework finds by their path have no door.
    without_limit: Any = fields.ListField(
        subfield=fields.StringField(), required=False, default=[]
    )
    without_door: Any = fields.ListField(fields.StringField(), required=False, default=[])

    def check(self, graph: Any, verbose: bool) -> ContractCheck:
        """Look at every door, and at every import that passes one."""
        contexts = [
            context
            for container in self.containers
            for context in sorted(graph.find_children(container))
            if door_of(context) and context.rpartition(".")[2] not in self.without_door
        ]
        faults = [fault for context in contexts for fault in self.faults_of(graph, context)]
        return ContractCheck(kept=not faults, metadata={"faults": faults})

    def faults_of(self, graph: Any, context: str) -> Iterator[str]:
        door = door_of(context) or Door("", ())
        if WORDS not in door.text:
            yield f"{context} has no glossary in its docstring"
        if len(door.names) > MOST_NAMES and context not in self.without_limit:
            yield f"{context} has {len(door.names)} names at its door, more than {MOST_NAMES}"
        for room in sorted({context} | graph.find_descendants(context)):
            if closed := closed_door(context, room):
                for importer in sorted(graph.find_modules_that_directly_import(room)):
                    if not f"{importer}.".startswith(f"{context}."):
                        yield f"{importer} imports {room}, which {closed} does not name"

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print what is wrong, a line each."""
        for fault in check.metadata["faults"]:
            output.print_error(f"- {fault}", bold=False)
        output.new_line()


def closed_door(context: str, room: str) -> str:
    """Return the package on the way to a room that does not name what comes next, if any."""
    place = context
    for name in room.removeprefix(context).split(".")[1:]:
        door = door_of(place)
        if door is None or name not in door.names:
            return place
        place = f"{place}.{name}"
    return ""


@cache
def door_of(package: str) -> Door | None:
    """Read the door of a package, without importing it; a plain module has none."""
    container, _, rest = package.partition(".")
    spec = find_spec(container)
    path = Path((spec.submodule_search_locations or [""])[0] if spec else "").joinpath(
        *rest.split("."), "__init__.py"
    )
    if not path.exists():
        return None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return Door(ast.get_docstring(tree) or "", names_of(tree))


def names_of(tree: ast.Module) -> tuple[str, ...]:
    """Return what `__all__` names; without one nobody outside enters."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(ast.literal_eval(node.value))
    return ()
