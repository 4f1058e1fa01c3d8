"""Many at once: one chain of versions, nothing lost, nobody stuck."""

from __future__ import annotations

import random
import threading
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from resources.documents.actor import SYSTEM
from resources.store import evidence
from resources.tables import ledger
from resources.tables.ledger import Entry
from resources.tables.models import Checkpoint, Resource, ResourceRevision
from resources.usecases import deletion, specs, statuses, tokens
from tests.conftest import Clock
from tests.problems import tolerating
from tests.resources.making import ALICE, apply, live, made, shown
from tests.resources.racing import Background, together

pytestmark = [pytest.mark.usefixtures("real_database"), pytest.mark.servers]

CLIENTS = 8


@pytest.fixture(autouse=True)
def ledger_is_whole_after_all(real_database: None) -> Any:
    yield
    assert evidence.verify().findings == []


def purpose(text: str) -> dict[str, Any]:
    return made("Domain", "harbour", {"purpose": text})


def test_of_eight_who_have_seen_the_same_version_one_wins(clock: Clock) -> None:
    apply(clock.now, purpose("Start."))

    def attempt(version: int, text: str) -> str:
        wish = specs.DesiredDocument(purpose(text), expected=version)
        return specs.apply([wish], actor=ALICE, now=clock.now).results[0].action

    for round_ in range(5):
        version = live("Domain", "harbour").resource_version
        results = together(
            [partial(attempt, version, f"{round_}-{client}") for client in range(CLIENTS)]
        )

        assert sorted(results) == ["changed"] + ["conflict"] * (CLIENTS - 1)
        winner = results.index("changed")
        assert live("Domain", "harbour").spec["purpose"] == f"{round_}-{winner}"

    chain = ResourceRevision.objects.order_by("resource_version")
    assert list(chain.values_list("generation", flat=True)) == [1, 2, 3, 4, 5, 6]


def test_eight_who_expect_nothing_write_one_after_the_other(clock: Clock) -> None:
    """A-18"""
    apply(clock.now, purpose("Start."))

    outcomes = together(
        [partial(apply, clock.now, purpose(f"Client {client}.")) for client in range(CLIENTS)]
    )

    assert [each.results[0].action for each in outcomes] == ["changed"] * CLIENTS
    chain = ResourceRevision.objects.order_by("resource_version")
    assert list(chain.values_list("generation", flat=True)) == list(range(1, CLIENTS + 2))
    assert live("Domain", "harbour").generation == CLIENTS + 1


@pytest.mark.parametrize("expected", [0, None])
def test_of_eight_who_create_one_name_one_does(clock: Clock, expected: int | None) -> None:
    def create() -> str:
        wish = specs.DesiredDocument(purpose("Same."), expected=expected)
        return specs.apply([wish], actor=ALICE, now=clock.now).results[0].action

    results = together([create] * CLIENTS)

    rest = "conflict" if expected == 0 else "unchanged"
    assert sorted(results) == sorted(["created"] + [rest] * (CLIENTS - 1))
    assert Resource.objects.count() == ResourceRevision.objects.count() == 1


def test_reports_and_changes_do_not_lose_each_other(clock: Clock) -> None:
    """A-18"""
    apply(clock.now, made("Domain", "harbour"), made("Agent", "robin"))
    rounds = 10

    def declare() -> None:
        for step in range(rounds):
            apply(clock.now, made("Agent", "robin", {"purpose": f"Step {step}."}))

    def observe(field: str) -> None:
        for step in range(rounds):
            told = statuses.Report("Agent", "robin", {field: step})
            assert not statuses.observe([told], actor=SYSTEM, now=clock.now)[0].failed

    fields = ["overrideRate", "errorRate", "healthScore"]
    together([declare, *(partial(observe, field) for field in fields)])

    document = shown("Agent", "robin")
    assert document["spec"]["purpose"] == f"Step {rounds - 1}."
    assert document["metadata"]["generation"] == rounds + 1
    assert {field: document["status"][field] for field in fields} == dict.fromkeys(
        fields, rounds - 1
    )
    revisions = live("Agent", "robin").revisions
    assert revisions.count() == 1 + rounds * (1 + len(fields))


