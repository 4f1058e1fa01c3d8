"""`/controllers/{name}/replay`: try a threshold, a weight or a rule against what is kept."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import replaying
from controllers.api import earned_examples as examples
from controllers.api.base import CONTROLLER, find_controller
from controllers.api.decisions import body_of
from controllers.replaying import SHOWN, Changed, Replay
from resources.api.base import View
from resources.api.problems import invalid, wrong
from resources.api.schema import operation
from resources.ledger import instant


class ControllerReplay(View):
    """Another rule for one controller, tried on its past."""

    tag = "Controllers"
    refusal = "Only people try rules."

    @operation(
        "replay",
        "Try another threshold, weight or rule on a controller's past; nothing is changed",
        parameters=[CONTROLLER],
        request=("ReplayWish", examples.REPLAY_WISH),
        answers={200: ("Replay", examples.REPLAY)},
        errors=(400, 404),
    )
    def post(self, request: Request, name: str) -> Response:
        """Return what would have been different."""
        row = find_controller(request, name)
        patch = wish_in(body_of(request, ("threshold", "weights", "spec")))
        try:
            found = replaying.run(row, patch, timezone.now())
        except replaying.Refused as error:
            raise (wrong(error.problems) if error.problems else invalid(str(error))) from None
        return Response(document(found))


def wish_in(body: dict[str, Any]) -> dict[str, Any]:
    """Read what is to be tried."""
    threshold, weights, spec = (body.get(name) for name in ("threshold", "weights", "spec"))
    if threshold is not None and not is_number(threshold):
        raise invalid("threshold is a number from 0 to 1.", "/threshold")
    if weights is not None and not isinstance(weights, dict):
        raise invalid('weights is an object of numbers, such as {"kpi": 2}.', "/weights")
    if spec is not None and not isinstance(spec, dict):
        raise invalid("spec is an object: what would be declared.", "/spec")
    if spec is not None and not isinstance(spec.get("drift", {}), dict):
        raise invalid("drift is an object.", "/spec/drift")
    return replaying.wanted(threshold, weights, spec)


def is_number(value: Any) -> bool:
    """Tell whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def document(found: Replay) -> dict[str, Any]:
    """Write a replay as the API shows it; of long lists the first."""
    lists = {"vanishes": found.vanishes, "unasked": found.unasked, "asked": found.asked}
    return {
        "controller": found.controller,
        "counts": {
            "points": found.points,
            "proposals": found.proposals,
            "resources": found.resources,
            "appears": len(found.appears),
            **{name: len(rows) for name, rows in lists.items()},
            "contradictions": len(found.contradictions),
        },
        **({"since": instant(found.since)} if found.since else {}),
        "appears": [
            {"resource": each.resource, "at": instant(each.at), "score": each.score}
            for each in found.appears[:SHOWN]
        ],
        **{name: [_changed(each) for each in rows[:SHOWN]] for name, rows in lists.items()},
        "contradictions": [_changed(each) for each in found.contradictions[:SHOWN]],
        "limits": found.limits,
    }


def _changed(each: Changed) -> dict[str, Any]:
    return {
        "proposal": each.proposal,
        "resource": each.resource,
        "at": instant(each.at),
        **({"answer": each.answer} if each.answer else {}),
        **({"decidedBy": each.decided_by} if each.decided_by else {}),
        **({"contradicts": each.contradicts} if each.contradicts else {}),
    }
