"""`/proposals`: what waits for people, what was decided, what was done; and filing a new one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import deciding, grouping, lifecycle, proposing, roles
from controllers.api import decision_documents as documents
from controllers.api import decision_examples as examples
from controllers.api.decisions import Human, as_problems, body_of, key_of, person_of, text_in
from controllers.api.reading import key_in
from controllers.models import Proposal
from resources import access, kinds
from resources.access import visible
from resources.api import parameters
from resources.api.authentication import actor_of, principal_of
from resources.api.base import find, kind_named
from resources.api.preconditions import etag
from resources.api.problems import invalid, not_found
from resources.api.schema import header, operation, path, query
from resources.kind import Document
from resources.models import AgentToken, Resource

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
        raise not_found(f"There is no proposal/{key}.")
    return proposal


class Proposals(Human):
    """All proposals."""

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
        answers={200: ("ProposalList", examples.PROPOSALS)},
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
        page: Document = {"items": documents.summaries(kept[:most])}
        if len(kept) > most:
            page["nextCursor"] = cursor.following(str(kept[most - 1].pk))
        return Response(page)

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
        request=("Filing", examples.FILING),
        answers={200: ("Proposal", examples.PROPOSAL), 201: ("Proposal", examples.PROPOSAL)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request) -> Response:
        """File a proposal for an agent or a person."""
        body = body_of(request, ("resource", "actions", "why", "revises"))
        revised = revised_in(request, body)
        ref = text_in(body, "resource") or (str(revised.resource) if revised else "")
        target, now = target_of(request, ref, "/resource"), timezone.now()
        why, key = text_in(body, "why"), key_in(request)
        filing = proposing.Filing(target.pk, actions_in(body), why, key)
        with as_problems(now):
            if revised is not None:
                answered = proposing.revise(revised.pk, filing, by=proposer(request), now=now)
                return whole(request, answered, now)
            filed = proposing.propose(filing, by=proposer(request), now=now)
        return whole(request, filed.proposal, now, status=201 if filed.new else 200)


class ProposalRecord(Human):
    """One proposal."""

    write_scope = "proposals:write"
    parameters = {"GET": ("since",)}

    @operation(
        "readProposal",
        "Read a proposal: its plan, evidence, votes, and who can decide",
        parameters=[
            ID,
            query("since", "A revision you saw: `changes` says what is different now.", type=int),
        ],
        answers={200: ("Proposal", examples.PROPOSAL)},
        errors=(400, 404),
    )
    def get(self, request: Request, id: str) -> Response:  # noqa: A002
        """Return it, with its revision and digest as the tag."""
        since = parameters.number(request, "since", least=1)
        proposal = found(request, id)
        answer = whole(request, proposal, timezone.now())
        if since is not None:
            answer.data["changes"] = deciding.since(proposal, since)
        return answer

    @operation(
        "reviseProposal",
        "Answer a request for changes; only its proposer may",
        parameters=[ID],
        request=("Revising", examples.REVISING),
        answers={200: ("Proposal", examples.PROPOSAL)},
        errors=(400, 403, 404, 409),
    )
    def put(self, request: Request, id: str) -> Response:  # noqa: A002
        """Put another plan in the place of the one that people sent back."""
        body, now = body_of(request, ("actions", "why")), timezone.now()
        proposal = found(request, id)
        filing = proposing.Filing(proposal.resource_id, actions_in(body), text_in(body, "why"))
        with as_problems(now):
            revised = proposing.revise(proposal.pk, filing, by=proposer(request), now=now)
        return whole(request, revised, now)


class Causes(Human):
    """What waits, by root cause."""

    @operation(
        "listCauses",
        "List the root causes of what waits, the most frequent first",
        answers={200: ("CauseList", examples.CAUSES)},
    )
    def get(self, request: Request) -> Response:
        """Return every group."""
        now = timezone.now()
        among = grouping.waiting(now).filter(pk__in=seen_by(request).values("pk"))
        return Response({"items": documents.causes(list(grouping.groups(now, among)))})


def whole(request: Request, proposal: Proposal, now: datetime, status: int = 200) -> Response:
    """Answer with everything about a proposal, and what was seen of it as its tag."""
    reader = request.user if isinstance(request.user, User) else None
    document = documents.record(proposal, reader, now)
    return Response(document, status=status, headers={"ETag": etag(proposal.tag)})


def narrowed(request: Request, rows: QuerySet[Proposal]) -> QuerySet[Proposal]:
    """Apply the filters of a list."""
    given = request.query_params
    if state := given.get("state"):
        rows = rows.filter(state__in=states(state))
    if isinstance(request.auth, AgentToken) and parameters.flag(request, "mine"):
        rows = rows.filter(proposer=str(actor_of(request)))
    elif parameters.flag(request, "mine"):
        rows = rows.filter(pk__in=grouping.waiting(timezone.now()).values("pk"))
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
    several: dict[str, tuple[str, ...]] = {"open": lifecycle.OPEN, "waiting": lifecycle.WAITING}
    if word in several:
        return several[word]
    if word not in lifecycle.STATES:
        raise invalid("There is no such state.", allowed=[*several, *lifecycle.STATES])
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


def revised_in(request: Request, body: Document) -> Proposal | None:
    """Find the proposal that a filing revises, if it revises one."""
    if "revises" not in body:
        return None
    key = body["revises"]
    if not isinstance(key, int) or isinstance(key, bool):
        raise invalid("revises is the number of a proposal.", "/revises")
    return found(request, str(key))


def actions_in(body: Document) -> list[dict[str, Any]]:
    """Read the actions of a filing: operations with their parameters."""
    given = body.get("actions")
    if not isinstance(given, list) or not given:
        raise invalid("actions is a list of operations with parameters.", "/actions")
    for number, each in enumerate(given):
        known = isinstance(each, dict) and not set(each) - {"operation", "parameters"}
        if not known or not isinstance(each.get("operation"), str):
            detail = "An action has an operation and its parameters."
            raise invalid(detail, f"/actions/{number}", allowed=["operation", "parameters"])
        if not isinstance(each.get("parameters", {}), dict):
            raise invalid("parameters is an object.", f"/actions/{number}/parameters")
    return given


def proposer(request: Request) -> User | AgentToken:
    """Return who proposes: a person, or an agent by its token."""
    return request.auth if isinstance(request.auth, AgentToken) else person_of(request)
