"""Many documents in one test, each on its own: who sends them is brought in only once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from django.db import transaction

from tests.hostile.probes import Probe

Alone = Callable[[Probe], AbstractContextManager[None]]


@pytest.fixture
def alone(subtests: pytest.Subtests) -> Alone:
    """Return the way to send one document; what it leaves behind the next does not meet."""

    @contextmanager
    def on_its_own(probe: Probe) -> Iterator[None]:
        with subtests.test(str(probe)), transaction.atomic():
            yield
            transaction.set_rollback(True)

    return on_its_own
