"""Every hostile document at every entrance: never a crash, never half a write, one verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers import people
from ioa_site.cli import main
from resources import specs
from resources.actor import Actor
from resources.models import Condition, LedgerEvent, Resource, ResourceRevision
from tests.hostile.probes import GOOD, NAME, PROBES, Probe

pytestmark = pytest.mark.django_db

MEDIA = {"json": "application/json", "yaml": "application/yaml"}
ANSWERS = {"accepted": {200, 201}, "refused": {400, 413}}

probing = pytest.mark.parametrize("probe", PROBES, ids=str)


@pytest.fixture
def browser() -> Client:
    """Return a signed-in administrator; an exception in a view is an answer here, not a crash."""
    user: User = people.ensure_administrator(timezone.now())
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def rows() -> tuple[int, ...]:
    """Count everything that a write would leave behind."""
    return (
        Resource.objects.count(),
        ResourceRevision.objects.count(),
        Condition.objects.count(),
        LedgerEvent.objects.exclude(subject__startswith="person/").count(),
    )


def judge(answer: Any, probe: Probe, before: tuple[int, ...]) -> None:
    """Compare an answer and its traces with the verdict."""
    assert answer.status_code in ANSWERS[probe.verdict], answer.content[:500]
    if probe.verdict == "refused":
        assert rows() == before
        assert answer["Content-Type"].startswith("application/problem+json")
        assert "detail" in answer.json()
    else:
        assert rows() != before


@probing
def test_the_api_takes_or_refuses_a_whole_document(browser: Client, probe: Probe) -> None:
    before = rows()

    answer = browser.put(
        f"/api/v1/resources/domain/{NAME}", probe.body, content_type=MEDIA[probe.media]
    )

    judge(answer, probe, before)


@probing
def test_apply_over_the_api_takes_or_refuses_it(browser: Client, probe: Probe) -> None:
    before = rows()

    answer = browser.post("/api/v1/apply", probe.body, content_type=MEDIA[probe.media])

    judge(answer, probe, before)


@probing
def test_the_command_line_takes_or_refuses_it(
    probe: Probe, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = rows()
    file = tmp_path / f"probe.{probe.media}"
    file.write_bytes(probe.body)

    code = main(["apply", "-f", str(file)])

    assert code == (0 if probe.verdict == "accepted" else 1), capsys.readouterr()
    assert (rows() == before) == (probe.verdict == "refused")


@probing
def test_the_admin_takes_or_refuses_it(browser: Client, probe: Probe) -> None:
    before = rows()
    text = probe.body.decode("utf-8", "replace")

    answer = browser.post(
        "/admin/resources/domain/add/", {"text": text, "version": "0", "save": "1"}
    )

    # The admin reads YAML: there some faulty JSON means something, and a character is not
    # written as a pair of escapes.
    expected = {"accepted": {302}, "refused": {422, 302 if probe.media == "json" else 422}}
    if b"\\ud83d" not in probe.body:
        assert answer.status_code in expected[probe.verdict]
    assert (rows() != before) == (answer.status_code == 302)


@probing
def test_observations_take_or_refuse_it_as_a_status(browser: Client, probe: Probe) -> None:
    wish = specs.Wish(GOOD)
    specs.apply([wish], actor=Actor("person", "alice"), now=timezone.now())
    before = rows()
    item = b'{"items": [{"kind": "Domain", "name": "probe", "status": {"probe": ' + probe.body
    body = (item + b"}}]}") if probe.media == "json" else probe.body

    answer = browser.post("/api/v1/observations", body, content_type=MEDIA[probe.media])

    assert answer.status_code in {200, 400, 413}, answer.content[:500]
    if answer.status_code != 200:
        assert rows() == before


@probing
def test_a_status_is_taken_or_refused_on_its_own(browser: Client, probe: Probe) -> None:
    wish = specs.Wish(GOOD)
    specs.apply([wish], actor=Actor("person", "alice"), now=timezone.now())
    before = rows()
    body = b'{"probe": ' + probe.body + b"}" if probe.media == "json" else probe.body

    answer = browser.patch(
        f"/api/v1/resources/domain/{NAME}/status",
        body,
        content_type="application/merge-patch+json",
    )

    assert answer.status_code in {200, 400, 413}, answer.content[:500]
    if answer.status_code != 200:
        assert rows() == before


@pytest.mark.parametrize(
    "query",
    [
        "limit=99999999999999999999",
        "limit=-1",
        "limit=0",
        "limit=NaN",
        "limit=1e3",
        "cursor=%00",
        "cursor=" + "x" * 5000,
        "cursor=%ff%fe",
        "labelSelector=%00",
        "labelSelector=((((",
        "labelSelector=" + ",".join(["a=b"] * 100),
        "domain=%00",
        "domain=" + "x" * 5000,
        "at=yesterday",
        "at=0000-00-00T00:00:00Z",
        "at=2026-01-01T00:00:00",
        "at=9999999999",
    ],
)
def test_a_hostile_query_is_refused_in_words(browser: Client, query: str) -> None:
    answer = browser.get(f"/api/v1/resources/domain?{query}")

    assert answer.status_code in {200, 400, 410}
    if answer.status_code != 200:
        assert json.loads(answer.content)["detail"]