def test_overlapping_sets_in_different_order_end_consistent(clock: Clock) -> None:
    names = [f"d-{n:02}" for n in range(30)]

    def write(client: int) -> None:
        draw = random.Random(client)  # noqa: S311
        for step in range(3):
            chosen = draw.sample(names, 20)
            text = f"Client {client}, step {step}."
            documents = [made("Domain", name, {"purpose": text}) for name in chosen]
            assert apply(clock.now, *documents).written

    together([partial(write, client) for client in range(4)])

    for row in Resource.objects.all():
        last = row.revisions.latest("resource_version")
        assert (last.resource_version, last.spec) == (row.resource_version, row.spec)
        assert row.revisions.count() == row.generation


def act_at_random(clock: Clock, client: int) -> None:
    """Apply, report and delete among a few agents that others work on too."""
    draw = random.Random(client)  # noqa: S311
    for step in range(8):
        chosen = draw.sample([f"agent-{n}" for n in range(4)], 2)
        match draw.choice(["apply", "apply", "report", "delete", "domain"]):
            case "apply":
                spec = {"purpose": f"Client {client}, step {step}."}
                apply(clock.now, *(made("Agent", name, spec) for name in chosen))
            case "report":
                told = [statuses.Report("Agent", name, {"errorRate": step}) for name in chosen]
                statuses.observe(told, actor=SYSTEM, now=clock.now)
            case "delete":
                with tolerating("not-found"):
                    deletion.delete("Agent", chosen[0], actor=ALICE, now=clock.now)
            case _:
                apply(clock.now, made("Domain", "harbour", {"agents": chosen}))


def test_anything_at_once_leaves_every_history_whole(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour"))

    together([partial(act_at_random, clock, client) for client in range(4)])

    for row in Resource.objects.all():
        history = list(row.revisions.order_by("resource_version"))
        changes = [each.change for each in history]
        assert changes[0] == "ADDED"
        assert set(changes[1:-1]) <= {"MODIFIED"}
        assert (changes[-1] == "DELETED") == (row.deleted_at is not None)
        assert history[-1].resource_version == row.resource_version


def test_new_streams_and_known_ones_are_locked_without_deadlock(clock: Clock) -> None:
    def append(client: int) -> None:
        draw = random.Random(client)  # noqa: S311
        for step in range(10):
            streams = draw.sample([f"s-{n}" for n in range(step, step + 6)], 4)
            with transaction.atomic():
                ledger.append([Entry(s, "x", "y") for s in streams], actor=ALICE, now=clock.now)

    together([partial(append, client) for client in range(4)])

    assert evidence.verify().events == 160


def test_checkpoints_made_at_once_are_one(clock: Clock) -> None:
    apply(clock.now, purpose("Start."))

    together([partial(evidence.checkpoint, clock.now)] * 6)

    assert Checkpoint.objects.count() == 1
    assert len(evidence.outside().read_text("utf-8").splitlines()) == 1


def test_verifying_while_others_write_is_clean(clock: Clock) -> None:
    done = threading.Event()

    def verify() -> list[str]:
        findings: list[str] = []
        while not done.is_set():
            evidence.checkpoint(clock.now)
            findings += evidence.verify().findings
        return findings

    def write(client: int) -> None:
        for step in range(15):
            apply(clock.now, made("Domain", f"d-{client}", {"purpose": f"Step {step}."}))

    verifier = Background(verify)
    try:
        together([partial(write, client) for client in range(3)])
    finally:
        done.set()

    assert verifier.wait() == []


def test_a_token_revoked_by_two_is_revoked_once(clock: Clock) -> None:
    apply(clock.now, made("Agent", "robin"))
    issued = tokens.issue(
        "robin",
        scopes=["status:write"],
        lifetime=tokens.DEFAULT_LIFETIME,
        actor=ALICE,
        now=clock.now,
    )

    together([partial(tokens.revoke, issued.token.key_id, actor=ALICE, now=clock.now)] * 4)

    told = [each["type"] for each in evidence.export()]
    assert told.count("token.revoked") == 1
