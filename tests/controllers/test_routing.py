"""From marks to work: who has to look at what, and who no longer looks after what."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controllers.common import rows
from controllers.engine import watch
from controllers.loop import chunk_writer, routing
from controllers.models import Judgement, WorkItem
from controllers.workqueue import compiled_controllers, queue, target_store
from resources.documents.actor import SYSTEM
from resources.documents.kind import Document
from resources.tables.models import DirtyMark, Resource
from resources.usecases import deletion, statuses
from tests.conftest import Clock
from tests.controllers.making import (
    KEEPER,
    KEPT,
    controller,
    declare,
    domain,
    healthy,
    item,
    judgement,
    measure,
    own,
    runtime,
    work,
)
from tests.resources.making import ALICE, live, made
from tests.tiers import examples

pytestmark = pytest.mark.django_db

NORTH = {"sea": "north"}
SOUTH = {"sea": "south"}
LABELS = st.dictionaries(
    st.sampled_from(["sea", "tier", "a.b/c-d"]),
    st.sampled_from(["", "north", "North", "n o", "ñ"]),
)


def queued() -> set[str]:
    """Return the names of what waits, besides the items for everything."""
    items = WorkItem.objects.exclude(resource__kind="Controller")
    return set(items.values_list("resource__name", flat=True))


def northern(**spec: Any) -> Document:
    return controller(targetSelector={"matchLabels": NORTH}, **spec)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LABELS, max_size=6), LABELS)
def test_sql_and_the_engine_select_the_same(
    clock: Clock, labels: list[Document], wanted: Document
) -> None:
    """I-09 I-38"""
    documents = [domain(f"d{number}", labels=each) for number, each in enumerate(labels)]
    others = [
        made("Agent", f"a{number}", metadata={"labels": each})
        for number, each in enumerate(labels)
    ]
    with transaction.atomic():
        declare(clock, controller(targetSelector={"matchLabels": wanted}), *documents, *others)
        found = compiled_controllers.load(live("Controller", KEEPER).pk)
        compiled_controllers.compiled.cache_clear()
        living = rows.read(Resource.objects.filter(deleted_at=None))
        selected = set(target_store.living(found).values_list("name", flat=True))
        marks = routing.take()
        routed = routing.watchers([found], marks, routing.labels_of([mark.key for mark in marks]))
        transaction.set_rollback(True)

    assert selected == {each.name for each in living if watch.matches(found, each)}
    by_key = {mark.key: mark.name for mark in marks}
    assert sorted(by_key[key] for _, key in routed) == sorted(selected)


def test_who_watches_is_found_in_the_same_statements_however_many_controllers_there_are(
    clock: Clock,
) -> None:
    """F-27"""

    def route() -> int:
        work(clock)
        measure(clock, "harbour", len(counts))
        with CaptureQueriesContext(connection) as queries:
            assert routing.route(clock.now) == 1
        return len(queries)

    counts: list[int] = []
    declare(clock, northern(), domain("harbour", labels=NORTH))
    for number in range(3):
        counts.append(route())
        others = [f"{KEEPER}-{number}-{each}" for each in range(5)]
        declare(clock, *(controller(name, targetSelector=CHOSEN[number]) for name in others))

    assert len(set(counts)) == 1


CHOSEN = [{"matchLabels": SOUTH}, {}, {"matchLabels": NORTH}]


def test_a_change_is_routed_to_those_who_watch_it_and_to_nobody_else(clock: Clock) -> None:
    """F-27 F-28"""
    declare(clock, northern(), domain("harbour", labels=NORTH), domain("depot", labels=SOUTH))
    work(clock)
    measure(clock, "harbour", 1)
    measure(clock, "depot", 1)
    declare(clock, made("Agent", "robin"))

    assert routing.route(clock.now) == 3

    assert queued() == {"harbour"}
    assert not DirtyMark.objects.exists()


def test_what_a_controller_notes_is_no_news(clock: Clock) -> None:
    """F-30"""
    declare(clock, controller())
    healthy(clock, "harbour")
    version = live("Domain", "harbour").resource_version

    work(clock)

    assert live("Domain", "harbour").resource_version > version
    assert not DirtyMark.objects.exists()
    assert work(clock) == []


def test_a_budget_leads_to_its_domain_only(clock: Clock) -> None:
    """F-32"""
    declare(clock, controller())
    healthy(clock, "harbour", "depot")
    work(clock)

    declare(clock, made("Budget", "dues", {"domain": "harbour"}))
    routing.route(clock.now)

    assert queued() == {"harbour"}
    found = item("harbour")
    assert found is not None
    assert found.reasons == queue.DEPENDENCY


def test_a_budget_leads_to_whoever_names_it(clock: Clock) -> None:
    """F-32"""
    declare(clock, controller(), domain("harbour"), domain("depot", budgetRef="dues"))
    work(clock)

    declare(clock, made("Budget", "dues", {"domain": "elsewhere"}))
    routing.route(clock.now)

    assert queued() == {"depot"}


def test_a_policy_for_everybody_leads_to_everybody(clock: Clock) -> None:
    """F-32"""
    declare(clock, controller())
    healthy(clock, "harbour", "depot")
    work(clock)

    declare(clock, made("SecurityPolicy", "rules", {"domain": "*"}))
    routing.route(clock.now)

    assert queued() == {"harbour", "depot"}


def tell(clock: Clock, name: str) -> None:
    """Let somebody else state a condition of a domain."""
    said = {"type": "Dredged", "status": "True"}
    told = statuses.Report("Domain", name, {"conditions": [said]})
    assert not statuses.observe([told], actor=SYSTEM, now=clock.now)[0].failed


def test_a_resource_that_leaves_the_selector_is_released(clock: Clock) -> None:
    """I-09 I-72 Its judgement and its condition go, what others say of it stays."""
    declare(clock, northern(), controller("other"))
    declare(clock, domain("harbour", labels=NORTH), domain("depot", labels=NORTH))
    tell(clock, "harbour")
    work(clock)
    assert runtime().watched == 2

    declare(clock, domain("harbour", labels=SOUTH))
    work(clock)

    assert (judgement("harbour"), own("harbour")) == (None, None)
    assert judgement("harbour", "other") is not None
    assert own("harbour", "OtherConverged") is not None
    assert own("harbour", "Dredged") is not None
    assert own("depot") is not None
    assert runtime().watched == 1
    assert queued() == set()


def test_a_resource_that_comes_back_is_judged_again(clock: Clock) -> None:
    """I-38"""
    declare(clock, northern(), domain("harbour", labels=NORTH))
    for labels in (SOUTH, NORTH):
        work(clock)
        declare(clock, domain("harbour", labels=labels))
    work(clock)

    assert judgement("harbour") is not None
    assert own("harbour") is not None
    assert runtime().watched == 1


def test_a_selector_that_moves_on_releases_what_it_leaves(clock: Clock) -> None:
    """I-09 Nothing happened to the resources, so no mark leads to them."""
    declare(clock, controller(), domain("harbour", labels=NORTH), domain("depot", labels=SOUTH))
    work(clock)
    assert runtime().watched == 2

    declare(clock, northern())
    work(clock)

    assert (judgement("depot"), own("depot")) == (None, None)
    assert own("harbour") is not None
    assert runtime().watched == 1


def test_what_is_left_is_released_though_the_first_try_failed(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I-04 D-49"""
    declare(clock, controller(), domain("harbour", labels=NORTH), domain("depot", labels=SOUTH))
    work(clock)
    declare(clock, northern())

    def fail(*_: Any) -> None:
        raise DatabaseError("The disk is full.")

    monkeypatch.setattr(chunk_writer, "save", fail)
    assert [each.outcome for each in work(clock)] == ["failed"]
    monkeypatch.undo()
    clock.advance(minutes=5)
    work(clock)

    assert (judgement("depot"), own("depot")) == (None, None)
    assert runtime().watched == 1


