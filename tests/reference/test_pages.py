"""The pages of the reference are as the code is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controllers.narrative.event_text.sentences import SENTENCES
from ioa_site import cli
from ioa_site.settings import environment
from resources.documents import kinds
from tests.reference import events, reasons, scanning
from tests.reference.pages import FOLDER, PAGES
from tests.rows import every_row

pytestmark = pytest.mark.sqlite

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
WRITTEN = [scanning.ROOT / "README.md", *sorted((scanning.ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_that_is_made_of_code_is_current(path: Path) -> None:
    written = path.read_text(encoding="utf-8")

    assert written == PAGES[path](), "run `python -m tests.catalogue`"


def test_every_page_of_the_reference_is_made_of_code() -> None:
    assert {*FOLDER.iterdir()} <= {*PAGES}


def test_every_kind_command_and_event_has_its_place() -> None:
    text = {path.name: path.read_text(encoding="utf-8") for path in PAGES}

    assert all(f"\n## {kind.name}\n" in text["kinds.md"] for kind in kinds.ALL)
    assert all(f"\n## ioa {name}\n" in text["commands.md"] for name in cli.names())
    assert all(f"{event}`" in text["events.md"] for event in SENTENCES)


def test_every_event_has_a_payload_that_is_known() -> None:
    assert set(events.payloads()) == set(SENTENCES), "name its fields in payloads.yaml"


def test_every_field_of_a_payload_is_in_the_source() -> None:
    paths = [path for name in scanning.PACKAGES for path in (scanning.ROOT / name).rglob("*.py")]
    source = "".join(path.read_text(encoding="utf-8") for path in paths)
    words = set(re.findall(r"\w+", source))

    named = {field for fields in events.payloads().values() for field in fields}
    assert named - words == set()


@pytest.mark.parametrize("sort", reasons.SORTS, ids=lambda sort: sort.title)
def test_every_code_has_a_sentence(sort: reasons.Sort) -> None:
    found = reasons.said(sort)

    assert found
    assert [key for key, text in found.items() if not text] == [], "say it in reasons.SAID"


def test_nothing_is_said_of_a_code_that_is_gone() -> None:
    assert set(reasons.SAID) <= {key for sort in reasons.SORTS for key in reasons.said(sort)}


@every_row("path", WRITTEN, ids=lambda path: path.name)
def test_every_link_of_a_document_leads_somewhere(path: Path) -> None:
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        found = (path.parent / target).resolve() if target else path
        assert found.exists(), target
        if anchor:
            assert anchor in anchors(found), f"{target}#{anchor}"


@every_row("path", WRITTEN, ids=lambda path: path.name)
def test_no_document_names_a_variable_that_stops_the_start(path: Path) -> None:
    named = set(re.findall(r"\bIOA_[A-Z_]+\b", path.read_text(encoding="utf-8")))

    assert named <= environment.KNOWN


def test_the_map_leads_to_every_page() -> None:
    index = scanning.ROOT / "docs" / "index.md"
    linked = LINK.findall(index.read_text(encoding="utf-8"))
    reached = {(index.parent / target).resolve() for target, _ in linked}
    pages = {path for path in WRITTEN if path.parent.name != "decisions"}

    assert pages - reached == {index}


def anchors(page: Path) -> set[str]:
    """Return what can be jumped to in a page."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}
