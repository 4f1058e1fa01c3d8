"""The import contracts hold and can break; budgets and page rules hold everywhere."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tiers import quick_first

# One run is enough: nothing here depends on the database.
pytestmark = pytest.mark.sqlite

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ioa_site", "ioa_mcp", "ioa_client", "controllers", "resources")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
PURE = next(
    contract
    for contract in SETTINGS["importlinter"]["contracts"]
    if contract["name"].endswith("plain Python")
)
FUNCTION_LINES = 40
FILE_LINES = 600
TEMPLATE_LINE = 120

# For each import contract, a line that breaks it and the module it is planted in.
BREACHES = [
    (
        "The site wires controllers, controllers know resources, never the reverse",
        "resources/usecases/specs.py",
        "import controllers.models",
    ),
    (
        "Nobody goes past the front door of a context",
        "controllers/web/health.py",
        "import controllers.execution.critical_section",
    ),
    (
        "The client is on its own: Python's library and nothing else",
        "ioa_client/transport.py",
        "import httpx",
    ),
    (
        "The MCP server reaches the product only through the client",
        "ioa_mcp/server.py",
        "import controllers.models",
    ),
    (
        "Inside the client: groups of calls, then the way to the product",
        "ioa_client/errors.py",
        "import ioa_client.transport",
    ),
    (
        "Documents are plain Python",
        "resources/documents/kinds/domain.py",
        "from django.db import models",
    ),
    (
        "Inside resources: interfaces, use cases, rows, tables, plain documents",
        "resources/web/detail.py",
        "import resources.api.problems",
    ),
    (
        "Inside controllers: interfaces, the worker, the loop, decisions, the engine",
        "controllers/api/urls.py",
        "import controllers.web.health",
    ),
    (
        "The engine is plain Python: no framework, no database, only plain modules",
        "controllers/engine/gate.py",
        "import django",
    ),
    (
        "The five phases meet only in the cycle and speak only through types",
        "controllers/engine/watch.py",
        "import controllers.engine.plan",
    ),
    (
        "Drift dimensions are unaware of each other",
        "controllers/engine/drift/kpi.py",
        "import controllers.engine.drift.budget",
    ),
    (
        "Target kinds are unaware of each other",
        "controllers/engine/targets/agent.py",
        "import controllers.engine.targets.budget",
    ),
    (
        "Resource kinds are unaware of each other",
        "resources/documents/kinds/agent.py",
        "import resources.documents.kinds.domain",
    ),
    (
        "Celery stays at the edge, so the product runs without it",
        "resources/usecases/specs.py",
        "import celery",
    ),
    (
        "OpenTelemetry stays at the edge, so the product runs without it",
        "resources/usecases/specs.py",
        "import opentelemetry",
    ),
]

NAMES = [contract for contract, _, _ in BREACHES]

# Blocks the frameworks as if they were not installed, then imports every module named.
IMPORT_WITHOUT_FRAMEWORKS = """
import importlib, pkgutil, sys
names, blocked = sys.argv[1].split(), sys.argv[2].split()
sys.modules.update(dict.fromkeys(blocked))
for name in names:
    module = importlib.import_module(name)
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), name + "."):
        importlib.import_module(found.name)
"""


def _lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
    ]
    return subprocess.run(
        [*command, "--no-cache", "--no-logo"], cwd=folder, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what the contracts are about, once."""
    tmp_path = tmp_path_factory.mktemp("checkout")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tests").mkdir()
    for name in ("__init__.py", "front_doors.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests")
    for package in PACKAGES:
        ignore = shutil.ignore_patterns("__pycache__", "migrations")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignore)
    return tmp_path


@pytest.fixture
def copy(copied: Path) -> Iterator[Path]:
    """Lend the copy, and put back what a test changes in it."""
    before = {path: path.read_bytes() for path in copied.rglob("*.py")}
    yield copied
    for path in copied.rglob("*.py"):
        if path not in before:
            path.unlink()
        elif path.read_bytes() != before[path]:
            path.write_bytes(before[path])


def _sources() -> Iterator[Path]:
    for package in PACKAGES:
        paths = (ROOT / package).rglob("*.py")
        yield from (path for path in paths if "migrations" not in path.parts)


def _trees() -> Iterator[tuple[Path, ast.AST]]:
    for path in _sources():
        yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def _templates() -> Iterator[tuple[Path, str]]:
    for folder in (ROOT / "templates", *(ROOT / package for package in PACKAGES)):
        for path in folder.rglob("*.html"):
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def test_the_import_contracts_are_kept() -> None:
    result = _lint_imports(ROOT)

    assert result.returncode == 0, result.stdout


def test_the_contracts_are_kept_in_an_unchanged_copy(copy: Path) -> None:
    result = _lint_imports(copy)

    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("contract", "module", "line"),
    quick_first(BREACHES, 3),
    ids=[breach[0] for breach in BREACHES],
)
def test_a_breach_of_a_contract_breaks_the_build(
    copy: Path, contract: str, module: str, line: str
) -> None:
    with (copy / module).open("a") as source:
        source.write(f"\n{line}\n")

    result = _lint_imports(copy)

    assert result.returncode == 1
    assert f"{contract} BROKEN" in " ".join(result.stdout.split())


