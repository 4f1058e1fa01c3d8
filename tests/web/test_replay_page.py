"""The page that tries a rule, on the example organisation."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.sqlite

PAGE = "/controllers/agent-performance/replay"


def test_a_rule_is_tried_on_what_the_example_has_lived_through(maya: Client) -> None:
    answer = maya.get(PAGE, {"threshold": "0.4", "kpi": "", "mode": "enforce"})

    shown = answer.content.decode()
    assert answer.status_code == 200
    assert "What would have been different" in shown
    assert "Would vanish" in shown
    assert "nothing is kept" not in shown
