"""Every kind a controller can watch has a target of its own."""

from __future__ import annotations

from controllers.engine.targets import ALL, by_kind
from controllers.engine.terms import Drift, Snapshot
from resources.documents import kinds
from tests.engine.targets.judging import resource


def test_every_kind_that_can_be_watched_has_one_target() -> None:
    """F-06"""
    assert sorted(each.kind for each in ALL) == sorted(
        each.name for each in kinds.ALL if each.targetable
    )


def test_a_target_is_found_by_its_kind() -> None:
    assert by_kind("Domain").kind == "Domain"
    assert by_kind("Domain") is by_kind("Domain")


def test_what_a_target_reads_are_kinds() -> None:
    known = {each.name for each in kinds.ALL}

    assert {kind for each in ALL for kind in each.reads} <= known


def test_a_kind_nobody_knows_has_a_target_that_measures_nothing() -> None:
    target = by_kind("Planet")
    snapshot = Snapshot(resource("Planet", "earth", {}))

    assert target.kind == "Planet"
    assert target.explain(snapshot, Drift(None, False, ())) == (
        "Nothing is measured of planet/earth but its conditions."
    )
