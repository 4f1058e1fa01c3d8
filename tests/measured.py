"""The page of metrics and alerts: `python -m tests.catalogue` writes `docs/metrics.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from resources.observability import metrics
from resources.observability.metrics import Known

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "metrics.md"
RULES = ROOT / "deploy" / "observability" / "alert-rules.yaml"
HEAD = """\
# Metrics, logs and traces

Made by `python -m tests.catalogue` of `resources/observability/metrics.py` and
`deploy/observability/alert-rules.yaml`; do not edit it.

## Who reads what

- `ioa up` and `ioa web` serve `GET /metrics`; `ioa worker --metrics-port 9100` serves its own on
  `127.0.0.1`, or where `--metrics-host` says.
- With `IOA_METRICS_TOKEN` (at least 16 characters) only who sends it as `Authorization: Bearer …`
  gets them. Without it only callers on the same machine do, and none that comes through a proxy.
  Everybody else gets 404.
- What a process counts begins with 0 when it starts. What is *shared* is read from the database at
  the scrape, so every process tells the same: use `max`, not `sum`. While the database is away,
  `ioa_database_up` is 0 and the shared ones are missing.
- A proxy on the same machine that adds no header looks like a caller from there: set a token.
- A web process answers only under a host it knows: name the targets in `IOA_ALLOWED_HOSTS`.
- Beside these there is `process_…`: memory, processor time and open files.
- `deploy/observability/` has an example for Prometheus, alerts, and a dashboard for Grafana to
  import.

**Logs** go to standard error. `IOA_LOG_FORMAT=json` makes each line an object: `time`, `level`,
`logger`, `message`, what was said besides, `exception`; in a story `correlationId`, as in the
ledger and in `X-Correlation-ID`; in a request `method`, `path`, and `status` once it is known. In
both formats tokens, links that sign in, passwords in addresses, keys and secrets of webhooks read
`[hidden]`.

**Traces** are sent where `OTEL_EXPORTER_OTLP_ENDPOINT` says, if the product was installed with
`ioa-control[otel]`: spans for requests, cycles with their phases (end to end: how long, not when),
decisions, and calls to endpoints and channels, with the story they belong to as
`ioa.correlation_id`. Without the variable nothing is kept or sent.
"""
TABLE = """
## {area}

| Metric | Type | Labels | What it says |
|---|---|---|---|
"""
ALERTS = """
## Alerts

Each is named here as in `alert-rules.yaml`.
"""
ALERT = """
### {alert}

{summary} `{expr}`{lasting}

{description}
"""


def page(known: Sequence[Known], rules: Sequence[dict[str, Any]]) -> str:
    """Write the whole page."""
    return HEAD + "".join(tables(known)) + ALERTS + "".join(map(alert, rules))


def current() -> str:
    """Write the page of the metrics there are."""
    return page(metrics.known, rules())


def tables(known: Sequence[Known]) -> Iterator[str]:
    """Write the metrics of each area."""
    for area, found in groupby(known, lambda each: each.area):
        yield TABLE.format(area=area) + "".join(map(row, found))


def row(metric: Known) -> str:
    """Write one line."""
    labels = ", ".join(f"`{each}`" for each in metric.labels)
    kind = f"{metric.kind}, shared" if metric.shared else metric.kind
    return f"| `{metric.name}` | {kind} | {labels} | {metric.help} |\n"


def alert(rule: dict[str, Any]) -> str:
    """Write what one alert means, and what to do."""
    lasting = f" for {rule['for']}" if "for" in rule else ""
    return ALERT.format(
        alert=rule["alert"], expr=rule["expr"], lasting=lasting, **rule["annotations"]
    )


def rules() -> list[dict[str, Any]]:
    """Read the alerts."""
    groups = YAML(typ="safe").load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]
