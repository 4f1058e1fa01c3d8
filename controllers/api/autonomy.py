"""`/controllers/{name}/autonomy`: what a controller has earned, and how far its record is."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import earning
from controllers.api import earned_examples as examples
from controllers.api.base import CONTROLLER, find_controller
from controllers.earning import Standing
from resources.api.base import View
from resources.api.schema import operation
from resources.kind import Document
from resources.ledger import instant


class ControllerAutonomy(View):
    """What one controller has earned."""

    tag = "Controllers"

    @operation(
        "readAutonomy",
        "Read what a controller has earned to do without asking, with its record",
        parameters=[CONTROLLER],
        answers={200: ("AutonomyList", examples.AUTONOMY)},
        errors=(404,),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return each operation and domain."""
        row = find_controller(request, name)
        return Response({"items": [document(each) for each in earning.of(row, timezone.now())]})


def document(found: Standing) -> Document:
    """Write one record as the API shows it."""
    held = found.held
    return {
        "operation": found.operation,
        "domain": found.domain,
        "approvals": found.approvals,
        "bar": found.bar,
        "setbacks": found.setbacks,
        "granted": held is not None,
        **({"grantedAt": instant(held.granted_at)} if held else {}),
        **({"proposal": found.proposal} if found.proposal else {}),
    }
