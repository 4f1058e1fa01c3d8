"""Dashboard, alerts and page speak of metrics that there are, and of nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from ruamel.yaml import YAML

from resources.observability import metrics
from resources.observability.metrics import Known
from tests import measured
from tests.rows import every_row

pytestmark = pytest.mark.sqlite

FOLDER = measured.RULES.parent
DASHBOARD = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
RULES = measured.rules()
KNOWN = {each.name: each for each in metrics.known}
NAME = re.compile(r"\bioa_[a-z_]+")
PARTS = re.compile(r"_(bucket|sum|count)$")
SELECTOR = re.compile(r"\b(ioa_[a-z_]+)\{([^}]*)\}")
BY = re.compile(r"by \(([^)]*)\) \((.*)\)")
# What Prometheus itself puts on every number, and on every bucket.
EVERYWHERE = {"job", "instance", "le"}
ROWS = ["Loop", "Decisions", "Effects and calls", "Web and sockets", "Database"]


def expressions() -> Iterator[str]:
    """Return everything that is asked of Prometheus."""
    for panel in DASHBOARD["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    yield from (rule["expr"] for rule in RULES)


def known(name: str) -> Known:
    """Return a metric by its name, or by the name of a part of it."""
    whole = PARTS.sub("", name)
    if whole != name and KNOWN.get(whole, KNOWN["ioa_holds"]).kind == "histogram":
        return KNOWN[whole]
    return KNOWN[name]


@every_row("expression", sorted(set(expressions())))
def test_every_expression_names_metrics_and_labels_that_there_are(expression: str) -> None:
    names = NAME.findall(expression)

    assert names
    assert all(known(name) for name in names)
    for name, selected in SELECTOR.findall(expression):
        asked = {each.split("=")[0].strip("~! ") for each in selected.split(", ")}
        assert asked <= EVERYWHERE | set(known(name).labels)
    for labels, inside in BY.findall(expression):
        given = {label for name in NAME.findall(inside) for label in known(name).labels}
        assert set(labels.split(", ")) <= EVERYWHERE | given
    assert expression.count("(") == expression.count(")")


def test_every_metric_is_on_the_dashboard() -> None:
    shown = {known(name).name for each in expressions() for name in NAME.findall(each)}

    assert shown == set(KNOWN)


def test_the_dashboard_has_a_row_for_each_area_and_asks_for_its_data_source() -> None:
    panels = DASHBOARD["panels"]

    assert [each["title"] for each in panels if each["type"] == "row"] == ROWS
    assert list(dict.fromkeys(each.area for each in metrics.known)) == ROWS
    assert len({each["id"] for each in panels}) == len(panels)
    uid = {each["datasource"]["uid"] for each in panels if "datasource" in each}
    assert uid == {"${datasource}"}


@every_row("rule", RULES, ids=lambda rule: rule["alert"])
def test_every_alert_says_what_it_means_and_where_to_read_on(rule: dict[str, Any]) -> None:
    page = measured.PAGE.read_text(encoding="utf-8")
    file, _, anchor = rule["annotations"]["runbook_url"].partition("#")

    assert rule["annotations"]["summary"].endswith(".")
    assert rule["labels"]["severity"] in ("info", "warning", "critical")
    assert measured.ROOT / file == measured.PAGE
    assert anchor == rule["alert"].lower()
    assert f"\n### {rule['alert']}\n" in page


def test_prometheus_is_shown_how_to_ask() -> None:
    example = YAML(typ="safe").load((FOLDER / "prometheus.yaml").read_text(encoding="utf-8"))

    assert example["rule_files"] == [measured.RULES.name]
    for job in example["scrape_configs"]:
        assert job["authorization"]["credentials_file"]
        assert job["static_configs"][0]["targets"]


def test_the_page_of_metrics_is_current() -> None:
    written = measured.PAGE.read_text(encoding="utf-8")

    assert written == measured.page(metrics.known, RULES), "run `python -m tests.catalogue`"


def test_every_metric_is_named_once_and_explained() -> None:
    assert len(KNOWN) == len(metrics.known)
    for each in metrics.known:
        assert re.fullmatch(r"ioa_[a-z_]+", each.name)
        assert each.help.endswith(".")
        assert len(each.labels) <= 3
