"""Feeds that are not given."""

from __future__ import annotations

import pytest

from resources.tables.models import Compaction
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "query",
    [
        "since=x",
        "since=-1",
        "since=99999999999999999999",
        "kind=unicorn",
        "bookmarkSeconds=0",
        "bookmarkSeconds=61",
        "sinc=1",
    ],
)
def test_a_bad_parameter_is_refused(alice: Api, query: str) -> None:
    answer = alice.get("watch", query)

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


def test_a_last_event_that_is_no_version_is_refused(alice: Api) -> None:
    assert alice.get("watch", last_event_id="x").status_code == 400


def test_a_beginning_that_was_dropped_is_gone(alice: Api) -> None:
    Compaction.objects.create(name="revisions", floor=5)

    answer = alice.get("watch", "since=4")

    assert answer.status_code == 410
    assert answer.json()["type"] == "/problems/gone"


def test_nobody_follows_without_signing_in(stranger: Api, alice: Api) -> None:
    assert stranger.get("watch").status_code == 401
    assert alice.get("watch", accept="image/png").status_code == 406
