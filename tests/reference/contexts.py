"""The pages of contexts, and the picture of layers: made of doors, docstrings and contracts.

Each page has a block between two markers, which is made of the code. What people wrote around it
stays as it is, and the modules that it names must exist.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from controllers.narrative.event_text.sentences import SENTENCES
from tests.front_doors import door_of
from tests.reference.scanning import ROOT, modules
from tests.reference.writing import code, listed, table

DOCS = ROOT / "docs"
ARCHITECTURE, INDEX = DOCS / "architecture.md", DOCS / "index.md"
BEGIN, END = "<!-- made of the code -->", "<!-- end -->"
BLOCK = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
GLOSSARY = re.compile(r"^- (.+?): (.+?)(?=\n- |\Z)", re.DOTALL | re.MULTILINE)
# What people write in backticks about modules: `context.module`, `package/module`, and in bold
# also the bare name of a module.
NAMED = re.compile(r"`([a-z_]+(?:[./][A-Za-z_]\w*)+(?:\.py)?/?)`|\*\*`([a-z_]+)`\*\*")
# What documents have in them, and modules do not.
FIELDS = ("metadata", "spec", "status")
# Folders beside the product: where they are missing, nothing in them can be looked up.
BESIDE = ("bench", "cases", "faults")
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Context(NamedTuple):
    """A package directly below an app, with a door of its own."""

    app: str
    name: str

    @property
    def package(self) -> str:
        return f"{self.app}.{self.name}"

    @property
    def title(self) -> str:
        return f"{self.app}/{self.name}"

    @property
    def path(self) -> str:
        """Where its page lies below `docs`; two contexts of one name have that of their app."""
        shared = Counter(each.name for each in contexts())[self.name] > 1
        return f"contexts/{f'{self.app}-' if shared else ''}{self.name}.md"

    @property
    def text(self) -> str:
        """What its docstring says, without the glossary."""
        return docstring(sources()[self.package]).partition("Words:\n")[0].strip()

    @property
    def line(self) -> str:
        """What it is for, in one line."""
        return joined(self.text.partition("\n\n")[0])

    @property
    def words(self) -> list[tuple[str, str]]:
        """The words of its glossary, with what they mean."""
        _, _, glossary = docstring(sources()[self.package]).partition("Words:\n")
        return [(word, joined(meaning)) for word, meaning in GLOSSARY.findall(glossary)]


def pages() -> Mapping[Path, Callable[[], str]]:
    """Return every page that has a block, and how it is made."""
    made = {DOCS / each.path: partial(page, each) for each in contexts()}
    return {**made, ARCHITECTURE: architecture, INDEX: index}


def page(context: Context) -> str:
    """Write the page of a context."""
    empty = f"# {context.title}\n\n{BEGIN}\n{END}\n"
    return renewed(DOCS / context.path, block(context), empty)


def architecture() -> str:
    """Write the layers and the contexts into the page that has the rest by hand."""
    rows = [(link(each, each.title), each.line) for each in contexts()]
    return renewed(ARCHITECTURE, f"{picture()}\n{table(('Context', 'What it is for'), rows)}")


def index() -> str:
    """Write the links to all contexts into the map."""
    found = {app: [each for each in contexts() if each.app == app] for app in apps()}
    lines = [
        f"- {code(app)}: {', '.join(link(each, each.name) for each in inside)}\n"
        for app, inside in found.items()
    ]
    return renewed(INDEX, "".join(lines))


def link(context: Context, text: str) -> str:
    """Link the page of a context from another page in `docs`."""
    return f"[{text}]({context.path})"


def renewed(path: Path, made: str, empty: str = "") -> str:
    """Put what is made between the markers; what stands around them stays, if it is true."""
    text = path.read_text(encoding="utf-8") if path.exists() else empty
    around = BLOCK.split(text)
    if len(around) != 2:
        raise ValueError(f"{path} has no place, or two, between {BEGIN} and {END}.")
    if unknown := sorted(missing(FENCE.sub("", "".join(around)))):
        raise ValueError(f"{path} names what does not exist: {', '.join(unknown)}.")
    return f"{BEGIN}\n\n{made}\n{END}".join(around)


def block(context: Context) -> str:
    """Write what the code says of a context."""
    door = door_of(context.package)
    names = door.names if door else ()
    others = [each for each in rooms(context.package) if each not in names]
    parts = [
        f"{context.text}\n",
        "".join(f"{wrapped(each)}\n" for each in place(context)),
        f"## Words\n\n{table(('Word', 'Means'), context.words)}",
        f"## Door\n\n{entrances(context, names)}",
    ]
    if others:
        rows = [(code(each), described(f"{context.package}.{each}")) for each in others]
        parts.append(f"## Rooms behind the door\n\n{table(('Room', 'What it is'), rows)}")
    if layers(context.package):
        parts.append(f"## Layers inside\n\n{drawn([('', layers(context.package))])}")
    return "\n".join(parts)


def place(context: Context) -> Iterator[str]:
    """Say in which layer a context lies, and what it may import."""
    own, order = layers(context.app), apps()
    below = order[order.index(context.app) + 1 :]
    number = next((at for at, layer in enumerate(own) if context.name in layer), None)
    if number is None:
        yield f"Layer: {code(context.app)}, above all others; its contexts may import each other."
        names = [each.name for each in contexts() if each.app == context.app and each != context]
    else:
        beside = [each for each in own[number] if each != context.name]
        yield f"Layer: {number + 1} of {len(own)} in {code(context.app)}" + (
            f", beside {both(beside)}: they do not import each other." if beside else "."
        )
        names = [name for layer in own[number + 1 :] for name in layer]
    doors = f"the doors of {both(below)}" if below else ""
    seen = ", and ".join(filter(None, [listed(names), doors]))
    yield f"It may import {seen or 'nothing of the product'}."
    for each in contracts():
        if each["type"] == "forbidden" and each["source_modules"] == [context.package]:
            yield f"Nothing that it imports leads to {listed(each['forbidden_modules'])}."


def wrapped(text: str) -> str:
    """Write a point of a list in lines that can be read."""
    return fill(text, 100, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)


def both(names: Sequence[str]) -> str:
    """Write names as a sentence lists them."""
    return " and ".join(filter(None, [listed(names[:-1]), code(names[-1])]))


def entrances(context: Context, names: Collection[str]) -> str:
    """Write what others may import."""
    if not names:
        return "It has none: other contexts import none of its rooms.\n"
    rows = [(code(name), entrance(context, name)) for name in names]
    return table(("Name", "What it is"), rows)


def entrance(context: Context, name: str) -> str:
    """Say what a name at a door is: a room, or what a room defines."""
    room = f"{context.package}.{name}"
    if room in sources():
        return described(room)
    found, node = defined(context.package, name)
    origin = code(found.removeprefix(f"{context.package}."))
    return f"{summary(node)} ({origin})" if node else f"A value of {origin}."


def defined(module: str, name: str) -> tuple[str, Documented | None]:
    """Follow a name to the module that defines it; what is no class or function is a value."""
    for node in sources()[module].body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module in sources():
            for each in node.names:
                if name == (each.asname or each.name):
                    return defined(node.module, each.name)
        elif isinstance(node, Documented) and getattr(node, "name", "") == name:
            return module, node
    return module, None


def described(module: str) -> str:
    """Say what a room is, and of a package also what is in it."""
    inside = rooms(module)
    more = f"Inside: {listed(inside)}." if inside else ""
    return " ".join(filter(None, [summary(sources()[module]), more]))


def rooms(package: str) -> list[str]:
    """Return the modules directly below a package."""
    below = [each for each in sources() if each.startswith(f"{package}.")]
    names = [each.removeprefix(f"{package}.") for each in below]
    return sorted(name for name in names if "." not in name)


def summary(node: Documented) -> str:
    """Return the first sentence of a docstring."""
    return joined(docstring(node).partition("\n\n")[0])


def docstring(node: Documented) -> str:
    """Return the docstring of a module, a class or a function."""
    return ast.get_docstring(node) or ""


def joined(text: str) -> str:
    """Write a text on one line."""
    return " ".join(text.split())


def picture() -> str:
    """Draw the layers of the product."""
    flat = {app: [[each.name for each in contexts() if each.app == app]] for app in apps()}
    return drawn([(app, layers(app) or flat[app]) for app in apps()])


def drawn(parts: Sequence[tuple[str, list[list[str]]]]) -> str:
    """Draw layers, the highest first."""
    wide = max(len(title) for title, _ in parts)
    groups = [
        "\n".join(
            f"{'' if number else title:<{wide}}   {'   '.join(layer)}".rstrip()
            for number, layer in enumerate(found)
        )
        for title, found in parts
    ]
    return "```\n" + "\n".join(groups) + "\n```\n"


@cache
def contracts() -> Sequence[Mapping[str, Any]]:
    """Read the contracts about imports."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: Sequence[Mapping[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return found


