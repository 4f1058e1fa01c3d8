"""`/proposals`: what waits for people, what was decided, what was done; and filing a new one."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.access import roles
from controllers.api.base.idempotency_key import key_in
from controllers.api.proposals.decisions import Human, as_problems, key_of, person_of
from controllers.api.proposals.serializers import (
    CauseListSerializer,
    FilingSerializer,
    ProposalListSerializer,
    ProposalSerializer,
    ProposalSummarySerializer,
    RevisingSerializer,
)
from controllers.decisions import answers, creation, proposal_groups
from controllers.engine import proposal_lifecycle
from controllers.models import Proposal
from resources.api import parameters
from resources.api.authentication import actor_of, principal_of
from resources.api.base import find, kind_named
from resources.api.preconditions import etag
from resources.api.schema import header, operation, path, query
from resources.documents import kinds
from resources.documents.problems import invalid, missing
from resources.tables.models import AgentToken, Resource
from resources.usecases import access
from resources.usecases.access import visible
from resources.usecases.access_rules import OPERATE, Rule, api

ID = path("id", "The proposal's number.")


def seen_by(request: Request) -> QuerySet[Proposal]:
    """Return the proposals about what a principal may read."""
    principal = principal_of(request)
    rows = access.rows(Proposal, principal).select_related("controller", "resource")
    if not isinstance(principal, AgentToken):
        return rows
    return rows.filter(resource__in=visible(Resource.objects.all(), principal).values("pk"))


def found(request: Request, text: str) -> Proposal:
    """Return a proposal that the principal may read, or answer 404."""
    key = key_of(text, "proposal")
    proposal = seen_by(request).filter(pk=key).first()
    if proposal is None:
        raise missing(f"There is no proposal/{key}.")
    return proposal


class Proposals(Human):
    """All proposals."""

    rights = api(POST=Rule(roles=OPERATE, bearer="proposals:write"))
    write_scope = "proposals:write"
    parameters = {
        "GET": ("state", "mine", "resource", "controller", "cause", "limit", "cursor"),
    }

    @operation(
        "listProposals",
        "List proposals, newest first",
        parameters=[
            query("state", "Only those in this state, or `open`, or `waiting`."),
            query(
                "mine",
                "Only those that wait and that you may decide; for a token, its own.",
                type=bool,
            ),
            query("resource", "Only those about this one, such as `agent/scribe`."),
            query("controller", "Only those of this controller."),
            query("cause", "Only those with this root cause."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: ProposalListSerializer},
        errors=(404,),
    )
    def get(self, request: Request) -> Response:
        """Return one page."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "proposals")
        rows = narrowed(request, seen_by(request)).order_by("-pk")
        if after := cursor.after():
            rows = rows.filter(pk__lt=int(after))
        mine = parameters.flag(request, "mine") and isinstance(request.user, User)
        kept = waiting_for(request, rows, most + 1) if mine else list(rows[: most + 1])
        items = ProposalSummarySerializer.summaries(kept[:most])
        return Response(ProposalListSerializer.paged(items, kept, most, cursor))

    @operation(
        "propose",
        "Propose a change, or answer a request for changes; people decide",
        parameters=[
            header(
                "Idempotency-Key",
                "A name of your request: repeated, it proposes nothing new.",
                maxLength=200,
            )
        ],
        request=(FilingSerializer, {"why": "The campaign is over."}),
        answers={200: ProposalSerializer, 201: ProposalSerializer},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request) -> Response:
        """File a proposal for an agent or a person."""
        body, key = FilingSerializer.read_body(request), key_in(request)
        revised = found(request, str(body["revises"])) if body["revises"] is not None else None
        ref = body["resource"] or (str(revised.resource) if revised else "")
        target, now = target_of(request, ref, "/resource"), timezone.now()
        filing = creation.Filing(target.pk, body["actions"], body["why"], key)
        with as_problems(now):
            if revised is not None:
                answered = creation.revise(revised.pk, filing, by=proposer(request), now=now)
                return whole(request, answered, now)
            filed = creation.propose(filing, by=proposer(request), now=now)
        return whole(request, filed.proposal, now, status=201 if filed.new else 200)


