"""`/controllers/{name}/replay`: try a threshold, a weight or a rule against what is kept."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.views import CONTROLLER, find_controller
from controllers.api.controllers.trust_serializers import (
    ReplaySerializer,
    ReplayWishSerializer,
)
from controllers.trust import policy_replay
from resources.api.base import View
from resources.api.schema import operation
from resources.usecases.access_rules import SEEN, rules


class ControllerReplay(View):
    """Another rule for one controller, tried on its past."""

    rights = rules(POST=SEEN)
    tag = "Controllers"
    refusal = "Only people try rules."

    @operation(
        "replay",
        "Try another threshold, weight or rule on a controller's past; nothing is changed",
        parameters=[CONTROLLER],
        request=ReplayWishSerializer,
        answers={200: ReplaySerializer},
        errors=(400, 404),
    )
    def post(self, request: Request, name: str) -> Response:
        """Return what would have been different."""
        row = find_controller(request, name)
        patch = policy_replay.wanted(**ReplayWishSerializer.read_body(request))
        found = policy_replay.run(row, patch, timezone.now())
        return Response(ReplaySerializer.show(found))
