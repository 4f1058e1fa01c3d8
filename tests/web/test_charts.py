"""Charts: what is drawn is what is known."""

from __future__ import annotations

import re

from controllers.templatetags.charts import spark


def drawn(values: list[float], steps: int) -> list[float]:
    """Return where the points of a line are, from left to right."""
    line = re.search(r'class="line" d="([^"]+)"', spark(values, 0.2, steps=steps))
    assert line
    return [float(each) for each in re.findall(r"[ML]([\d.]+) ", line[1])]


def test_a_line_fills_its_box_when_all_of_it_is_known() -> None:
    assert drawn([0.1, 0.2, 0.3], 3) == [1.0, 50.0, 99.0]


def test_a_line_begins_where_the_first_value_was_known() -> None:
    assert drawn([0.1, 0.2], 5) == [74.5, 99.0]
    assert drawn([0.3], 24) == [99.0]


def test_nothing_known_draws_nothing() -> None:
    assert spark([], 0.2) == ""