def test_another_target_kind_releases_all_of_the_old_one(clock: Clock) -> None:
    """I-38"""
    declare(clock, controller(), domain("harbour"), made("Agent", "robin"))
    work(clock)

    declare(clock, controller(targetKind="Agent"))
    work(clock)

    assert (judgement("harbour"), own("harbour")) == (None, None)
    assert own("robin", KEPT, "Agent") is not None
    assert runtime().watched == 1


def test_another_name_for_the_condition_takes_the_place_of_the_old_one(clock: Clock) -> None:
    """I-85"""
    declare(clock, controller(), domain("harbour"))
    tell(clock, "harbour")
    work(clock)

    declare(clock, controller(conditionType="Kept"))
    work(clock)

    assert own("harbour") is None
    assert own("harbour", "Kept") is not None
    assert own("harbour", "Dredged") is not None


def test_a_controller_declared_anew_looks_at_everything_again(clock: Clock) -> None:
    """A-04 What was judged a moment ago would else wait for its interval."""
    declare(clock, controller(driftThreshold=0.9))
    declare(clock, domain("harbour"))
    told = statuses.Report("Domain", "harbour", {"activeIncidents": 9, "cognitiveLoadScore": 0.1})
    statuses.observe([told], actor=SYSTEM, now=clock.now)
    work(clock)
    before = judgement("harbour")
    clock.advance(seconds=1)

    declare(clock, controller(driftThreshold=0.1))
    work(clock)

    after = judgement("harbour")
    assert before is not None
    assert after is not None
    assert (before.drifted, after.drifted) == (False, True)


def test_a_deleted_resource_is_forgotten(clock: Clock) -> None:
    """I-72"""
    declare(clock, controller())
    healthy(clock, "harbour", "depot")
    work(clock)

    deletion.delete("Domain", "harbour", actor=ALICE, now=clock.now)
    work(clock)

    assert Judgement.objects.get().resource == live("Domain", "depot")
    assert runtime().watched == 1
    assert queued() == set()


def test_more_marks_than_one_round_takes_are_all_taken(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "MOST", 4)
    declare(clock, controller())
    names = [f"d{number}" for number in range(10)]
    work(clock)
    declare(clock, *(domain(name) for name in names))

    assert routing.route(clock.now) == 10

    assert queued() == set(names)
