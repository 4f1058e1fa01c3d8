"""The import contracts hold and can break; budgets and page rules hold everywhere."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

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
FILE_LINES = 300

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


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in PACKAGES:
        ignore = shutil.ignore_patterns("__pycache__", "migrations")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignore)
    return tmp_path


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


@pytest.mark.parametrize("module", ["resources/reader.py", "resources/kinds/domain.py"])
def test_django_in_a_pure_module_breaks_the_build(copy: Path, module: str) -> None:
    with (copy / module).open("a") as source:
        source.write("\nfrom django.db import models\n")

    result = _lint_imports(copy)

    assert result.returncode == 1
    assert f"{PURE['name']} BROKEN" in result.stdout


def test_celery_away_from_the_edge_breaks_the_build(copy: Path) -> None:
    with (copy / "resources/specs.py").open("a") as source:
        source.write("\nimport celery\n")

    result = _lint_imports(copy)

    assert result.returncode == 1
    assert "runs without it BROKEN" in result.stdout


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
