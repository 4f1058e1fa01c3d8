"""`/controllers/{name}/autonomy`: what a controller has earned, and how far its record is."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.views import CONTROLLER, find_controller
from controllers.api.controllers.trust_serializers import (
    AutonomyListSerializer,
    AutonomySerializer,
)
from controllers.trust import promotions
from resources.api.base import View
from resources.api.schema import operation
from resources.usecases.access_rules import api


class ControllerAutonomy(View):
    """What one controller has earned."""

    rights = api()
    tag = "Controllers"

    @operation(
        "readAutonomy",
        "Read what a controller has earned to do without asking, with its record",
        parameters=[CONTROLLER],
        answers={200: AutonomyListSerializer},
        errors=(404,),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return each operation and domain."""
        row = find_controller(request, name)
        found = promotions.of(row, timezone.now())
        return Response({"items": AutonomySerializer.show_all(found)})
