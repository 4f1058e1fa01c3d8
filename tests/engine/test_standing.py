"""What stands is concluded about as thoroughly as what does not, only sooner."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from controllers.engine import diff, plan, report, unchanged
from controllers.engine.targets.agent import TARGET
from controllers.engine.terms import Case, Condition, Document, Judgement, Renewed, Snapshot, Word
from tests.engine.measuring import USUAL
from tests.engine.targets.judging import NOW, resource
from tests.tiers import examples

LATER = NOW + timedelta(minutes=5)
KEEPER = replace(USUAL, kind="Agent", threshold=0.4)

# Mostly well, in part beyond what is expected of any agent.
REPORTED = st.fixed_dictionaries(
    {
        "state": st.just("running"),
        "healthScore": st.sampled_from([0.9, 0.8, 0.5]),
        "errorRate": st.sampled_from([0.01, 0.02, 0.03, 0.3, "soon"]),
        "overrideRate": st.sampled_from([0.0, 0.1, 0.5]),
        "avgLatency": st.sampled_from(["2s", "3s", 5, "40s", None]),
    },
    optional={"costConsumed": st.just({"tokens": 5, "period": "2026-11"})},
)
# In any state, and within or beyond a limit.
STATES = st.sampled_from(["running", "idle", "paused", "degraded", None, 7])
SPENT = st.sampled_from([{"tokens": each, "period": "2026-11"} for each in (5, 9, 11)])
ANYHOW = st.builds(
    lambda status, state, spent: {**status, "state": state, "costConsumed": spent},
    *(REPORTED, STATES, SPENT),
)
DECLARED = st.fixed_dictionaries(
    {"tokenBudget": st.just({"maxMonthly": 10})},
    optional={
        "state": st.sampled_from(["running", "paused"]),
        "schedule": st.just({"type": "cron", "cron": "* * * * *"}),
    },
)
STATED = st.dictionaries(
    st.sampled_from(["Ready", "Degraded", "CredentialValid"]),
    st.sampled_from(["True", "True", "False", "Unknown"]),
    max_size=2,
)


def thorough(snapshot: Snapshot, judged: Judgement | None) -> Case:
    """Conclude about an agent by all five phases."""
    now = LATER if judged else NOW
    drift = diff.measure(KEEPER, TARGET, snapshot, now)
    planned = plan.draft(KEEPER, TARGET, snapshot, drift, judged, now)
    return report.conclude(KEEPER, planned, (), judged, TARGET.recheck(snapshot, now), now)


def settled(snapshot: Snapshot, judged: Judgement) -> Case | Renewed | None:
    """Conclude about it as one that may stand."""
    drift = diff.measure(KEEPER, TARGET, snapshot, LATER)
    recheck = TARGET.recheck(snapshot, LATER)
    return unchanged.settle(unchanged.Usual(KEEPER), (snapshot, judged), drift, recheck, LATER)


def unread(snapshot: Snapshot, judged: Judgement) -> Case | Renewed | None:
    """Conclude about it without its conditions, which are as they were."""
    measure, usual = diff.measuring(KEEPER, TARGET), unchanged.Usual(KEEPER)
    bare = snapshot._replace(target=snapshot.target._replace(conditions=()))
    return unchanged.settle_unread(usual, (bare, judged), TARGET, measure, LATER)


def agree(found: Case | Renewed, first: Case, long: Case) -> None:
    """Make sure that the short way came to what the long one did."""
    if isinstance(found, Renewed):
        assert found == Renewed(1, 2, changed=True)
        assert first.judgement._replace(version=2, evaluated_at=LATER) == long.judgement
        assert (long.condition, long.events, long.moved) == (None, (), False)
    else:
        assert found == long


@given(REPORTED, REPORTED)
@settings(max_examples=examples(300), deadline=None)
def test_what_stands_is_concluded_as_by_all_five_phases(before: Document, after: Document) -> None:
    """I-44"""
    agent = resource("Agent", "triage", {}, before)
    first = thorough(Snapshot(agent), None)
    assume(first.condition is not None and first.judgement.reason == report.WELL)
    stated = (first.condition,) if first.condition else ()
    again = Snapshot(agent._replace(status=after, version=2, conditions=stated))

    found, long = settled(again, first.judgement), thorough(again, first.judgement)

    event(type(found).__name__)
    if found is None:
        assert long.judgement.drifted or long.judgement.score is None
    else:
        agree(found, first, long)


@given(DECLARED, ANYHOW, ANYHOW, STATED)
@settings(max_examples=examples(500), deadline=None)
def test_what_is_concluded_without_conditions_is_so_by_all_five_phases(
    spec: Document, before: Document, after: Document, stated: dict[str, Word]
) -> None:
    """I-44 It may ask for a closer look, but never says anything else."""
    reported = tuple(Condition(*each) for each in stated.items())
    agent = resource("Agent", "triage", spec, before)._replace(conditions=reported)
    first = thorough(Snapshot(agent), None)
    judged, own = first.judgement, first.condition
    assume(own is not None and judged.reason == report.WELL and judged.recheck_at is None)
    shown = (*reported, own) if own else ()
    again = Snapshot(agent._replace(status=after, version=2, conditions=shown))

    found = unread(again, judged)

    event(type(found).__name__)
    if found is not None:
        agree(found, first, thorough(again, judged))


def test_who_is_a_little_off_and_back_is_concluded_about_without_conditions() -> None:
    """I-44"""
    well = {"state": "running", "errorRate": 0.01, "healthScore": 0.9}
    agent = resource("Agent", "triage", {}, well)
    first = thorough(Snapshot(agent), None).judgement
    off = agent._replace(status={**well, "errorRate": 0.3}, version=2)

    found = unread(Snapshot(off), first)
    assert isinstance(found, Case)
    back = unread(Snapshot(agent._replace(version=3)), found.judgement)

    assert isinstance(back, Case)
    assert (found.judgement.drifted, found.judgement.score != first.score) == (False, True)
    assert back.judgement.dimensions == first.dimensions
