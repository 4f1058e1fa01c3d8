"""`ioa validate` says everything that is wrong, with nothing but the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.samples import agent, document, domain, put
from tests.kinds.samples import ORGANISATION

pytestmark = pytest.mark.sqlite

NO_DJANGO = "import sys\nsys.modules['django'] = None"


def test_a_good_set_ends_well(ioa: Run, tmp_path: Path) -> None:
    """I-101"""
    put(tmp_path / "all.yaml", *ORGANISATION)

    ran = ioa("validate", tmp_path)

    assert ran.code == 0
    assert ran.last.startswith(f"{len(ORGANISATION)} documents checked: 0 errors")


def test_every_problem_of_every_file_is_named_with_its_place(ioa: Run, tmp_path: Path) -> None:
    """I-80 I-101"""
    put(tmp_path / "a.yaml", domain(), agent(type="sleepy"))
    put(tmp_path / "b.yaml", agent("bob", domain="nowhere"))
    (tmp_path / "c.yaml").write_text("kind: [", encoding="utf-8")

    ran = ioa("validate", tmp_path)

    assert ran.code == 1
    assert f"error: {tmp_path}/a.yaml, document 2, line " in ran.out
    assert ", /spec/type: must be one of autonomous" in ran.out
    assert f"error: {tmp_path}/b.yaml, line " in ran.out
    assert ', /spec/domain: Domain "nowhere" does not exist [1]' in ran.out
    assert f"error: {tmp_path}/c.yaml: This is not YAML" in ran.out
    assert ran.last == "4 documents checked: 3 errors, 0 warnings."


def test_warnings_alone_end_well(ioa: Run, tmp_path: Path) -> None:
    put(tmp_path / "a.yaml", domain(budgetRef="none"))

    ran = ioa("validate", tmp_path)

    assert ran.code == 0
    assert "warning: " in ran.out
    assert "[9]" in ran.out


def test_a_name_given_twice_is_an_error(ioa: Run, tmp_path: Path) -> None:
    put(tmp_path / "a.yaml", domain(), domain())

    ran = ioa("validate", tmp_path)

    assert ran.code == 1
    assert "document 2" in ran.out


def test_a_part_that_is_too_large_is_an_error(ioa: Run, tmp_path: Path) -> None:
    put(tmp_path / "a.yaml", domain(notes=["x" * 1000] * 200))

    ran = ioa("validate", tmp_path)

    assert ran.code == 1
    assert "/spec: This is larger than 128 kB." in ran.out


def test_old_documents_are_judged_in_their_new_form(ioa: Run, tmp_path: Path) -> None:
    old = document("Domain", "old", {"purpose": "Last.", "kpis": [{"name": "k", "target": ">5%"}]})
    old["apiVersion"] = "ioa.dev/v0.1"
    put(tmp_path / "a.yaml", old)

    assert ioa("validate", tmp_path).code == 0


def test_it_needs_neither_django_nor_a_database_nor_a_data_folder(
    ioa_process: Run, tmp_path: Path
) -> None:
    file = put(tmp_path / "a.yaml", domain(), agent())

    ran = ioa_process(
        "validate", file, before=NO_DJANGO, DATABASE_URL="nonsense", IOA_NONSENSE="1"
    )

    assert (ran.code, ran.err) == (0, "")
    assert ran.last == "2 documents checked: 0 errors, 0 warnings."
    assert not (tmp_path / "data").exists()


def test_a_hostile_name_cannot_move_the_cursor(ioa: Run, tmp_path: Path) -> None:
    put(tmp_path / "a.yaml", document("\x1b[2JDomain", "x", {}), {"kind": "Agent", "\x9bx": 1})

    ran = ioa("validate", tmp_path)

    assert ran.code == 1
    assert not any(character in ran.out for character in "\x1b\x9b")
