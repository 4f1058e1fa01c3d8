"""`/holds`: what people said no to; placing is wide, lifting is for people alone."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.base.idempotency_key import KEY, once
from controllers.api.holds.serializers import (
    HoldingSerializer,
    HoldListSerializer,
    HoldRecordSerializer,
    HoldSerializer,
    LiftingSerializer,
    PlacedHoldSerializer,
    RenewingSerializer,
)
from controllers.api.proposals.decisions import Human, as_problems, key_of, person_of
from controllers.api.proposals.proposals import target_of
from controllers.common.idempotency import IdempotentResponse
from controllers.decisions import holds
from controllers.models import Hold
from resources.api import parameters
from resources.api.authentication import actor_of, principal_of, scope_of
from resources.api.base import find, kind_named
from resources.api.schema import operation, path, query
from resources.api.serializer_base import Body
from resources.documents.problems import forbidden, invalid, missing
from resources.tables.models import AgentToken, Resource
from resources.usecases import access
from resources.usecases.access import visible
from resources.usecases.access_rules import LIFT, STOP, Rule, api, at, rules

ID = path("id", "The hold's number.")


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
        raise missing(f"There is no hold/{key}.")
    return hold


class Holds(Human):
    """All holds."""

    rights = api(POST=Rule(roles=STOP, bearer="status:write"))
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
        answers={200: HoldListSerializer},
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
        page = HoldListSerializer.page(kept, most, cursor)
        return Response(page | {"epoch": str(holds.epoch())})

    @operation(
        "placeHold",
        "Stop what controllers do: stop all, freeze, pause or override",
        parameters=[KEY],
        request=HoldingSerializer,
        answers={201: PlacedHoldSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request) -> Response:
        """Place a hold; the answer lists the calls that had already begun."""
        if isinstance(request.auth, AgentToken):
            refuse_others(request.auth, request.data)
        body, now = HoldingSerializer.read_body(request), timezone.now()
        if isinstance(request.auth, AgentToken):
            wanted = own_pause(request.auth, body)
            author: dict[str, Any] = {"actor": actor_of(request)}
        else:
            wanted, author = wanted_in(request, body), {"person": person_of(request)}

        def place() -> IdempotentResponse:
            return IdempotentResponse(
                201, PlacedHoldSerializer.show(holds.place(wanted, now=now, **author))
            )

        with as_problems(now):
            return once(request, place, now)


class HoldRecord(Human):
    """One hold."""

    rights = api()

    @operation(
        "readHold",
        "Read a hold, and what would happen if it were lifted",
        parameters=[ID],
        answers={200: HoldRecordSerializer},
        errors=(404,),
    )
    def get(self, request: Request, id: str) -> Response:  # noqa: A002
        """Return it; people also see what it keeps from running, in whichever domain."""
        hold, now = found(request, id), timezone.now()
        more: dict[str, Any] = {}
        if isinstance(request.user, User):
            more["under_way"] = holds.drained(hold, now)
            more["preview"] = holds.preview(hold.pk, now)
        return Response(HoldRecordSerializer.show(hold, **more))


class Lift(Human):
    """The end of a hold."""

    rights = rules(POST=at("there", *LIFT))

    @operation(
        "liftHold",
        "Lift a hold; only a person in a session may",
        parameters=[ID],
        request=LiftingSerializer,
        answers={200: HoldSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Lift it; controllers go on by proposing."""
        key, now = found(request, id).pk, timezone.now()
        body, person = LiftingSerializer.read_body(request), person_of(request)
        with as_problems(now):
            lifted = holds.lift(key, person=person, now=now, **body)
        return Response(HoldSerializer.show(lifted))


class Renew(Human):
    """A hold that stands longer."""

    rights = rules(POST=at("there", *STOP))

    @operation(
        "renewHold",
        "Let a hold stand longer",
        parameters=[ID],
        request=RenewingSerializer,
        answers={200: HoldSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Move its end."""
        key, now = found(request, id).pk, timezone.now()
        body, person = RenewingSerializer.read_body(request), person_of(request)
        with as_problems(now):
            renewed = holds.renew(
                key, body["ends_at"], person=person, now=now, reason=body["reason"]
            )
        return Response(HoldSerializer.show(renewed))


def wanted_in(request: Request, body: Body) -> holds.HoldRequest:
    """Return the hold somebody wants."""
    controller, resource, domain = body["controller"], body["resource"], body["domain"]
    named = controller.removeprefix("controller/")
    scope = scope_of(request)
    if domain and not scope.is_whole and domain not in scope.own:
        raise missing(f"There is no domain/{domain[:253]}.")
    placed = {
        "controller": find(request, kind_named("controller"), named).pk if controller else None,
        "resource": target_of(request, resource, "/resource").pk if resource else None,
        "window": body["window"] or {},
        "in_flight": body["in_flight"] or Hold.InFlight.STOP,
        "owner": owner_named(body["owner"]),
    }
    return holds.HoldRequest(**(body | placed))


def owner_named(name: str) -> User | None:
    """Find the person who answers for a hold."""
    if not name:
        return None
    owner = User.objects.filter(username=name, is_active=True).first()
    if owner is None:
        raise invalid("There is no such person.", "/owner")
    return owner


def refuse_others(token: AgentToken, sent: Any) -> None:
    """Refuse an agent that would stop something other than itself; the rest is read later."""
    if not isinstance(sent, dict):
        return
    wanted = {"kind": "pause", "scope": "resource", "resource": str(token.agent)}
    own = {name: sent.get(name) for name in wanted} == wanted
    more = set(sent) & set(HoldingSerializer.attributes) - {*wanted, "reason", "inFlight"}
    if not own or more:
        raise forbidden("An agent may only pause itself.")


def own_pause(token: AgentToken, body: Body) -> holds.HoldRequest:
    """Return an agent's pause of itself: the reason is all it has to say."""
    return holds.HoldRequest(
        "pause",
        "resource",
        body["reason"],
        resource=token.agent_id,
        in_flight=body["in_flight"] or Hold.InFlight.STOP,
    )