def layers(container: str = "") -> list[list[str]]:
    """Return the names in each layer of a package, or of the product; the highest comes first."""
    for each in contracts():
        if each["type"] == "layers" and each.get("containers", [""]) == [container]:
            return [re.findall(r"\w+", layer) for layer in each["layers"]]
    return []


def apps() -> list[str]:
    """Return the apps, the highest first."""
    return [name for layer in layers() for name in layer]


@cache
def contexts() -> tuple[Context, ...]:
    """Return every context: those that the contract of front doors looks at."""
    contract = next(each for each in contracts() if each["type"] == "front_doors")
    found = [Path(file).parts for file in modules() if file.endswith("/__init__.py")]
    named = sorted(parts[1] for parts in found if len(parts) == 3)
    return tuple(
        Context(app, name)
        for app in apps()
        for name in dict.fromkeys(named)
        if (app, name, "__init__.py") in found and name not in contract["without_door"]
    )


@cache
def sources() -> Mapping[str, ast.Module]:
    """Return the source of the product by the names of its modules."""
    return {dotted(file): tree for file, tree in modules().items()}


def dotted(file: str) -> str:
    """Return the name of the module in a file."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def missing(text: str) -> Iterator[str]:
    """Yield the modules that a text names and that do not exist."""
    for found in NAMED.finditer(text):
        name = found[1] or found[2]
        if not exists(name):
            yield name


def exists(name: str) -> bool:
    """Tell whether a module or something in one, a file or an event has this name."""
    parts = re.split(r"[./]", name.removesuffix(".py").rstrip("/"))
    *module, last = parts
    if parts[0] in FIELDS or name in SENTENCES:
        return True
    if tuple(parts) in endings() or last in endings().get(tuple(module), ()):
        return True
    if parts[0] in BESIDE and not (ROOT / parts[0]).exists():
        return True
    return any((ROOT / f"{name}{end}").exists() for end in ("", ".py"))


@cache
def endings() -> Mapping[tuple[str, ...], Collection[str]]:
    """Return what is defined in modules, by every way to write the end of their names."""
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, tree in sources().items():
        parts = name.split(".")
        for at in range(len(parts)):
            found[tuple(parts[at:])] |= top_names(tree)
    return found


def top_names(tree: ast.Module) -> set[str]:
    """Return the names that a module defines."""
    found = {getattr(node, "name", "") for node in tree.body}
    for node in tree.body:
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        found |= {each.id for each in targets if isinstance(each, ast.Name)}
    return found
