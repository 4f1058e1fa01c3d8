"""`/governance/{name}/drills`: whether the way to step in was tried, and ask for a try."""

from __future__ import annotations

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import drills, roles
from controllers.api import earned_examples as examples
from controllers.api.decisions import Human, body_of, person_of
from controllers.models import Drill
from resources.api import parameters
from resources.api.base import find, kind_named
from resources.api.problems import Refused, forbidden, not_found
from resources.api.schema import operation, path, query
from resources.kind import Document
from resources.ledger import instant

NAME = path("name", "The name of the Governance.")


class Drills(Human):
    """The drills of one Governance."""

    refusal = "Only people ask for a drill."
    parameters = {"GET": ("limit",)}

    @operation(
        "listDrills",
        "List drills of the way to step in, newest first",
        parameters=[NAME, query("limit", "How many to return.", type=int)],
        answers={200: ("DrillList", examples.DRILLS)},
        errors=(400, 404),
    )
    def get(self, request: Request, name: str) -> Response:
        """Return the latest."""
        row = find(request, kind_named("governance"), name)
        rows = Drill.objects.filter(governance=row).order_by("-pk")[: parameters.limit(request)]
        said: Document = {"items": [document(each, str(row)) for each in rows]}
        if last := row.status.get("lastOverrideTest"):
            said["lastOverrideTest"] = last
        due = drills.next_at(row)
        if due is not None:
            said |= {"every": row.spec["humanOverride"]["drillEvery"], "nextAt": instant(due)}
        return Response(said)

    @operation(
        "askForDrill",
        "Ask for a drill; the loop pauses a canary and keeps what it finds",
        parameters=[NAME],
        answers={202: ("Drill", examples.ASKED)},
        errors=(403, 404, 409),
    )
    def post(self, request: Request, name: str) -> Response:
        """Ask for one."""
        body_of(request, ())
        person = person_of(request)
        row = find(request, kind_named("governance"), name)
        try:
            asked = drills.ask(row.name, person=person, now=timezone.now())
        except roles.Denied as error:
            raise forbidden(str(error)) from None
        except drills.Missing as error:
            raise not_found(str(error)) from None
        except drills.Refused as error:
            raise Refused(409, "refused", str(error)) from None
        return Response(document(asked, str(row)), status=202)


def document(drill: Drill, governance: str) -> Document:
    """Write a drill as the API shows it."""
    times = {"begunAt": drill.begun_at, "endedAt": drill.ended_at}
    return {
        "id": drill.pk,
        "governance": governance,
        "state": drill.state,
        "author": drill.author,
        "askedAt": instant(drill.asked_at),
        **{name: instant(at) for name, at in times.items() if at},
        "evidence": drill.evidence,
        **({"problem": drill.problem} if drill.problem else {}),
        "correlationId": str(drill.uid),
    }
