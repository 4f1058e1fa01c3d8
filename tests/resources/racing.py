"""Real threads with connections of their own, for what only happens when many act at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

PATIENCE = 60


def together(actions: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run every action in a thread at the same moment; return results or raise the first error."""
    barrier = threading.Barrier(len(actions))
    results: list[Any] = [None] * len(actions)
    errors: list[BaseException] = []

    def run(position: int) -> None:
        try:
            barrier.wait(PATIENCE)
            results[position] = actions[position]()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=run, args=[position], daemon=True)
        for position in range(len(actions))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "A thread hangs."
    if errors:
        raise errors[0]
    return results


class Background:
    """One action in a thread of its own, until its result is asked for."""

    def __init__(self, action: Callable[[], Any]) -> None:
        self.action = action
        self.result: Any = None
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        try:
            self.result = self.action()
        except BaseException as error:
            self.error = error
        finally:
            connection.close()

    def wait(self) -> Any:
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive(), "A thread hangs."
        if self.error:
            raise self.error
        return self.result
