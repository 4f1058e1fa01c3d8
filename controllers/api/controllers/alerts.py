"""`/alerts`: what controllers told people."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.views import find_controller
from controllers.api.controllers.serializers import AlertListSerializer
from controllers.models import Alert
from resources.api import parameters
from resources.api.authentication import principal_of
from resources.api.base import View
from resources.api.schema import operation, query
from resources.tables.models import Resource
from resources.usecases.access import visible
from resources.usecases.access_rules import api


class Alerts(View):
    """The alerts of all controllers."""

    rights = api()
    tag = "Controllers"
    parameters = {"GET": ("open", "controller", "limit", "cursor")}

    @operation(
        "listAlerts",
        "List alerts, newest first",
        parameters=[
            query("open", "Only those that still stand, or those that are over.", type=bool),
            query("controller", "Only those of this controller."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: AlertListSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request) -> Response:
        """Return one page of those about what the principal may read."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "alerts")
        after, standing = cursor.after(), parameters.choice(request, "open")
        about = visible(Resource.objects.all(), principal_of(request)).values("pk")
        found = Alert.objects.filter(resource__in=about)
        if wanted := request.query_params.get("controller"):
            found = found.filter(controller=find_controller(request, wanted))
        if standing is not None:
            found = found.filter(resolved_at__isnull=standing)
        if after:
            found = found.filter(pk__lt=int(after))
        found = found.select_related("controller", "resource").prefetch_related("deliveries")
        kept = list(found.order_by("-pk")[: most + 1])
        return Response(AlertListSerializer.page(kept, most, cursor))
