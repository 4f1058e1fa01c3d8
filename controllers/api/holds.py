"""`/holds`: what people said no to; placing is wide, lifting is for people alone."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import holds
from controllers.api import decision_examples as examples
from controllers.api import hold_documents as documents
from controllers.api.decisions import (
    Human,
    as_problems,
    body_of,
    flag_in,
    key_of,
    needed_time,
    person_of,
    text_in,
    time_in,
)
from controllers.api.proposals import target_of
from controllers.api.repeating import KEY, once
from controllers.models import Hold
from controllers.repeats import Said
from resources import access
from resources.access import visible
from resources.api import parameters
from resources.api.authentication import actor_of, principal_of, scope_of
from resources.api.base import find, kind_named
from resources.api.problems import forbidden, invalid, not_found
from resources.api.schema import operation, path, query
from resources.kind import Document
from resources.models import AgentToken, Resource

ID = path("id", "The hold's number.")
FIELDS = (
    "kind",
    "scope",
    "reason",
    "domain",
    "controller",
    "resource",
    "path",
    "value",
    "startsAt",
    "endsAt",
    "openEnded",
    "window",
    "inFlight",
    "owner",
)


def seen_by(request: Request) -> QuerySet[Hold]:
    """Return the holds on what a principal may read; those on all are everybody's."""
    principal = principal_of(request)
    rows = access.rows(Hold, principal).select_related("controller", "resource", "owner")
    if not isinstance(principal, AgentToken):
        return rows
    about = visible(Resource.objects.all(), principal).values("pk")
    own = Q(domain__in=["", principal.agent.domain], resource=None, controller=None)
    return rows.filter(own | Q(resource__in=about) | Q(controller__in=about))


def found(request: Request, text: str) -> Hold:
    """Return a hold that the principal may read, or answer 404."""
    key = key_of(text, "hold")
    hold = seen_by(request).filter(pk=key).first()
    if hold is None:
        raise not_found(f"There is no hold/{key}.")
    return hold


class Holds(Human):
    """All holds."""

    write_scope = "status:write"
    parameters = {"GET": ("standing", "limit", "cursor")}

    @operation(
        "listHolds",
        "List holds, newest first",
        parameters=[
            query("standing", "Only those that are not over, or only those that are.", type=bool),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: ("HoldList", examples.HOLDS)},
        errors=(400,),
    )
    def get(self, request: Request) -> Response:
        """Return one page."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "holds")
        rows, wanted = seen_by(request), parameters.choice(request, "standing")
        if wanted is not None:
            over = Q(ended_at__isnull=False) | Q(ends_at__lte=timezone.now())
            rows = rows.exclude(over) if wanted else rows.filter(over)
        if after := cursor.after():
            rows = rows.filter(pk__lt=int(after))
        kept = list(rows.order_by("-pk")[: most + 1])
        page: Document = {"items": [documents.hold(each) for each in kept[:most]]}
        page["epoch"] = str(holds.epoch())
        if len(kept) > most:
            page["nextCursor"] = cursor.following(str(kept[most - 1].pk))
        return Response(page)

    @operation(
        "placeHold",
        "Stop what controllers do: stop all, freeze, pause or override",
        parameters=[KEY],
        request=("Holding", examples.HOLDING),
        answers={201: ("PlacedHold", examples.PLACED)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request) -> Response:
        """Place a hold; the answer lists the calls that had already begun."""
        body, now = body_of(request, FIELDS), timezone.now()
        if isinstance(request.auth, AgentToken):
            wanted = own_pause(request.auth, body)
            author: dict[str, Any] = {"actor": actor_of(request)}
        else:
            wanted, author = wanted_in(request, body), {"person": person_of(request)}

        def place() -> Said:
            return Said(201, documents.placed(holds.place(wanted, now=now, **author)))

        with as_problems(now):
            return once(request, place, now)


class HoldRecord(Human):
    """One hold."""

    @operation(
        "readHold",
        "Read a hold, and what would happen if it were lifted",
        parameters=[ID],
        answers={200: ("HoldRecord", examples.HOLD_RECORD)},
        errors=(404,),
    )
    def get(self, request: Request, id: str) -> Response:  # noqa: A002
        """Return it; people also see what it keeps from running, in whichever domain."""
        hold, now = found(request, id), timezone.now()
        document: Document = {"hold": documents.hold(hold)}
        if isinstance(request.user, User):
            running = holds.drained(hold, now)
            document["underWay"] = [documents.flight(each) for each in running]
            document["preview"] = holds.preview(hold.pk, now)
        return Response(document)


class Lift(Human):
    """The end of a hold."""

    @operation(
        "liftHold",
        "Lift a hold; only a person in a session may",
        parameters=[ID],
        request=("Lifting", examples.LIFTING),
        answers={200: ("Hold", examples.HOLD)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Lift it; controllers go on by proposing."""
        key, now = found(request, id).pk, timezone.now()
        body, person = body_of(request, ("reason", "restore")), person_of(request)
        reason, restore = text_in(body, "reason"), flag_in(body, "restore")
        with as_problems(now):
            lifted = holds.lift(key, person=person, now=now, reason=reason, restore=restore)
        return Response(documents.hold(lifted))


