"""That the database was restored is on every open page as it would be on a fresh one."""

from __future__ import annotations

import pytest

from controllers.decisions import holds, local_checkpoint
from controllers.loop import restore_watch
from controllers.models import Hold
from tests.live.watching import KEEPER, World, about_proposal
from tests.live.watching import world as world
from tests.web.conftest import clock as clock

pytestmark = [pytest.mark.sqlite, pytest.mark.full]


def test_restoring(world: World) -> None:
    now, wish = world.clock.now, world.wish()
    restore_watch.look(now)
    seen = local_checkpoint.read()
    assert seen is not None
    local_checkpoint.write(seen._replace(entry=seen.entry + 100, hash="0" * 64))
    pages = [*about_proposal(wish), f"/controllers/{KEEPER}"]
    with world.watch("system.restored hold.placed", pages):
        restore_watch.look(now)
    hold = Hold.objects.get()
    with world.watch("hold.lifted", [*pages, f"/overrides/{hold.pk}"]):
        holds.lift(hold.pk, person=world.person(), now=now, reason="We have looked.")
