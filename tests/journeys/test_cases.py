"""A few cases of every operation that the API describes, against the running product."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases.playing import Plan, Play
from cases.running import staged
from tests.browsing.stage import servers

pytestmark = [pytest.mark.product, pytest.mark.timeout(600), pytest.mark.full]

CASES, SEED = 240, 7


def test_no_answer_breaks_what_the_api_says_of_itself(tmp_path: Path) -> None:
    with servers() as given, staged(tmp_path, given) as scene:
        play = Play(scene, Plan(CASES, SEED), lambda *_: None, lambda _: None)
        tally = play.run()

    found = [f"{each.key}\n{each.example}" for each in tally.findings.values()]
    assert found == [], "\n\n".join(found)
    assert tally.cases >= CASES
    assert min(tally.operations.values()) >= CASES // len(tally.operations)
    assert tally.classes.keys() >= {"2xx", "4xx"}
    assert tally.modes.keys() == {"positive", "negative"}
    assert min(tally.callers.values()) > 0
    assert len(tally.callers) == 6
    assert "Traceback" not in scene.product.said()
