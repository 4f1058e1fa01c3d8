"""`ioa export` writes documents that others accept and that apply again unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from resources.documents import kinds
from resources.documents.yaml_text import read_yaml
from resources.tables.models import LedgerEvent, Resource
from tests.cli.conftest import ROOT, Run
from tests.cli.samples import agent, domain, put, read_folder
from tests.kinds import published
from tests.kinds.samples import ORGANISATION
from tests.spec.organisation import CONTROLLER

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["example", "samples"])
def organisation(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder with a whole organisation."""
    if request.param == "example":
        return ROOT / "resources" / "example"
    return put(tmp_path / "samples" / "all.yaml", *ORGANISATION).parent


def test_what_is_exported_applies_again_as_unchanged(
    ioa: Run, tmp_path: Path, organisation: Path
) -> None:
    """O-33"""
    ioa("apply", "-f", organisation)
    entries = LedgerEvent.objects.count()

    exported = ioa("export", tmp_path / "out")
    again = ioa("apply", "-f", tmp_path / "out", "-v")

    count = Resource.objects.count()
    assert exported.code == 0
    assert exported.last.startswith(f"Wrote {count} documents")
    assert again.code == 0
    assert f"0 created, 0 changed, {count} unchanged" in again.last
    assert LedgerEvent.objects.count() == entries


def test_what_is_exported_fits_an_empty_store_just_as_well(
    ioa: Run, tmp_path: Path, organisation: Path
) -> None:
    ioa("apply", "-f", organisation)
    ioa("export", tmp_path / "first")
    kept = read_folder(tmp_path / "first")
    Resource.objects.all().delete()

    applied = ioa("apply", "-f", tmp_path / "first")
    ioa("export", tmp_path / "second")

    assert f"{len(kept)} created" in applied.last
    assert read_folder(tmp_path / "second") == kept


def test_what_is_exported_satisfies_the_published_schemas(
    ioa: Run, tmp_path: Path, organisation: Path
) -> None:
    ioa("apply", "-f", organisation)

    ioa("export", tmp_path / "out")

    for each in read_folder(tmp_path / "out"):
        assert published.problems(each) == [], each["metadata"]["name"]


def test_each_document_has_a_file_in_the_folder_of_its_kind(ioa: Run, tmp_path: Path) -> None:
    ioa("apply", "-f", put(tmp_path / "all.yaml", *ORGANISATION))

    ioa("export", tmp_path / "out")

    expected = {
        tmp_path / "out" / kind.folder / f"{each['metadata']['name']}.yaml"
        for each in ORGANISATION
        for kind in kinds.ALL
        if kind.name == each["kind"]
    }
    assert set((tmp_path / "out").glob("*/*")) == expected
    config = json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))
    assert (config["name"], config["version"]) == ("out", "0.2")
    assert config["paths"]["security"] == "security"
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_file()} == {
        "config.json"
    }


def test_the_seeds_controller_comes_back_with_its_status(ioa: Run, tmp_path: Path) -> None:
    """I-06 O-33"""
    source = tmp_path / "controller.yaml"
    source.write_text(CONTROLLER, encoding="utf-8")
    given = read_yaml(CONTROLLER)
    given["spec"]["hooks"]["postReconcile"][0]["action"] = (
        "emit controller.reconciliation-completed"
    )
    given["spec"]["actions"]["onHealthy"][0]["severity"] = "info"

    applied = ioa("apply", "-f", source)
    ioa("export", tmp_path / "out")
    again = ioa("apply", "-f", tmp_path / "out")
    source_again = ioa("apply", "-f", source)

    [exported] = read_folder(tmp_path / "out")
    assert applied.code == 0
    assert exported == given
    assert published.problems(exported) == []
    assert "1 unchanged" in again.last
    assert "1 unchanged" in source_again.last


def test_a_folder_that_holds_something_is_refused_unless_forced(ioa: Run, tmp_path: Path) -> None:
    ioa("apply", "-f", put(tmp_path / "in" / "a.yaml", domain()))
    own = put(tmp_path / "out" / "domains" / "old.yaml", domain("old"))

    refused = ioa("export", tmp_path / "out")
    forced = ioa("export", tmp_path / "out", "--force")

    assert refused.code == 2
    assert "is not empty" in refused.err
    assert forced.code == 0
    assert f"{own}: left as it was" in forced.err
    assert (tmp_path / "out" / "domains" / "growth.yaml").exists()


def test_an_export_that_breaks_off_is_marked_and_can_be_repeated(
    ioa: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), agent()))
    from ioa_site.work import export

    def interrupt(folder: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(export, "write_config", interrupt)
        broken = ioa("export", tmp_path / "out")
    marked = (tmp_path / "out" / "EXPORT-INCOMPLETE").exists()
    repeated = ioa("export", tmp_path / "out")

    assert broken.code == 130
    assert marked
    assert repeated.code == 0
    assert not (tmp_path / "out" / "EXPORT-INCOMPLETE").exists()


def test_one_kind_and_no_status_can_be_asked_for(ioa: Run, tmp_path: Path) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), agent(status={"state": "running"})))

    ioa("export", tmp_path / "out", "--kind", "agents", "--no-status")

    [exported] = read_folder(tmp_path / "out")
    assert exported["kind"] == "Agent"
    assert "status" not in exported


def test_the_longest_name_still_has_a_file(ioa: Run, tmp_path: Path) -> None:
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain("a" * 253), domain("a" * 252)))

    ran = ioa("export", tmp_path / "out")

    assert ran.code == 0
    assert {each["metadata"]["name"] for each in read_folder(tmp_path / "out")} == {
        "a" * 253,
        "a" * 252,
    }


def test_the_number_of_queries_does_not_grow_with_the_resources(ioa: Run, tmp_path: Path) -> None:
    def queries(count: int) -> int:
        many = [domain(f"domain-{number}") for number in range(count)]
        ioa("apply", "-f", put(tmp_path / "a.yaml", *many))
        with CaptureQueriesContext(connection) as captured:
            ioa("export", tmp_path / "out", "--force")
        return len(captured)

    assert queries(5) == queries(100)
