"""One request that arrives several times at the same moment is done once."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import pytest

from controllers.common import idempotency
from controllers.common.idempotency import IdempotentResponse, Named
from controllers.decisions import holds
from controllers.decisions.holds import HoldRequest
from controllers.models import Answered, Hold
from tests.conftest import Clock
from tests.decisions.making import agent, person
from tests.resources.conftest import real_database as real_database
from tests.resources.racing import together

pytestmark = [pytest.mark.usefixtures("real_database"), pytest.mark.servers]


def test_of_many_with_one_name_one_is_done_and_all_hear_of_it(clock: Clock) -> None:
    maya, scribe = person(clock, "maya", "approver"), agent(clock)
    wish = HoldRequest("pause", "resource", "The agent.", resource=scribe.pk)

    def place() -> IdempotentResponse:
        placed = holds.place(wish, person=maya, now=datetime.now(UTC))
        return IdempotentResponse(201, {"hold": placed.hold.pk})

    named = Named("person/maya", "stop-1", "d" * 64)
    heard = together([partial(idempotency.once, named, place, clock.now) for _ in range(6)])

    assert len({each.body["hold"] for each in heard}) == 1
    assert {each.status for each in heard} == {201}
    assert (Hold.objects.count(), Answered.objects.count()) == (1, 1)
