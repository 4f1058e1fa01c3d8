"""Which tests go only through the outside: command line, HTTP and pages of a running product."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("tests/promises/", "tests/journeys/")
# Also in scripts that a test hands to Python as a text.
INSIDE = re.compile(
    r"^\s*(?:from|import)\s+(?:controllers|resources|ioa_site|django)\b", re.MULTILINE
)


def from_outside(name: str) -> bool:
    """Tell whether a test, named as `path::function`, may show what is promised."""
    path = name.partition("::")[0]
    return path.startswith(FOLDERS) and not reaching_inside(ROOT / path)


@cache
def reaching_inside(path: Path) -> frozenset[str]:
    """Return the modules that import the product, of a test and of what it imports."""
    found = {each for each in closure(path) if INSIDE.search(each.read_text(encoding="utf-8"))}
    return frozenset(str(each.relative_to(ROOT)) for each in found)


def closure(path: Path) -> set[Path]:
    """Return a module and all modules of the tests that it imports, directly or not."""
    seen, ahead = {path}, [path]
    while ahead:
        fresh = set(imported(ahead.pop())) - seen
        seen |= fresh
        ahead += fresh
    return seen


def imported(path: Path) -> Iterator[Path]:
    """Yield the files of the modules of the tests that one imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests"):
            names = [f"{node.module}.{each.name}" for each in node.names]
            yield from files(str(node.module), *names)
        elif isinstance(node, ast.Import):
            yield from files(*(each.name for each in node.names if each.name.startswith("tests")))


def files(*names: str) -> Iterator[Path]:
    """Yield the files of modules, of those there are."""
    for name in names:
        place = ROOT.joinpath(*name.split("."))
        yield from (
            each for each in (place.with_suffix(".py"), place / "__init__.py") if each.exists()
        )
