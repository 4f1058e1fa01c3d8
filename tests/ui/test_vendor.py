"""What we ship of others: exact bytes, known versions, a licence beside each file."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "static"
TEMPLATES = ROOT / "templates"
KIND_ICONS = {
    "activity", "bot", "brain", "globe", "landmark",
    "refresh-cw", "scale", "shield-check", "wallet", "workflow",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    path: str
    sha256: str
    licence: str
    packages: tuple[str, ...]


def _manifest() -> list[Entry]:
    lines = (STATIC / "vendor/MANIFEST.txt").read_text().splitlines()
    fields = [line.split("\t") for line in lines if not line.startswith("#")]
    return [Entry(path, sha, terms, tuple(names.split())) for path, sha, terms, names in fields]


MANIFEST = _manifest()


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry.path)
def test_a_shipped_file_is_the_one_in_the_manifest(entry: Entry) -> None:
    digest = hashlib.sha256((STATIC / entry.path).read_bytes()).hexdigest()

    assert digest == entry.sha256


def test_every_foreign_file_is_in_the_manifest() -> None:
    foreign = [*STATIC.glob("vendor/*.js"), *STATIC.glob("fonts/*.woff2"), STATIC / "icons.svg"]
    listed = {entry.path for entry in MANIFEST}

    assert {str(file.relative_to(STATIC)) for file in foreign} == listed


def test_the_manifest_holds_the_versions_that_the_build_pins() -> None:
    pinned = json.loads((ROOT / "deploy/editor/package.json").read_text())["devDependencies"]

    shipped = [name.rpartition("@") for entry in MANIFEST for name in entry.packages]

    assert {name: version for name, _, version in shipped}.items() <= pinned.items()


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry.path)
def test_a_licence_stands_beside_every_foreign_file(entry: Entry) -> None:
    name = re.sub(r"(\.min)?\.\w+$", "", entry.path).replace("geist-ext", "geist")

    licence = (STATIC / f"{name}.LICENSE.txt").read_text()

    assert "permission" in licence.lower()


def _icons_in_templates() -> set[str]:
    texts = [file.read_text() for file in TEMPLATES.rglob("*.html")]
    return {name for text in texts for name in re.findall(r'{% icon "([\w-]+)"', text)}


def test_every_icon_we_name_is_in_the_sprite() -> None:
    sprite = set(re.findall(r'<symbol id="i-([\w-]+)"', (STATIC / "icons.svg").read_text()))

    assert _icons_in_templates() | KIND_ICONS <= sprite
