"""What was well is settled at a glance, and never when something else may be true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from controllers.common import rows
from controllers.engine.terms import Case, Renewed
from controllers.loop import chunk_writer
from controllers.models import Cycle, DriftSample, Judgement
from controllers.worker import controller_commands
from controllers.workqueue.chunk_snapshot import InSight
from resources.documents.actor import SYSTEM
from resources.documents.kind import Document
from resources.tables.models import Condition
from resources.usecases import statuses
from tests.conftest import Clock
from tests.controllers.making import controller, declare, work
from tests.resources.making import ALICE, live, made

pytestmark = pytest.mark.django_db
NAMES = ("robin", "wren", "finch")


def report(clock: Clock, name: str, **status: Any) -> None:
    """Let an agent report."""
    told = statuses.Report("Agent", name, {"state": "running", "errorRate": 0.01, **status})
    assert not statuses.observe([told], actor=SYSTEM, now=clock.now)[0].failed


def keeper(**spec: Any) -> Document:
    """Make a controller of agents."""
    return controller(targetKind="Agent", **spec)


def judged(name: str) -> Judgement:
    """Return what was concluded about an agent."""
    return Judgement.objects.get(resource=live("Agent", name))


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the agents that are settled before all of them is read."""
    found: list[int] = []
    glanced, reweighed = InSight.glanced, InSight.reweighed

    def kept(settled: Iterator[Case | Renewed]) -> Iterator[Case | Renewed]:
        for each in settled:
            found.append(each.resource if isinstance(each, Renewed) else each.judgement.resource)
            yield each

    monkeypatch.setattr(InSight, "glanced", lambda *given: kept(glanced(*given)))
    monkeypatch.setattr(InSight, "reweighed", lambda *given: kept(reweighed(*given)))
    return found


@pytest.fixture(autouse=True)
def _agents(clock: Clock) -> None:
    goals = [{"name": "errorRate", "operator": "lte", "value": 0.05, "unit": "ratio"}]
    spec = {"domain": "harbour", "objectives": goals}
    agents = [made("Agent", name, spec) for name in NAMES]
    declare(clock, keeper(), made("Domain", "harbour"), *agents)
    for name in NAMES:
        report(clock, name)
    work(clock)


def again(clock: Clock) -> Cycle:
    """Let the controller look once more, after its interval."""
    clock.advance(minutes=5)
    (cycle,) = work(clock)
    return cycle


def test_who_is_well_and_reports_again_is_settled_at_a_glance(
    clock: Clock, settled: list[int]
) -> None:
    """I-44"""
    report(clock, "robin", errorRate=0.02)

    again(clock)

    assert live("Agent", "robin").pk in settled
    assert judged("robin").version == live("Agent", "robin").resource_version


def test_who_is_a_little_off_is_settled_without_reading_conditions(
    clock: Clock, settled: list[int]
) -> None:
    """I-44"""
    declare(clock, keeper(driftThreshold=0.6))
    again(clock)
    for rate in (0.3, 0.4, 0.01):
        settled.clear()
        report(clock, "robin", errorRate=rate)

        again(clock)

        found, agent = judged("robin"), live("Agent", "robin")
        assert agent.pk in settled
        assert found.version == agent.resource_version
        assert [each["observed"] for each in found.evidence] == ([rate] if rate > 0.05 else [])
    scores = DriftSample.objects.filter(resource=live("Agent", "robin")).order_by("at")
    assert [bool(each) for each in scores.values_list("score", flat=True)] == [False, True, False]


def test_who_is_a_little_off_and_says_nothing_new_is_written_about_once(
    clock: Clock, settled: list[int]
) -> None:
    declare(clock, keeper(driftThreshold=0.6))
    report(clock, "robin", errorRate=0.3)
    again(clock)
    before = judged("robin").evaluated_at
    settled.clear()

    controller_commands.request("keeper", actor=ALICE, now=clock.now)
    again(clock)

    assert live("Agent", "robin").pk in settled
    assert judged("robin").evaluated_at == before


def test_a_condition_that_turned_bad_is_never_overlooked(clock: Clock, settled: list[int]) -> None:
    """I-45"""
    bad = {"type": "CredentialValid", "status": "False", "reason": "Expired"}
    report(clock, "robin", conditions=[bad])

    again(clock)

    assert live("Agent", "robin").pk not in settled
    assert judged("robin").dimensions["health"] == {
        "score": 0.333333,
        "of": 3,
        "observed": ["Ready"],
    }


def test_a_condition_that_turned_bad_is_seen_of_who_is_a_little_off(
    clock: Clock, settled: list[int]
) -> None:
    """I-45"""
    declare(clock, keeper(driftThreshold=0.6))
    report(clock, "robin", errorRate=0.3)
    again(clock)
    bad = {"type": "CredentialValid", "status": "False", "reason": "Expired"}
    settled.clear()
    report(clock, "robin", errorRate=0.3, conditions=[bad])

    again(clock)

    assert live("Agent", "robin").pk not in settled
    assert judged("robin").dimensions["health"]["score"] == 0.333333


def test_a_good_condition_is_counted_when_it_first_appears(clock: Clock) -> None:
    report(clock, "robin", conditions=[{"type": "CredentialValid", "status": "True"}])
    again(clock)
    report(clock, "robin", errorRate=0.02)
    again(clock)

    assert judged("robin").dimensions["health"] == {"score": 0.0, "of": 3, "observed": ["Ready"]}


def test_a_state_that_is_no_longer_reported_is_no_longer_counted(clock: Clock) -> None:
    report(clock, "robin", state=None)

    again(clock)

    assert judged("robin").dimensions["health"] == {"score": 0.0, "of": 1}


def test_what_the_controller_says_of_those_that_are_well_changes_with_it(
    clock: Clock, settled: list[int]
) -> None:
    """A-21"""
    declare(clock, keeper(driftThreshold=0.4, conditionType="KeptWell"))

    again(clock)

    said = Condition.objects.filter(managed_by="controller/keeper", resource__kind="Agent")
    assert set(said.values_list("type", "message")) == {("KeptWell", "Drift is below 0.4.")}
    assert (said.count(), settled) == (3, [])


@pytest.mark.parametrize("closely", [False, True])
def test_who_is_changed_between_two_looks_at_it_is_looked_at_again(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, closely: bool
) -> None:
    """D-08 A glance was not enough, and before the closer look somebody else was faster."""
    report(clock, "robin", errorRate=0.5)
    usual, late, again_at = rows.resources, iter([0.9]), chunk_writer.look_again
    queued: list[int] = []

    def resources(*given: Any, stated: bool = True) -> Any:
        for rate in late if stated is closely else ():
            report(clock, "robin", errorRate=rate)
        return usual(*given, stated=stated)

    def look_again(controller: int, keys: Any, at: Any) -> None:
        queued.extend(keys)
        again_at(controller, keys, at)

    monkeypatch.setattr(rows, "resources", resources)
    monkeypatch.setattr(chunk_writer, "look_again", look_again)
    again(clock)

    assert queued == [live("Agent", "robin").pk]
    (evidence,) = judged("robin").evidence
    assert (evidence["subject"], evidence["observed"]) == ("kpi/errorRate", 0.9)
