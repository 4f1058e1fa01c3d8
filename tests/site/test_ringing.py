"""The beat: it rings on time, and says little when it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from ioa_site.celery import Ringer, app


class Entry:
    """Something that is due."""

    name = task = "ring"


def test_a_redis_that_is_away_is_mentioned_once_and_again_after_it_was_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """F4 F5"""
    answers: list[Exception | None] = [OSError("gone"), OSError("gone"), None, OSError("again")]

    def send(*given: Any, **options: Any) -> None:
        error = answers.pop(0)
        if error is not None:
            raise error

    ringer = Ringer(app, lazy=True)
    monkeypatch.setattr(ringer, "apply_async", send)
    for _ in range(4):
        ringer.apply_entry(Entry())

    told = [each for each in caplog.records if each.name == "ioa.celery"]
    assert [each.getMessage() for each in told] == [
        "Redis is away, nobody is rung: gone",
        "Redis is away, nobody is rung: again",
    ]
    assert not any(each.exc_info for each in told)
