"""`/controllers/{name}/quality`, `/people/…/quality`: how people decide, and how it turns out."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.views import CONTROLLER, find_controller
from controllers.api.controllers.trust_serializers import (
    QualitySerializer,
    TogetherQualitySerializer,
)
from controllers.api.proposals.decisions import person_of
from controllers.trust import decision_quality
from resources.api.base import View
from resources.api.schema import operation
from resources.documents.problems import forbidden
from resources.usecases.access_rules import ADMINISTER, OWN, api, at, rules


class ControllerQuality(View):
    """How people decide about one controller."""

    rights = api()
    tag = "Controllers"

    @operation(
        "readControllerQuality",
        "Read how long people take about a controller's proposals, and how often they regret it",
        parameters=[CONTROLLER],
        answers={200: QualitySerializer},
        errors=(404,),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return its figures."""
        row = find_controller(request, name)
        found = decision_quality.of_controller(str(row), timezone.now())
        return Response(QualitySerializer.show(found))


class OwnQuality(View):
    """How one decides oneself; nobody else is told."""

    rights = rules(GET=OWN)
    tag = "Decisions"
    scope = ""
    refusal = "People read how they decide themselves; nobody else does."

    @operation(
        "readOwnQuality",
        "Read how you decide yourself; nobody else is told",
        parameters=[],
        answers={200: QualitySerializer},
        errors=(403,),
    )
    def get(self, request: Request) -> Response:
        """Return one's own figures."""
        found = decision_quality.of_person(person_of(request), timezone.now())
        return Response(QualitySerializer.show(found))


class EverybodysQuality(View):
    """How people decide together."""

    rights = rules(GET=at("organisation", *ADMINISTER))
    tag = "Decisions"
    scope = ""
    refusal = "Administrators read how people decide together."

    @operation(
        "readEverybodysQuality",
        "Read how people decide together, as an administrator; nobody can be told apart",
        parameters=[],
        answers={200: TogetherQualitySerializer},
        errors=(403,),
    )
    def get(self, request: Request) -> Response:
        """Return the figures of everybody."""
        found = decision_quality.of_everybody(person_of(request), timezone.now())
        if found is None:
            raise forbidden(self.refusal)
        return Response(TogetherQualitySerializer.show(found))