def test_every_contract_is_broken_on_purpose() -> None:
    contracts = {each["name"] for each in SETTINGS["importlinter"]["contracts"]}

    assert {*NAMES} == contracts


@pytest.mark.parametrize(
    "module", ["resources/utils.py", "controllers/helpers.py", "resources/common/__init__.py"]
)
def test_a_module_without_a_place_breaks_the_build(copy: Path, module: str) -> None:
    (copy / module).parent.mkdir(exist_ok=True)
    (copy / module).write_text('"""A drawer for everything."""\n')

    result = _lint_imports(copy)

    assert result.returncode == 1
    assert "- " + ".".join(Path(module).parts[:2]).removesuffix(".py") in result.stdout


def test_the_pure_modules_import_without_any_framework() -> None:
    names, blocked = " ".join(PURE["source_modules"]), " ".join(PURE["forbidden_modules"])

    result = subprocess.run(
        [sys.executable, "-c", IMPORT_WITHOUT_FRAMEWORKS, names, blocked],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert result.returncode == 0, result.stderr


def test_no_function_passes_its_budget() -> None:
    too_long = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > FUNCTION_LINES
    ]

    assert too_long == []


def test_a_door_with_too_many_names_or_no_glossary_breaks_the_build(copy: Path) -> None:
    names = [f"name_{number}" for number in range(26)]
    (copy / "controllers/trust/__init__.py").write_text(f'"""Trust."""\n\n__all__ = {names}\n')

    result = _lint_imports(copy)

    assert result.returncode == 1
    said = " ".join(result.stdout.split())
    assert "controllers.trust has no glossary in its docstring" in said
    assert "controllers.trust has 26 names at its door, more than 25" in said


def test_few_modules_lie_flat_in_controllers() -> None:
    flat = {path.stem for path in (ROOT / "controllers").glob("*.py")}

    assert len(flat - {"__init__", "admin", "apps"}) <= 12


def test_modules_are_named_by_nouns() -> None:
    names = [path.parent.name if path.stem == "__init__" else path.stem for path in _sources()]
    gerunds = [name for name in names if name.endswith("ing")]

    assert len(gerunds) <= 0.05 * len(names), sorted(gerunds)


def test_a_class_name_means_at_most_three_things() -> None:
    found = Counter(
        node.name
        for _, tree in _trees()
        for node in ast.iter_child_nodes(tree)
        if isinstance(node, ast.ClassDef)
    )

    assert {name: times for name, times in found.items() if times > 3} == {}


def test_one_exception_says_no() -> None:
    names = re.compile(r"^(Refus|Denied|Forbidden|NotAllowed|Problem)")
    refusals = [
        f"{path}:{node.name}"
        for path, tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.bases and names.match(node.name)
        if any(isinstance(base, ast.Name) and base.id.endswith(("Exception", "Error"))
               for base in node.bases)
    ]  # fmt: skip

    assert refusals == ["resources/documents/problems.py:Problem"]


def test_no_line_of_a_template_is_too_long_to_read() -> None:
    long = [
        f"{path}:{number}"
        for path, text in _templates()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > TEMPLATE_LINE and "<path" not in line
    ]

    assert long == []


def test_no_file_passes_its_budget() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in _sources()}

    assert [str(path) for path, lines in lengths.items() if lines > FILE_LINES] == []


def test_no_model_hides_logic_in_save_or_delete() -> None:
    overrides = [
        f"{path}:{method.lineno} {node.name}.{method.name}"
        for path, tree in _trees()
        if path.stem == "models" or "models" in path.parts
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name in {"save", "delete"}
    ]

    assert overrides == []


def test_no_logic_hangs_on_signals() -> None:
    signals = re.compile(r"@receiver|import receiver|_(save|delete|changed)\.connect\(")

    users = [str(path) for path in _sources() if signals.search(path.read_text(encoding="utf-8"))]

    assert users == []


@pytest.mark.parametrize(
    "forbidden",
    [
        pytest.param(r"<script(?![^>]*\ssrc=)", id="inline script"),
        pytest.param(r"<style|\sstyle\s*=", id="inline style"),
        pytest.param(r"\son\w+\s*=\s*[\"']", id="inline event handler"),
        pytest.param(r"hx-on|javascript:|[\"'\s]js:", id="script in an attribute"),
        pytest.param(
            r"hx-trigger\s*=\s*\"[^\"]*\[|hx-trigger\s*=\s*'[^']*\[", id="trigger filter"
        ),
    ],
)
def test_templates_obey_the_content_security_policy(forbidden: str) -> None:
    breaches = [
        f"{path}:{text[: found.start()].count(chr(10)) + 1}"
        for path, text in _templates()
        for found in re.finditer(forbidden, text, re.IGNORECASE)
    ]

    assert breaches == []
