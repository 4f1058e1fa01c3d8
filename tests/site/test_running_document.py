"""The document about running it: every command exists, and the page of settings every variable."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from django.urls import resolve

from ioa_site import cli
from ioa_site.settings import environment, variables
from tests.rows import every_row

pytestmark = pytest.mark.sqlite

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
LINES = [line for block in BLOCKS for line in block.splitlines() if line]
INLINE = re.findall(r"`(ioa [a-z][^`]*)`", TEXT)
COMPOSE = "docker compose --file deploy/compose.yaml run --rm "
# What `./ioa` does itself, before there is anything to parse.
LAUNCHER = {"setup", "test"}


def commands() -> list[str]:
    """Return every `ioa …` of the document, also those that compose starts."""
    own = [re.sub(r".*/opt/ioa/ioa ", "ioa ", line) for line in LINES]
    started = [f"ioa {line.removeprefix(COMPOSE).partition(' ')[2]}" for line in LINES
               if line.startswith(COMPOSE)]  # fmt: skip
    return sorted({each for each in (*own, *INLINE, *started) if each.startswith("ioa ")})


@every_row("line", commands())
def test_every_command_of_the_document_exists(line: str) -> None:
    _, name, *rest = shlex.split(line)
    if name in LAUNCHER:
        assert f'"{name}"' in (ROOT / "ioa").read_text()
        return

    cli.parser_of(name, cli.load(name)).parse_args(rest)


def test_the_document_shows_commands_at_all() -> None:
    shown = {line.split()[1] for line in commands()}

    assert {"up", "web", "worker", "beat", "migrate", "sign-in", "audit", "setup"} <= shown


@every_row("name", sorted(environment.KNOWN | {"DATABASE_URL", "REDIS_URL"}))
def test_every_variable_is_described(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}` \|(.*)\|(.*)\|$", SETTINGS, re.MULTILINE)

    assert all(cell.strip() for cell in row)


def test_every_variable_that_is_described_is_read() -> None:
    packages = ("ioa_site", "controllers", "resources", "tests")
    paths = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    read = "".join(path.read_text("utf-8") for path in paths if path.name != "variables.py")

    for each in variables.ALL:
        assert each.name in read + (ROOT / "ioa").read_text("utf-8"), each.name


def test_no_other_variable_is_named() -> None:
    assert set(re.findall(r"\bIOA_[A-Z_]+\b", TEXT)) <= environment.KNOWN


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_the_questions_of_a_supervisor_are_answered_where_it_says(path: str) -> None:
    assert f"`GET {path}`" in TEXT
    assert resolve(path).url_name == path.strip("/")


def test_every_file_it_names_is_there() -> None:
    for target in re.findall(r"\]\((\.\./[^)#]+)\)", TEXT):
        assert (ROOT / "docs" / target).resolve().exists(), target
    for named in re.findall(r"(?<![\w/])(?:/opt/ioa/)?(deploy/[\w./-]+[a-z])", TEXT):
        assert named == "deploy/.env" or list(ROOT.glob(f"{named}*")), named


def test_units_it_starts_are_units_we_have() -> None:
    started = set(re.findall(r"\b(ioa-[a-z]+@?)\d?\b", " ".join(LINES)))

    for name in started - {"ioa-control"}:
        assert (ROOT / "deploy" / "systemd" / f"{name}.service").exists(), name
