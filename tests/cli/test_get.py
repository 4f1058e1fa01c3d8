"""`ioa get` shows resources, as they are and as they were."""

from __future__ import annotations

import io
import json
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine

from resources.documents import files
from tests.cli.conftest import Run
from tests.cli.samples import agent, domain, put
from tests.conftest import Clock

pytestmark = pytest.mark.django_db


@pytest.fixture
def organisation(ioa: Run, tmp_path: Path) -> None:
    """Apply a domain and three agents, one of them unwell."""
    ready = {"type": "Ready", "status": "False", "reason": "Tired"}
    paused = {"type": "Paused", "status": "False"}
    well = agent("ann", status={"state": "running", "conditions": [paused]})
    unwell = agent("bob", status={"state": "degraded", "conditions": [ready]})
    unwell["metadata"]["labels"] = {"tier": "core"}
    ioa("apply", "-f", put(tmp_path / "a.yaml", domain(), well, unwell, agent("cid")))


@pytest.mark.parametrize("spelling", ["agent", "agents", "Agent", "AGENTS"])
@pytest.mark.usefixtures("organisation")
def test_a_table_names_what_is_in_a_bad_state(ioa: Run, spelling: str) -> None:
    ran = ioa("get", spelling)

    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[0] == ["NAME", "DOMAIN", "GENERATION", "CHANGED", "CONDITIONS"]
    assert [(line[0], line[1], line[2], line[4]) for line in lines[1:]] == [
        ("ann", "growth", "1", "-"),
        ("bob", "growth", "1", "Ready=False"),
        ("cid", "growth", "1", "-"),
    ]


@pytest.mark.parametrize(
    "spelling", ["securitypolicy", "security-policy", "SecurityPolicy", "security policies"]
)
def test_two_words_may_be_written_in_any_way(ioa: Run, spelling: str) -> None:
    assert ioa("get", spelling).out == "There are no security policies.\n"


def test_an_unknown_kind_suggests_the_nearest(ioa: Run) -> None:
    ran = ioa("get", "agnet")

    assert ran.code == 2
    assert "Did you mean agent?" in ran.err


@pytest.mark.usefixtures("organisation")
def test_one_resource_is_a_whole_document(ioa: Run) -> None:
    as_yaml = ioa("get", "agent", "bob")
    as_json = ioa("get", "agent", "bob", "-o", "json")

    [loaded] = files.load_text(as_yaml.out, source="x", media="yaml")
    assert loaded.document == json.loads(as_json.out)
    assert json.loads(as_json.out)["metadata"]["generation"] == 1


@pytest.mark.parametrize("output", ["yaml", "json"])
@pytest.mark.usefixtures("organisation")
def test_what_is_written_can_be_compared_again(
    ioa: Run, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ioa("get", "agents", "-o", output).out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    ran = ioa("diff", "-f", "-")

    assert ran.code == 0, ran.out


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("tier=production", ["ann", "cid"]),
        ("tier!=production", ["bob"]),
        ("tier in (core, production)", ["ann", "bob", "cid"]),
        ("tier,!zone", ["ann", "bob", "cid"]),
        ("zone", []),
    ],
)
@pytest.mark.usefixtures("organisation")
def test_a_selector_chooses_now_and_then(ioa: Run, selector: str, expected: list[str]) -> None:
    now = ioa("get", "agents", "-l", selector, "-o", "json")
    then = ioa("get", "agents", "-l", selector, "-o", "json", "--at", "2100-01-01")

    for ran in (now, then):
        items = json.loads(ran.out)["items"]
        assert [each["metadata"]["name"] for each in items] == expected


def test_a_time_shows_what_was(ioa: Run, tmp_path: Path, clock: Clock) -> None:
    for purpose in ("First.", "Second."):
        with time_machine.travel(clock.advance(hours=1), tick=False):
            ioa("apply", "-f", put(tmp_path / "a.yaml", domain(purpose=purpose)))
    between = (clock.now - timedelta(minutes=30)).isoformat()

    then = ioa("get", "domain", "growth", "--at", between)
    listed = ioa("get", "domains", "--at", between, "-o", "yaml")
    before = ioa("get", "domain", "growth", "--at", "2020-01-01")

    assert "purpose: First." in then.out
    assert "purpose: First." in listed.out
    assert before.code == 1
    assert "There is no domain/growth at that time." in before.err


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (("agent", "nobody"), 1, "There is no agent/nobody."),
        (("agents", "-l", "a=b=c"), 2, "is not a term"),
        (("agents", "--at", "noon"), 2, "'noon' is no time"),
        (("agent", "ann", "-l", "a=b"), 2, "either a name or a selector"),
    ],
)
def test_what_cannot_be_found_is_a_sentence(
    ioa: Run, arguments: tuple[str, ...], code: int, expected: str
) -> None:
    ran = ioa("get", *arguments)

    assert ran.code == code
    assert ran.out == ""
    assert expected in ran.err
