"""Applying documents: what is written, what is counted, and what leaves no trace."""

from __future__ import annotations

from copy import deepcopy

import pytest

from resources.documents.kind import Document
from resources.tables.models import LedgerEvent, Resource, ResourceRevision
from resources.usecases import specs
from tests.conftest import Clock
from tests.resources.making import (
    ALICE,
    actions,
    apply,
    everything,
    live,
    made,
    report,
    shown,
)

pytestmark = pytest.mark.django_db

HARBOUR = made("Domain", "harbour", metadata={"labels": {"tier": "core"}})
ROBIN = made("Agent", "robin")


def expect(clock: Clock, document: Document, version: int | None) -> specs.Applied:
    wish = specs.DesiredDocument(document, expected=version)
    return specs.apply([wish], actor=ALICE, now=clock.now).results[0]


def test_a_new_document_is_created(clock: Clock) -> None:
    wishes = [specs.DesiredDocument(each, message="First import.") for each in (HARBOUR, ROBIN)]

    outcome = specs.apply(wishes, actor=ALICE, now=clock.now)

    row = live("Agent", "robin")
    assert (actions(outcome), outcome.written) == (["created", "created"], True)
    assert (row.generation, row.domain, row.created_at) == (1, "harbour", clock.now)
    revision = row.revisions.get()
    assert (revision.change, revision.actor) == ("ADDED", "person/alice")
    assert revision.message == "First import."
    assert list(
        LedgerEvent.objects.filter(subject="agent/robin").values_list("event", "actor")
    ) == [("resource.created", "person/alice")]


def test_applying_again_writes_nothing_at_all(clock: Clock) -> None:
    documents = [HARBOUR, made("Domain", "quay", {"agents": ["nobody"]}), ROBIN]
    apply(clock.now, *documents)
    before = everything()

    outcome = apply(clock.advance(hours=1), *documents)

    assert actions(outcome) == ["unchanged"] * 3
    assert everything() == before


def test_the_order_of_keys_is_no_change(clock: Clock) -> None:
    apply(clock.now, made("Domain", "harbour", {"events": {"produces": ["a.b"], "consumes": []}}))
    turned = made("Domain", "harbour", {"events": {"consumes": [], "produces": ["a.b"]}})

    assert actions(apply(clock.now, turned)) == ["unchanged"]


def test_only_a_changed_spec_moves_the_generation(clock: Clock) -> None:
    """F-55"""
    apply(clock.now, HARBOUR)
    first = live("Domain", "harbour")

    for changes in (
        {"labels": {"tier": "edge"}},
        {"labels": {"tier": "edge"}, "annotations": {"note": "moved"}},
    ):
        apply(clock.advance(minutes=1), made("Domain", "harbour", metadata=changes))
    labelled = live("Domain", "harbour")
    changed = made("Domain", "harbour", {"purpose": "Bring ships out."})
    apply(clock.advance(minutes=1), changed)

    row = live("Domain", "harbour")
    assert [first.generation, labelled.generation, row.generation] == [1, 1, 2]
    assert first.resource_version < labelled.resource_version < row.resource_version
    assert list(
        LedgerEvent.objects.filter(subject="domain/harbour")
        .order_by("seq")
        .values_list("event", flat=True)
    ) == [
        "resource.created",
        "resource.metadata-changed",
        "resource.metadata-changed",
        "resource.spec-changed",
    ]
    assert row.revisions.count() == 4


def test_the_answer_says_what_is_different(clock: Clock) -> None:
    apply(clock.now, HARBOUR)

    result = apply(clock.now, made("Domain", "harbour", {"purpose": "Other."})).results[0]

    assert [(each.pointer, each.operation) for each in result.differences] == [
        ("/metadata/labels", "remove"),
        ("/spec/purpose", "replace"),
    ]
    changed = LedgerEvent.objects.get(event="resource.spec-changed").payload["changed"]
    assert changed == ["/metadata/labels", "/spec/purpose"]


def test_one_bad_document_stops_the_whole_set(clock: Clock) -> None:
    bad = made("Agent", "robin", {"type": "wild"})
    before = everything()

    outcome = apply(clock.now, HARBOUR, bad)

    assert (actions(outcome), outcome.written, outcome.failed) == (
        ["created", "refused"],
        False,
        True,
    )
    assert outcome.results[1].problems[0].pointer == "/spec/type"
    assert everything() == before


def test_keep_going_writes_what_can_be_written(clock: Clock) -> None:
    bad = made("Agent", "robin", {"type": "wild"})

    outcome = apply(clock.now, bad, HARBOUR, keep_going=True)

    assert (actions(outcome), outcome.written) == (["refused", "created"], True)
    assert [row.name for row in Resource.objects.all()] == ["harbour"]