class Renew(Human):
    """A hold that stands longer."""

    @operation(
        "renewHold",
        "Let a hold stand longer",
        parameters=[ID],
        request=("Renewing", examples.RENEWING),
        answers={200: ("Hold", examples.HOLD)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Move its end."""
        key, now = found(request, id).pk, timezone.now()
        body, person = body_of(request, ("reason", "endsAt")), person_of(request)
        reason, ends = text_in(body, "reason"), needed_time(body, "endsAt")
        with as_problems(now):
            renewed = holds.renew(key, ends, person=person, now=now, reason=reason)
        return Response(documents.hold(renewed))


def wanted_in(request: Request, body: dict[str, Any]) -> holds.Wanted:
    """Read the hold somebody wants."""
    controller, resource = text_in(body, "controller"), text_in(body, "resource")
    window = body.get("window", {})
    if not isinstance(window, dict):
        raise invalid("window is an object.", "/window")
    named, domain = controller.removeprefix("controller/"), text_in(body, "domain")
    scope = scope_of(request)
    if domain and not scope.is_whole and domain not in scope.own:
        raise not_found(f"There is no domain/{domain[:253]}.")
    return holds.Wanted(
        kind=text_in(body, "kind"),
        scope=text_in(body, "scope"),
        reason=text_in(body, "reason"),
        domain=domain,
        controller=find(request, kind_named("controller"), named).pk if controller else None,
        resource=target_of(request, resource, "/resource").pk if resource else None,
        path=text_in(body, "path"),
        value=body.get("value"),
        starts_at=time_in(body, "startsAt"),
        ends_at=time_in(body, "endsAt"),
        open_ended=flag_in(body, "openEnded"),
        window=window,
        in_flight=in_flight_in(body),
        owner=owner_in(body),
    )


def in_flight_in(body: dict[str, Any]) -> str:
    """Read what becomes of work that has begun."""
    return text_in(body, "inFlight") or Hold.InFlight.STOP


def owner_in(body: dict[str, Any]) -> User | None:
    """Find the person who answers for a hold."""
    name = text_in(body, "owner")
    if not name:
        return None
    owner = User.objects.filter(username=name, is_active=True).first()
    if owner is None:
        raise invalid("There is no such person.", "/owner")
    return owner


def own_pause(token: AgentToken, body: dict[str, Any]) -> holds.Wanted:
    """Let an agent stop itself and nothing else: the reason is all it has to say."""
    wanted = {"kind": "pause", "scope": "resource", "resource": str(token.agent)}
    own = {name: body.get(name) for name in wanted} == wanted
    if not own or set(body) - {*wanted, "reason", "inFlight"}:
        raise forbidden("An agent may only pause itself.")
    return holds.Wanted(
        "pause",
        "resource",
        text_in(body, "reason"),
        resource=token.agent_id,
        in_flight=in_flight_in(body),
    )
