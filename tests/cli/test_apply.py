"""`ioa apply` makes documents true, all or nothing, and says what it did."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resources.tables.models import LedgerEvent, Resource
from tests.cli.conftest import Run
from tests.cli.samples import agent, document, domain, put
from tests.kinds.samples import ORGANISATION

pytestmark = pytest.mark.django_db


def test_each_document_is_created_changed_or_unchanged(ioa: Run, tmp_path: Path) -> None:
    put(tmp_path / "a.yaml", domain(), agent())
    ioa("apply", "-f", tmp_path)
    put(tmp_path / "a.yaml", domain(), agent(purpose="Decide."), agent("bob"))

    ran = ioa("apply", "-f", tmp_path)

    assert ran.code == 0
    assert ran.out.splitlines()[:3] == [
        "unchanged domain/growth",
        "changed   agent/robin",
        "created   agent/bob",
    ]
    assert ran.last.startswith("3 documents: 1 created, 1 changed, 1 unchanged. (")


def test_the_person_at_the_keyboard_is_the_actor(
    ioa: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "alice")

    ioa("apply", "-f", put(tmp_path / "a.yaml", domain()))

    assert LedgerEvent.objects.get().actor == "person/alice"


def test_a_dry_run_shows_every_field_and_writes_nothing(ioa: Run, tmp_path: Path) -> None:
    before = agent(tokenBudget={"maxDaily": 5}, constraints=["Never spends."])
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), before))
    entries = LedgerEvent.objects.count()
    after = agent(tokenBudget={"maxDaily": 7}, memory={"type": "session", "scope": "domain"})
    after["metadata"]["labels"]["ioa.dev/zone"] = "eu"

    ran = ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), after), "--dry-run")

    assert ran.code == 0
    assert "    ~ spec.tokenBudget.maxDaily: 5 → 7\n" in ran.out
    assert '    - spec.constraints[0]: "Never spends."\n' in ran.out
    assert '    + spec.memory.scope: "domain"\n' in ran.out
    assert '    + metadata.labels["ioa.dev/zone"]: "eu"\n' in ran.out
    assert "dry run, nothing written: 0 created, 1 changed, 1 unchanged" in ran.last
    assert LedgerEvent.objects.count() == entries


def test_a_broken_file_reports_every_error_at_once_and_writes_nothing(
    ioa: Run, tmp_path: Path
) -> None:
    put(tmp_path / "org" / "good.yaml", domain())
    put(tmp_path / "org" / "two.yaml", agent(), agent("bob", type="sleepy", purpose=3))
    (tmp_path / "org" / "broken.yaml").write_text("kind: [", encoding="utf-8")
    (tmp_path / "org" / "package.json").write_text('{"name": "x"}', encoding="utf-8")

    ran = ioa("apply", "-f", tmp_path / "org")

    assert ran.code == 1
    errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 3
    assert "org/broken.yaml: This is not YAML" in errors[0]
    assert "org/two.yaml, document 2, line " in errors[1]
    assert ", /spec/purpose: must be text" in errors[1]
    assert ", /spec/type: must be one of" in errors[2]
    assert "package.json: skipped, not an IOA document" in ran.err
    assert ran.last.startswith("Nothing was written: 2 of 4 documents cannot be applied.")
    assert not Resource.objects.exists()


def test_keep_going_writes_the_rest(ioa: Run, tmp_path: Path) -> None:
    put(tmp_path / "good.yaml", domain())
    put(tmp_path / "two.yaml", agent(), agent("bob", type="sleepy"))
    (tmp_path / "broken.yaml").write_text("kind: [", encoding="utf-8")

    ran = ioa("apply", "-f", tmp_path, "--keep-going")

    assert ran.code == 1
    assert set(Resource.objects.values_list("name", flat=True)) == {"growth", "robin"}
    assert "2 created, 0 changed, 0 unchanged, 2 refused" in ran.last


def test_a_name_that_does_not_exist_is_a_warning(ioa: Run, tmp_path: Path) -> None:
    put(tmp_path / "a.yaml", agent())

    ran = ioa("apply", "-f", tmp_path)
    again = ioa("apply", "-f", tmp_path)
    dry = ioa("apply", "-f", tmp_path, "--dry-run")

    for each in (ran, again, dry):
        assert each.code == 0
        assert "warning: " in each.err
        assert ', /spec/domain: Domain "growth" does not exist [1]' in each.err


def test_a_name_in_the_set_or_in_the_store_is_no_warning(ioa: Run, tmp_path: Path) -> None:
    both = put(tmp_path / "both.yaml", agent(), domain())

    dry = ioa("apply", "-f", both, "--dry-run")
    wet = ioa("apply", "-f", both)
    later = ioa("apply", "-f", put(tmp_path / "later.yaml", agent("bob")))

    assert (dry.err, wet.err, later.err) == ("", "", "")


def test_old_documents_are_migrated_and_it_says_so(ioa: Run, tmp_path: Path) -> None:
    old = document(
        "Agent", "veteran", {"domain": "growth", "type": "advisory", "purpose": "Advise."}
    )
    old["apiVersion"] = "ioa.dev/v0.1"
    old["metadata"]["owner"] = "Ines"
    old["spec"]["capabilities"] = ["Rank channels"]

    ran = ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), old))

    veteran = Resource.objects.get(name="veteran")
    assert "created   agent/veteran (migrated from v0.1)" in ran.out
    assert veteran.metadata["owner"] == {"name": "Ines", "role": "owner"}
    assert veteran.spec["role"] == "analytical"
    assert veteran.spec["capabilities"][0]["name"] == "rank-channels"


def test_a_reported_status_is_kept_and_it_says_so(ioa: Run, tmp_path: Path) -> None:
    put(tmp_path / "a.yaml", domain(), agent(status={"state": "running"}))
    ioa("apply", "-f", tmp_path)
    put(tmp_path / "a.yaml", domain(), agent(status={"state": "failed"}))

    ran = ioa("apply", "-f", tmp_path)

    assert "unchanged agent/robin (status kept as reported)" in ran.out
    assert Resource.objects.get(name="robin").status == {"state": "running"}


@pytest.mark.parametrize("wrap", [lambda many: many, lambda many: {"items": many}])
def test_json_lists_and_standard_input_apply_too(
    ioa: Run, monkeypatch: pytest.MonkeyPatch, wrap: Callable[[Any], Any]
) -> None:
    text = json.dumps(wrap([domain(), agent()]))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    ran = ioa("apply", "-f", "-")

    assert ran.code == 0
    assert ran.last.startswith("2 documents: 2 created")


def test_a_large_set_lists_only_what_moved(ioa: Run, tmp_path: Path) -> None:
    many = [domain(f"domain-{number}") for number in range(60)]
    put(tmp_path / "a.yaml", *many)

    created = ioa("apply", "-f", tmp_path)
    many[7]["spec"]["purpose"] = "Other."
    put(tmp_path / "a.yaml", *many)
    changed = ioa("apply", "-f", tmp_path)
    verbose = ioa("apply", "-f", tmp_path, "-v")

    assert len(created.out.splitlines()) == 42
    assert "… and 20 more (-v lists all)" in created.out
    assert changed.out.splitlines()[0] == "changed   domain/domain-7"
    assert len(changed.out.splitlines()) == 2
    assert len(verbose.out.splitlines()) == 61


def test_a_document_made_from_an_older_version_is_a_conflict(ioa: Run, tmp_path: Path) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain()))
    read = ioa("get", "domain", "growth").out
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(purpose="Other.")))
    (tmp_path / "a.yaml").write_text(read, encoding="utf-8")

    ran = ioa("apply", "-f", tmp_path)

    assert ran.code == 1
    assert "This resource is now at version" in ran.err


def test_a_whole_organisation_applies_in_any_order(ioa: Run, tmp_path: Path) -> None:
    for position, each in enumerate(reversed(ORGANISATION)):
        put(tmp_path / f"{position}.yaml", each)

    ran = ioa("apply", "-f", tmp_path)

    assert ran.code == 0
    assert "warning" not in ran.err
    assert f"{len(ORGANISATION)} created" in ran.last


def test_nothing_to_read_is_an_error(ioa: Run, tmp_path: Path) -> None:
    ran = ioa("apply", "-f", tmp_path / "gone")

    assert ran.code == 1
    assert f"error: {tmp_path}/gone: does not exist" in ran.err