class ProposalRecord(Human):
    """One proposal."""

    # Only its proposer changes it, whoever that is.
    rights = api(PUT=Rule(bearer="proposals:write"))
    write_scope = "proposals:write"
    parameters = {"GET": ("since",)}

    @operation(
        "readProposal",
        "Read a proposal: its plan, evidence, votes, and who can decide",
        parameters=[
            ID,
            query("since", "A revision you saw: `changes` says what is different now.", type=int),
        ],
        answers={200: ProposalSerializer},
        errors=(400, 404),
    )
    def get(self, request: Request, id: str) -> Response:  # noqa: A002
        """Return it, with its revision and digest as the tag."""
        since = parameters.number(request, "since", least=1)
        proposal = found(request, id)
        answer = whole(request, proposal, timezone.now())
        if since is not None:
            answer.data["changes"] = answers.since(proposal, since)
        return answer

    @operation(
        "reviseProposal",
        "Answer a request for changes; only its proposer may",
        parameters=[ID],
        request=RevisingSerializer,
        answers={200: ProposalSerializer},
        errors=(400, 403, 404, 409),
    )
    def put(self, request: Request, id: str) -> Response:  # noqa: A002
        """Put another plan in the place of the one that people sent back."""
        body, now = RevisingSerializer.read_body(request), timezone.now()
        proposal = found(request, id)
        filing = creation.Filing(proposal.resource_id, body["actions"], body["why"])
        with as_problems(now):
            revised = creation.revise(proposal.pk, filing, by=proposer(request), now=now)
        return whole(request, revised, now)


class Causes(Human):
    """What waits, by root cause."""

    rights = api()

    @operation(
        "listCauses",
        "List the root causes of what waits, the most frequent first",
        answers={200: CauseListSerializer},
    )
    def get(self, request: Request) -> Response:
        """Return every group."""
        now = timezone.now()
        among = proposal_groups.waiting(now).filter(pk__in=seen_by(request).values("pk"))
        return Response(CauseListSerializer.causes(list(proposal_groups.groups(now, among))))


def whole(request: Request, proposal: Proposal, now: datetime, status: int = 200) -> Response:
    """Answer with everything about a proposal, and what was seen of it as its tag."""
    reader = request.user if isinstance(request.user, User) else None
    document = ProposalSerializer.record(proposal, reader, now)
    return Response(document, status=status, headers={"ETag": etag(proposal.tag)})


def narrowed(request: Request, rows: QuerySet[Proposal]) -> QuerySet[Proposal]:
    """Apply the filters of a list."""
    given = request.query_params
    if state := given.get("state"):
        rows = rows.filter(state__in=states(state))
    if isinstance(request.auth, AgentToken) and parameters.flag(request, "mine"):
        rows = rows.filter(proposer=str(actor_of(request)))
    elif parameters.flag(request, "mine"):
        rows = rows.filter(pk__in=proposal_groups.waiting(timezone.now()).values("pk"))
    if resource := given.get("resource"):
        rows = rows.filter(resource=target_of(request, resource))
    if controller := given.get("controller"):
        name = controller.removeprefix("controller/")
        rows = rows.filter(controller=find(request, kind_named("controller"), name))
    if cause := given.get("cause"):
        rows = rows.filter(cause=cause)
    return rows


def states(word: str) -> tuple[str, ...]:
    """Read a state, or a word for several."""
    several: dict[str, tuple[str, ...]] = {
        "open": proposal_lifecycle.OPEN,
        "waiting": proposal_lifecycle.WAITING,
    }
    if word in several:
        return several[word]
    if word not in proposal_lifecycle.STATES:
        raise invalid("There is no such state.", allowed=[*several, *proposal_lifecycle.STATES])
    return (word,)


def waiting_for(request: Request, rows: QuerySet[Proposal], most: int) -> list[Proposal]:
    """Keep what the reader may decide; a token decides nothing."""
    if not isinstance(request.user, User):
        return []
    return roles.waiting_for(request.user, rows, most, timezone.now())


def target_of(request: Request, ref: str, pointer: str | None = None) -> Resource:
    """Find a resource by its reference, such as `agent/scribe`."""
    kind, _, name = ref.partition("/")
    if kinds.by_path(kind) is None or not name:
        raise invalid("resource is a reference such as agent/scribe.", pointer)
    return find(request, kind_named(kind), name)


def proposer(request: Request) -> User | AgentToken:
    """Return who proposes: a person, or an agent by its token."""
    return request.auth if isinstance(request.auth, AgentToken) else person_of(request)
