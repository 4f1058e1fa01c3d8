"""What tests expect of a refusal: a problem, and with which code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from resources.documents.problems import Problem


def refuses(
    *codes: str, match: str | None = None
) -> AbstractContextManager[pytest.ExceptionInfo[Problem]]:
    """Expect a problem with one of these codes, whose sentence fits."""
    return pytest.raises(Problem, match=match, check=lambda problem: problem.code in codes)


@contextmanager
def tolerating(*codes: str) -> Iterator[None]:
    """Let problems with one of these codes pass, and no other."""
    try:
        yield
    except Problem as problem:
        if problem.code not in codes:
            raise
