"""What was done about a drift goes into its story, so that the next look can weigh it."""

from __future__ import annotations

import orjson

from controllers.common import rows
from controllers.models import Judgement


def note(controller: int | None, resource: int, *, done: bool) -> None:
    """Note that a plan was carried out, or failed; without a judgement there is no story."""
    judged = Judgement.objects.select_for_update().filter(controller=controller, resource=resource)
    for each in judged:
        told = rows.episode(orjson.dumps(each.episode).decode())
        told = told._replace(acted=each.plan if done else "", failed=not done)
        Judgement.objects.filter(pk=each.pk).update(episode=rows.story(told))
