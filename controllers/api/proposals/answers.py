"""`/proposals/{id}/{answer}`: what people say about a proposal; no token may."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api.proposals import answer_body
from controllers.api.proposals.answer_fields import EXAMPLES, SPOKEN, names
from controllers.api.proposals.decisions import (
    Human,
    as_problems,
    body_of,
    person_of,
    seen_in,
    text_in,
)
from controllers.api.proposals.proposals import ID, found, whole
from controllers.api.proposals.serializers import (
    AnswerSerializer,
    ManyResultsSerializer,
    ManySerializer,
    ProposalSerializer,
)
from controllers.decisions import answers, attention_checks, proposal_groups
from controllers.decisions.answers import ProposalAnswer
from controllers.decisions.proposals import SeenRevision, as_seen
from controllers.signin import reauthentication
from resources.api.schema import header, operation, path
from resources.documents.problems import CONFIRM, Problem, invalid, missing
from resources.usecases.access_rules import DECIDE, SEEN, at, rules

IF_MATCH = header("If-Match", 'What you saw: `"<revision>:<action digest>"`, its tag.')


TOGETHER = {each.name: each for each in SPOKEN if each.together}
ANSWER = path("answer", "What you say.", [each.name for each in SPOKEN])


class Answer(Human):
    """One person's answer to one proposal."""

    rights = rules(POST=at("there", *DECIDE))

    @operation(
        "answerProposal",
        "Answer a proposal; only a person in a session may",
        parameters=[ID, ANSWER, IF_MATCH],
        request=(AnswerSerializer, EXAMPLES),
        body_may_be_missing=True,
        answers={200: ProposalSerializer},
        errors=(400, 403, 404, 409, 410, 423, 428),
    )
    def post(self, request: Request, id: str, answer: str) -> Response:  # noqa: A002
        """Say it."""
        said = answers.find(answer)
        if said is None or not said.in_api:
            known = [each.name for each in SPOKEN]
            raise missing(f"There is no answer {answer[:80]!r}.", allowed=known)
        row, now, person = found(request, id), timezone.now(), person_of(request)
        given = given_in(request, said)
        if reauthentication.is_needed(request._request, person, row, answer, now):
            there = reverse("account_reauthenticate")
            raise Problem(CONFIRM, reauthentication.SENTENCE, at=there)
        with as_problems(now):
            proposal = said.use_case(row.pk, person=person, now=now, **given)
        response = whole(request, proposal, now)
        if check := attention_checks.told(proposal, person):
            response.data["check"] = check
        return response


class DecideMany(Human):
    """One answer to many proposals."""

    rights = rules(POST=SEEN)

    @operation(
        "decideMany",
        "Give one answer to up to 200 proposals; each is decided by itself",
        request=ManySerializer,
        answers={200: ManyResultsSerializer},
        errors=(400, 403),
    )
    def post(self, request: Request) -> Response:
        """Decide each, and say what became of each."""
        body = body_of(request, ("answer", "items", *names(TOGETHER.values())))
        answer, now = TOGETHER.get(text_in(body, "answer")), timezone.now()
        if answer is None:
            detail = "That cannot be said about many at once."
            raise invalid(detail, "/answer", allowed=[*TOGETHER])
        given, items = answer_body.given(answer, body), items_in(body)
        with as_problems(now):
            results = proposal_groups.decide_all(
                items, answer.verb, person=person_of(request), now=now, **given
            )
        return Response(ManyResultsSerializer.show(list(results)))


def given_in(request: Request, answer: ProposalAnswer) -> dict[str, Any]:
    """Read what an answer is given: what was seen, why, and what its fields say."""
    seen = {"seen": seen_in(request)} if answer.bound else {}
    body = body_of(request, names([answer]))
    return {**seen, **answer_body.given(answer, body)}


def items_in(body: dict[str, Any]) -> list[tuple[int, SeenRevision]]:
    """Read which proposals are meant, and what was seen of each."""
    given = body.get("items")
    if not isinstance(given, list) or not given:
        raise invalid("items lists id and tag of each proposal.", "/items")
    found = []
    for number, each in enumerate(given):
        seen = as_seen(each["tag"]) if answer_body.has(each, id=int, tag=str) else None
        if seen is None:
            raise invalid("An item has the id and the tag of a proposal.", f"/items/{number}")
        found.append((each["id"], seen))
    return found
