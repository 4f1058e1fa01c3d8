"""Every hostile document at every entrance: never a crash, never half a write, one verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controllers.access import people
from ioa_site.cli import main
from resources.documents import limits
from resources.documents.actor import Actor
from resources.documents.reader import Unreadable, read_json
from resources.documents.yaml_text import read_yaml
from resources.tables.models import Condition, LedgerEvent, Resource, ResourceRevision
from resources.usecases import specs
from tests.hostile.conftest import Alone
from tests.hostile.probes import GOOD, NAME, PROBES, Probe
from tests.tiers import quick_first

pytestmark = [pytest.mark.django_db, pytest.mark.full]

MEDIA = {"json": "application/json", "yaml": "application/yaml"}
ANSWERS = {"accepted": {200, 201}, "refused": {400, 413}}

# Many in one test: to bring an administrator in takes longer than to refuse a document.
HANDS = 8
probing = pytest.mark.parametrize("hand", quick_first(range(HANDS), 2))


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
def test_the_api_takes_or_refuses_a_whole_document(
    browser: Client, hand: int, alone: Alone
) -> None:
    for probe in PROBES[hand::HANDS]:
        with alone(probe):
            before = rows()

            answer = browser.put(
                f"/api/v1/resources/domain/{NAME}", probe.body, content_type=MEDIA[probe.media]
            )

            judge(answer, probe, before)


@probing
def test_apply_over_the_api_takes_or_refuses_it(browser: Client, hand: int, alone: Alone) -> None:
    for probe in PROBES[hand::HANDS]:
        with alone(probe):
            before = rows()

            answer = browser.post("/api/v1/apply", probe.body, content_type=MEDIA[probe.media])

            judge(answer, probe, before)


@probing
def test_the_command_line_takes_or_refuses_it(
    hand: int, alone: Alone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for probe in PROBES[hand::HANDS]:
        with alone(probe):
            before = rows()
            file = tmp_path / f"probe.{probe.media}"
            file.write_bytes(probe.body)

            code = main(["apply", "-f", str(file)])

            assert code == (0 if probe.verdict == "accepted" else 1), capsys.readouterr()
            assert (rows() == before) == (probe.verdict == "refused")


@probing
def test_the_admin_takes_or_refuses_it(browser: Client, hand: int, alone: Alone) -> None:
    for probe in PROBES[hand::HANDS]:
        with alone(probe):
            before = rows()
            text = probe.body.decode("utf-8", "replace")

            answer = browser.post(
                "/admin/resources/domain/add/", {"text": text, "version": "0", "save": "1"}
            )

            assert answer.status_code == (302 if good_as_yaml(text) else 400)
            assert (rows() != before) == (answer.status_code == 302)


@probing
def test_observations_take_or_refuse_it_as_a_status(
    browser: Client, hand: int, alone: Alone
) -> None:
    for probe in PROBES[hand::HANDS]:
        with alone(probe):
            apply_good()
            before = rows()
            item = (
                b'{"items": [{"kind": "Domain", "name": "probe", "status": {"probe": ' + probe.body
            )
            body = (item + b"}}]}") if probe.media == "json" else probe.body

            answer = browser.post("/api/v1/observations", body, content_type=MEDIA[probe.media])

            taken = probe.media == "json" and fits_a_status(body, ("items", 0, "status"))
            if answer.status_code == 200:
                verdict = answer.json()["items"][0]["verdict"]
                assert (verdict in ("changed", "unchanged")) == taken
            else:
                assert answer.status_code in (400, 413)
                assert not taken
            assert taken or rows() == before


@probing
def test_a_status_is_taken_or_refused_on_its_own(browser: Client, hand: int, alone: Alone) -> None:
    for probe in PROBES[hand::HANDS]:
        with alone(probe):
            apply_good()
            before = rows()
            body = b'{"probe": ' + probe.body + b"}" if probe.media == "json" else probe.body

            answer = browser.patch(
                f"/api/v1/resources/domain/{NAME}/status",
                body,
                content_type="application/merge-patch+json",
            )

            taken = fits_a_status(body, ())
            assert answer.status_code in ({200} if taken else {400, 413}), answer.content[:500]
            assert taken or rows() == before


def apply_good() -> None:
    """Write the good document, for reports about it."""
    specs.apply([specs.DesiredDocument(GOOD)], actor=Actor("person", "alice"), now=timezone.now())


def good_as_yaml(text: str) -> bool:
    """Tell, without a database, what becomes of a text that is read as YAML."""
    try:
        document = read_yaml(text)
    except Unreadable:
        return False
    return isinstance(specs.check(specs.DesiredDocument(document), set()), specs.DesiredDocument)


def fits_a_status(body: bytes, path: tuple[Any, ...]) -> bool:
    """Tell, without a database, whether a body holds a status that can be stored."""
    try:
        value = read_json(body)
    except Unreadable:
        return False
    for step in path:
        value = value[step]
    return isinstance(value, dict) and not list(limits.sizes({"status": value}))


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
