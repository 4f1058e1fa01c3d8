"""The open proposals about resources are the same however they are read."""

from __future__ import annotations

import pytest

from controllers.decisions.creation import open_proposals
from tests.conftest import Clock
from tests.decisions.looking import proposed


@pytest.mark.django_db
def test_a_stretch_of_resources_tells_no_more_than_those_asked_for(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = proposed(clock)
    key, controller = proposal.resource_id, proposal.controller_id
    assert controller is not None
    around = {key - 1, key + 1}

    for spread in (-1, 1_000):
        monkeypatch.setattr(open_proposals, "SPREAD", spread)
        found = open_proposals.read(controller, around | {key})
        assert [each.pk for each in found[key].waiting] == [proposal.pk]
        assert set(found) == {key}
        assert open_proposals.read(controller, around) == {}
