"""Health drift: which conditions count, and which status is the bad one."""

from __future__ import annotations

from controllers.engine.drift.health import measure
from controllers.engine.terms import Condition, Evidence
from resources.documents import kinds
from resources.documents.kind import Kind
from tests.engine.measuring import conditions
from tests.rows import every_row


def test_the_score_is_the_share_of_conditions_in_their_bad_state() -> None:
    """I-66"""
    assert measure(conditions(bad=1, of=5), "Domain").score == 0.2


def test_ready_false_counts_and_reconciling_false_does_not() -> None:
    """I-45 X-07"""
    ready, reconciling = Condition("Ready", "False"), Condition("Reconciling", "False")

    dimension = measure([ready, reconciling], "Agent")

    assert dimension.score == 0.5
    assert [each.subject for each in dimension.evidence] == ["condition/Ready"]


@every_row("kind", [*(each.name for each in kinds.ALL), "Robot"])
@every_row("name", ["Reconciling", "Progressing", "Degraded", "Stalled", "Paused", "Overridden"])
def test_true_is_bad_for_conditions_of_negative_polarity(kind: str, name: str) -> None:
    """X-07"""
    assert measure([Condition(name, "True")], kind).score == 1
    assert measure([Condition(name, "False")], kind).score == 0


@every_row("kind", kinds.ALL, ids=lambda kind: kind.name)
def test_every_declared_type_keeps_its_declared_polarity(kind: Kind) -> None:
    """X-07"""
    good = [Condition(each.name, each.good) for each in kind.condition_types]

    assert measure(good, kind.name).score == 0


def test_true_is_good_for_a_type_nobody_declared() -> None:
    """X-07"""
    assert measure([Condition("Cheerful", "True")], "Agent").score == 0
    assert measure([Condition("Cheerful", "False")], "Agent").score == 1


def test_an_unknown_condition_is_not_bad_but_is_one_of_them() -> None:
    """X-07"""
    dimension = measure([Condition("Ready", "Unknown"), Condition("Works", "False")], "Agent")

    assert dimension.score == 0.5
    assert dimension.evidence[0].verdict == "unknown"


def test_what_a_controller_concluded_does_not_feed_back() -> None:
    own = Condition("DomainHealthy", "False", managed_by="controller/domain-health")

    assert measure([*conditions(bad=1, of=2), own], "Domain").score == 0.5
    assert measure([own], "Domain").score is None
    assert measure([own], "Domain").evidence == ()


def test_what_the_system_says_counts() -> None:
    dangling = Condition("ReferencesResolved", "False", managed_by="system/references")

    assert measure([dangling], "Domain").score == 1


def test_no_conditions_have_neither_score_nor_evidence() -> None:
    """A-32"""
    assert measure([], "Domain").score is None
    assert measure([], "Domain").evidence == ()


def test_an_observation_counts_like_a_report() -> None:
    late = Condition("ExecutedOnSchedule", "False")

    assert measure([Condition("Ready", "True")], "Agent", [late]).score == 0.5
    assert measure([], "Agent", [late]).score == 1


def test_a_report_beats_an_observation_of_the_same_type() -> None:
    reported, worked_out = Condition("Ready", "True"), Condition("Ready", "False")

    dimension = measure([reported], "Agent", [worked_out])

    assert (dimension.score, dimension.evidence, dimension.of) == (0, (), 1)


def test_a_controller_cannot_hide_an_observation_behind_its_own_condition() -> None:
    claim = Condition("Ready", "True", managed_by="controller/optimist")

    assert measure([claim], "Agent", [Condition("Ready", "False")]).score == 1


def test_the_evidence_says_what_is_good_what_is_and_who_says_so() -> None:
    stalled = Condition("Stalled", "True", "NoHeartbeat", "Silent for 9 hours.", "system/watch")
    ready = Condition("Ready", "True", "Started")

    dimension = measure([stalled, ready], "Agent")

    assert dimension.of == 2
    assert dimension.evidence == (
        Evidence(
            "condition/Stalled",
            "missed",
            "False",
            "True",
            by="system/watch",
            note="Silent for 9 hours.",
        ),
    )
