"""Find calls in the source that carry a code and a sentence, and read both."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("controllers", "resources", "ioa_site")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Call(NamedTuple):
    """One call: where it stands, its arguments, and the function it stands in."""

    file: str
    node: ast.Call
    function: ast.AST

    def argument(self, place: int, name: str) -> ast.expr | None:
        """Return an argument by its place or by its name."""
        for each in self.node.keywords:
            if each.arg == name:
                return each.value
        plain = self.node.args
        before = plain[: place + 1]
        if len(before) <= place or any(isinstance(each, ast.Starred) for each in before):
            return None
        return plain[place]

    def words(self, place: int, name: str) -> list[str]:
        """Return what an argument may say."""
        given = self.argument(place, name)
        return [] if given is None else list(said(given, self))


@cache
def modules() -> Mapping[str, ast.Module]:
    """Read the source."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
        if "migrations" not in path.parts
    }


@cache
def constants() -> Mapping[str, tuple[str, ...]]:
    """Return the texts that names of modules stand for."""
    found: dict[str, tuple[str, ...]] = {}
    for module in modules().values():
        for node in module.body:
            target = getattr(node, "target", None) or next(
                iter(getattr(node, "targets", ())), None
            )
            if isinstance(target, ast.Name) and target.id.isupper():
                found.setdefault(target.id, texts(getattr(node, "value", None)))
    return found


def texts(node: ast.expr | None) -> tuple[str, ...]:
    """Return the texts of a value: its own, or those a mapping leads to."""
    if isinstance(node, ast.Dict):
        return tuple(text for each in node.values for text in texts(each))
    if isinstance(node, ast.Tuple):
        return tuple(text for each in node.elts for text in texts(each))
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (node.value,)
    return ()


def calls(name: str, below: Sequence[str]) -> Iterator[Call]:
    """Return every call of a name in some files."""
    return (each for each in by_name().get(name, ()) if each.file.startswith(tuple(below)))


@cache
def by_name() -> Mapping[str, list[Call]]:
    """Go through the source once, and keep every call by the name that is called."""
    found: dict[str, list[Call]] = defaultdict(list)
    for file, module in modules().items():
        functions = [each for each in ast.walk(module) if isinstance(each, Function)]
        for function in (module, *functions):
            for node in own(function):
                if isinstance(node, ast.Call):
                    found[called(node)].append(Call(file, node, function))
    return found


def own(function: ast.AST) -> Iterator[ast.AST]:
    """Return what stands in a function, and not in one inside it."""
    waiting = [function]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if not isinstance(child, Function):
                yield child
                waiting.append(child)


def called(node: ast.Call) -> str:
    """Return the last part of the name that is called."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def said(node: ast.expr, call: Call) -> Iterator[str]:
    """Return what an expression may say; what is put in is [named]."""
    if isinstance(node, ast.Constant):
        yield from [node.value] if isinstance(node.value, str) else []
    elif isinstance(node, ast.JoinedStr):
        yield "".join(map(piece, node.values))
    elif isinstance(node, ast.IfExp):
        yield from said(node.body, call)
        yield from said(node.orelse, call)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        yield from constants().get(node.value.id, ())
    elif isinstance(node, ast.Name):
        yield from assigned(node.id, call) or constants().get(node.id, ())
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield from returned(node.func.id, call)


def returned(name: str, call: Call) -> Iterator[str]:
    """Return what a function of the same module may return."""
    for function in modules()[call.file].body:
        if isinstance(function, Function) and function.name == name:
            inside = Call(call.file, call.node, function)
            for node in own(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield from said(node.value, inside)


def assigned(name: str, call: Call) -> list[str]:
    """Return what a name was last given before the call."""
    given = [
        node
        for node in own(call.function)
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
    ]
    given.sort(key=lambda each: each.lineno)
    near = [each for each in given if each.lineno <= call.node.lineno] or given
    return list(said(near[-1].value, call)) if near else []


def piece(node: ast.expr) -> str:
    """Write a part of a sentence that is put together."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)]
    last = names[0] if names else None
    word = last.attr if isinstance(last, ast.Attribute) else getattr(last, "id", "…")
    return f"[{word.strip('_').replace('_', ' ').lower()}]"
