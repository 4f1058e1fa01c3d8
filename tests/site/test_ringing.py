"""The beat: it rings on time, says little when it cannot, and ends when it is told to."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from celery import platforms

from ioa_site.celery import Bell, Ringer, app


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


def test_a_beat_that_is_told_to_end_while_it_rings_ends(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    handlers: dict[str, Callable[[], None]] = {}
    monkeypatch.setattr(platforms.signals, "update", lambda **given: handlers.update(given))
    ringer = Ringer(app, lazy=True)
    Bell(app=app, scheduler_cls=Ringer).install_sync_handler(SimpleNamespace(scheduler=ringer))

    def send(*given: Any, **options: Any) -> None:
        # As Redis's client does when it is broken off: what it raises takes the place of the end.
        try:
            handlers["SIGTERM"]()
        finally:
            raise ValueError("I/O operation on closed file.")

    monkeypatch.setattr(ringer, "apply_async", send)
    ringer.apply_entry(Entry())

    with pytest.raises(SystemExit) as ending:
        ringer.tick()
    assert ending.value.code == 0
    assert not [each for each in caplog.records if each.name == "ioa.celery"]
