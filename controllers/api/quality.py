"""`/controllers/{name}/quality`, `/people/…/quality`: how people decide, and how it turns out."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import quality
from controllers.api import earned_examples as examples
from controllers.api.base import CONTROLLER, find_controller
from controllers.api.decisions import person_of
from controllers.quality import Quality
from resources.api.base import View
from resources.api.problems import forbidden
from resources.api.schema import operation
from resources.kind import Document
from resources.ledger import instant


class ControllerQuality(View):
    """How people decide about one controller."""

    tag = "Controllers"

    @operation(
        "readControllerQuality",
        "Read how long people take about a controller's proposals, and how often they regret it",
        parameters=[CONTROLLER],
        answers={200: ("Quality", examples.QUALITY)},
        errors=(404,),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return its figures."""
        row = find_controller(request, name)
        return Response(document(quality.of_controller(str(row), timezone.now())))


class OwnQuality(View):
    """How one decides oneself; nobody else is told."""

    tag = "Decisions"
    scope = ""
    refusal = "People read how they decide themselves; nobody else does."

    @operation(
        "readOwnQuality",
        "Read how you decide yourself; nobody else is told",
        parameters=[],
        answers={200: ("Quality", examples.QUALITY)},
        errors=(403,),
    )
    def get(self, request: Request) -> Response:
        """Return one's own figures."""
        return Response(document(quality.of_person(person_of(request), timezone.now())))


class EverybodysQuality(View):
    """How people decide together."""

    tag = "Decisions"
    scope = ""
    refusal = "Administrators read how people decide together."

    @operation(
        "readEverybodysQuality",
        "Read how people decide together, as an administrator; nobody can be told apart",
        parameters=[],
        answers={200: ("TogetherQuality", examples.TOGETHER)},
        errors=(403,),
    )
    def get(self, request: Request) -> Response:
        """Return the figures of everybody."""
        found = quality.of_everybody(person_of(request), timezone.now())
        if found is None:
            raise forbidden(self.refusal)
        told = {} if found.quality is None else {"quality": document(found.quality)}
        return Response({"people": found.people, "fewest": quality.FEWEST, **told})


def document(found: Quality) -> Document:
    """Write figures as the API shows them; what nothing is known of is left out."""
    rates = {"overrideRate": found.override_rate, "revertRate": found.revert_rate}
    rates["catchRate"] = found.catch_rate
    times = {"typicalSeconds": found.typical, "slowSeconds": found.slow}
    return {
        "since": instant(found.since),
        "answers": found.answers,
        "approved": found.approved,
        "rejected": found.rejected,
        "overridden": found.overridden,
        "reverted": found.reverted,
        "worse": found.worse,
        **({"checks": found.checks, "caught": found.caught} if found.checks else {}),
        **{name: rate for name, rate in rates.items() if rate is not None},
        **{name: at.total_seconds() for name, at in times.items() if at is not None},
        "cut": found.cut,
    }