def test_a_dry_run_tells_everything_and_writes_nothing(clock: Clock) -> None:
    apply(clock.now, HARBOUR)
    before = everything()

    outcome = apply(clock.now, made("Domain", "harbour", {"purpose": "X."}), ROBIN, dry_run=True)

    assert (actions(outcome), outcome.written) == (["changed", "created"], False)
    assert outcome.results[0].differences
    assert everything() == before


def test_a_document_is_changed_only_at_the_version_expected(clock: Clock) -> None:
    apply(clock.now, HARBOUR)
    version = live("Domain", "harbour").resource_version
    other = made("Domain", "harbour", {"purpose": "Other."})

    too_old = expect(clock, other, version - 1)
    only_new = expect(clock, other, 0)
    right = expect(clock, other, version)
    stale = expect(clock, HARBOUR, version)

    assert [each.action for each in (too_old, only_new, right, stale)] == [
        "conflict",
        "conflict",
        "changed",
        "conflict",
    ]
    current = live("Domain", "harbour").resource_version
    assert f"now at version {current}" in stale.problems[0].message


def test_zero_creates_and_any_other_version_does_not(clock: Clock) -> None:
    """I-08"""
    assert expect(clock, ROBIN, 17).action == "conflict"
    assert expect(clock, ROBIN, 0).action == "created"


def test_a_conflict_even_where_nothing_would_change(clock: Clock) -> None:
    apply(clock.now, HARBOUR)

    assert expect(clock, HARBOUR, 1 + live("Domain", "harbour").resource_version).action == (
        "conflict"
    )


def test_a_version_inside_the_document_is_expected_too(clock: Clock) -> None:
    apply(clock.now, HARBOUR)
    fetched = shown("Domain", "harbour")
    edited = deepcopy(fetched)
    edited["spec"]["purpose"] = "Edited."

    first = apply(clock.now, edited)
    second = apply(clock.now, fetched)

    assert (actions(first), actions(second)) == (["changed"], ["conflict"])
    assert "resourceVersion" not in live("Domain", "harbour").metadata


def test_a_document_fetched_and_applied_is_unchanged(clock: Clock) -> None:
    apply(clock.now, HARBOUR, ROBIN)
    report(clock.now, "robin", {"state": "running"})

    assert actions(apply(clock.advance(days=1), shown("Agent", "robin"))) == ["unchanged"]


def test_a_name_is_given_only_once_in_a_set(clock: Clock) -> None:
    outcome = apply(clock.now, HARBOUR, ROBIN, made("Domain", "harbour"))

    assert actions(outcome) == ["created", "created", "refused"]
    assert outcome.results[2].problems[0].pointer == "/metadata/name"
    assert not Resource.objects.exists()


def test_the_order_of_an_import_is_free(clock: Clock) -> None:
    outcome = apply(clock.now, ROBIN, HARBOUR)

    assert actions(outcome) == ["created", "created"]
    conditions = shown("Agent", "robin")["status"]["conditions"]
    assert [(each["type"], each["status"]) for each in conditions] == [
        ("ReferencesResolved", "True")
    ]


def test_v0_1_is_migrated_and_stays_unchanged(clock: Clock) -> None:
    old = {
        "apiVersion": "ioa.dev/v0.1",
        "kind": "Agent",
        "metadata": {"name": "robin", "owner": "Rosa Lind"},
        "spec": {"domain": "harbour", "type": "reactive", "purpose": "Watch."},
    }

    first = apply(clock.now, old)
    again = apply(clock.now, old)

    row = live("Agent", "robin")
    assert (actions(first), actions(again)) == (["created"], ["unchanged"])
    assert shown("Agent", "robin")["apiVersion"] == "ioa.dev/v0.2"
    assert row.metadata["owner"] == {"name": "Rosa Lind", "role": "owner"}
    assert row.spec["role"] == "observer"
    assert old["apiVersion"] == "ioa.dev/v0.1"


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("2024-02-25T10:00:00Z", "2024-02-25T10:00:00Z"),
        ("2024-02-25T10:00:00.5+02:00", "2024-02-25T08:00:00.500000Z"),
        ("2999-01-01T00:00:00Z", "2026-11-16T10:00:00Z"),
    ],
)
def test_the_time_of_creation_is_taken_over_unless_it_lies_ahead(
    clock: Clock, given: str, taken: str
) -> None:
    apply(clock.now, made("Domain", "harbour", metadata={"createdAt": given}))

    assert shown("Domain", "harbour")["metadata"]["createdAt"] == taken
    assert "createdAt" not in live("Domain", "harbour").metadata


@pytest.mark.parametrize("document", [None, 1, [], "x", {}, {"kind": "Domain"}, {"kind": 1}])
def test_what_is_no_document_is_refused(clock: Clock, document: Document) -> None:
    outcome = apply(clock.now, document)

    assert actions(outcome) == ["refused"]
    assert not ResourceRevision.objects.exists()
