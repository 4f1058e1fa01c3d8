"""The ten kinds and what each says of itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from resources.documents import kinds
from resources.documents.kind import Declaration, Kind
from tests.kinds.samples import ORGANISATION, kind, sample
from tests.rows import every_row

NEGATIVE = {"Reconciling", "Progressing", "Degraded", "Stalled", "Paused", "Overridden"}
OWN_CONDITIONS = {
    "Domain": {
        "AgentsAvailable",
        "HealthReported",
        "CognitiveLoadHealthy",
        "IncidentsWithinLimit",
    },
    "Agent": {"Ready", "ExecutedOnSchedule"},
    "Budget": {"BelowAlertThreshold", "ProjectedWithinBudget", "AllocationsRespected"},
    "SecurityPolicy": {"ThreatLevelAcceptable"},
    "Governance": {
        "OverrideResponsive",
        "OverrideTested",
        "AuditActive",
        "Compliant",
        "PolicyActive",
    },
    "Workflow": {"WithinTimeout", "RetriesWithinPolicy", "StepsHealthy"},
    "Decision": {"ReviewCurrent", "AssumptionsValid", "LifecycleInSync"},
    "Telemetry": {"EmittingNormally", "AlertRuleQuiet", "RetentionApplied"},
    "Memory": {"RetentionApplied", "LifecycleInSync"},
    "Controller": set(),
}


def test_there_are_ten_kinds_in_their_order() -> None:
    names = [each.name for each in kinds.ALL]

    assert names == list(OWN_CONDITIONS)


def test_kinds_are_found_by_name_and_by_path() -> None:
    assert kinds.by_name("SecurityPolicy") is kinds.by_path("securitypolicy")
    assert kinds.by_name("securitypolicy") is None
    assert kinds.by_path("secret") is None


def test_paths_folders_titles_and_icons_are_distinct() -> None:
    for attribute in ("path", "folder", "title", "plural", "icon", "order"):
        assert len({getattr(each, attribute) for each in kinds.ALL}) == 10, attribute


def test_every_kind_but_controller_can_be_targeted() -> None:
    assert [each.name for each in kinds.ALL if not each.targetable] == ["Controller"]


def test_five_kinds_have_two_versions() -> None:
    older = {each.name for each in kinds.ALL if "ioa.dev/v0.1" in each.versions}

    assert older == {"Domain", "Agent", "Decision", "Telemetry", "Governance"}


@every_row("each", kinds.ALL, ids=lambda each: each.name)
def test_condition_types_say_which_status_is_good(each: Kind) -> None:
    good = {condition.name: condition.good for condition in each.condition_types}

    assert OWN_CONDITIONS[each.name] <= good.keys()
    assert {name for name, status in good.items() if status == "False"} == NEGATIVE
    assert len(good) == len(each.condition_types)


@every_row("each", kinds.ALL, ids=lambda each: each.name)
def test_a_schema_needs_no_other_file(each: Kind) -> None:
    text = json.dumps(each.schema)

    assert text.count('"$ref": "') == text.count('"$ref": "#/$defs/')
    assert each.schema["additionalProperties"] is False


@every_row(
    ("document", "domain"),
    [
        (sample("Domain"), "harbour"),
        (sample("Agent"), "harbour"),
        (sample("Telemetry"), "harbour"),
        (sample("Memory"), "harbour"),
        (sample("Workflow", {"/spec/domainsInvolved": ["quay", "harbour"]}), "quay"),
        (sample("Controller"), ""),
        (sample("Agent", {"/spec/domain": 7}), ""),
        (sample("Agent", {"/spec": "none"}), ""),
    ],
)
def test_the_domain_of_a_document(document: dict[str, object], domain: str) -> None:
    assert kind(str(document["kind"])).domain_of(document) == domain


def test_a_domain_declares_its_kpis_and_data() -> None:
    document = sample("Domain", {"/spec/dataOwnership/0": "tides"})

    declared = set(kind("Domain").declarations(document))

    assert declared == {
        Declaration("kpi", "berth-time"),
        Declaration("kpi", "mood"),
        Declaration("asset", "tides"),
        Declaration("asset", "manifests"),
    }


def test_telemetry_declares_its_event_with_underscores() -> None:
    document = sample("Telemetry", {"/spec/event": "harbour.ship-berthed"})

    declared = list(kind("Telemetry").declarations(document))

    assert declared == [Declaration("event", "harbour.ship_berthed")]


def test_only_domains_and_telemetry_declare_names() -> None:
    declaring = {
        each["kind"] for each in ORGANISATION if any(kind(each["kind"]).declarations(each))
    }

    assert declaring == {"Domain", "Telemetry"}


def test_kinds_and_validation_load_without_django() -> None:
    program = "import sys, resources.documents.validation; sys.exit('django' in sys.modules)"
    root = Path(__file__).parents[2]

    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0


def test_a_new_kind_is_a_new_file(tmp_path: Path) -> None:
    module = "from resources.documents.kind import Kind\n"
    module += "KIND = Kind(name='Boat', path='boat', folder='boats', title='Boat',"
    module += " plural='Boats', icon='ship', order=11)\n"
    (tmp_path / "boat.py").write_text(module)
    program = (
        f"import resources, pkgutil; from importlib.util import find_spec;"
        f"spec = find_spec('resources.documents.kinds');"
        f"spec.submodule_search_locations.append({str(tmp_path)!r});"
        f"import importlib.util, sys; package = importlib.util.module_from_spec(spec);"
        f"sys.modules['resources.documents.kinds'] = package; spec.loader.exec_module(package);"
        f"assert package.by_path('boat').name == package.ALL[-1].name == 'Boat'"
    )
    root = Path(__file__).parents[2]

    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0
