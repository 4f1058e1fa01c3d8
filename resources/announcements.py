"""Tell whoever waits that something was committed; a lost announcement costs a poll, no more."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.db import transaction

logger = logging.getLogger("ioa.announcements")

Listener = Callable[[], None]
listeners: set[Listener] = set()


def announce() -> None:
    """Wake the listeners once the current transaction has committed."""
    transaction.on_commit(wake)


def wake() -> None:
    """Call every listener; one that fails does not keep the others waiting."""
    for listener in tuple(listeners):
        try:
            listener()
        except RuntimeError as error:
            logger.warning("A listener could not be woken: %s", error)
