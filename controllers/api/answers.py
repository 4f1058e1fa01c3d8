"""`/proposals/{id}/{answer}`: what people say about a proposal; no token may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args

from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers import checks, deciding, grouping, proposing
from controllers.api import decision_documents as documents
from controllers.api import decision_examples as examples
from controllers.api.decisions import (
    Human,
    as_problems,
    as_seen,
    body_of,
    flag_in,
    needed_time,
    person_of,
    seen_in,
    text_in,
    time_in,
)
from controllers.api.proposals import ID, found, whole
from controllers.api.spelling import spelled
from controllers.entrance import stepping
from controllers.models import Proposal
from controllers.proposals import Seen
from resources.api.problems import Refused, invalid, not_found
from resources.api.schema import header, operation, path

Given = dict[str, Any]
Body = dict[str, Any]
OUTCOMES = get_args(deciding.Outcome)
MOST_FIELDS = 20
IF_MATCH = header("If-Match", 'What you saw: `"<revision>:<action digest>"`, its tag.')


def nothing(body: Body) -> Given:
    """Read no more than the reason."""
    return {}


def until(body: Body) -> Given:
    """Read a time that must be given."""
    return {"until": needed_time(body, "until")}


def edits(body: Body) -> Given:
    """Read the parameters to change, by the number of their action."""
    given = body.get("actions")
    if not isinstance(given, list) or not given:
        raise invalid("actions lists sequence and parameters of what to change.", "/actions")
    found: dict[int, Mapping[str, Any]] = {}
    for number, each in enumerate(given):
        if not has(each, sequence=int, parameters=dict):
            raise invalid("An action has sequence and parameters.", f"/actions/{number}")
        found[each["sequence"]] = each["parameters"]
    return {"edits": found}


def has(given: Any, **fields: type) -> bool:
    """Tell whether a value has exactly these fields of these types."""
    return (
        isinstance(given, dict)
        and given.keys() == fields.keys()
        and all(type(given[name]) is of for name, of in fields.items())
    )


def instead(body: Body) -> Given:
    """Read what an override puts in the place of the plan."""
    path = text_in(body, "path")
    return {"instead": deciding.Instead(path, body.get("value"), time_in(body, "until"))}


def rest(body: Body) -> Given:
    """Read how long a proposal is put off."""
    return {"rest": deciding.Rest(time_in(body, "until"), flag_in(body, "worse"))}


def outcome(body: Body) -> Given:
    """Read what became of something nobody knew."""
    word = text_in(body, "outcome")
    if word not in OUTCOMES:
        raise invalid(f"It is one of {', '.join(OUTCOMES)}.", "/outcome", allowed=[*OUTCOMES])
    return {"outcome": word}


def fields(body: Body) -> Given:
    """Read which fields should be different."""
    given = body.get("fields", [])
    good = isinstance(given, list) and all(isinstance(each, str) for each in given)
    if not good or len(given) > MOST_FIELDS:
        raise invalid(f"fields lists up to {MOST_FIELDS} places in the plan.", "/fields")
    return {"fields": given}


class Saying(NamedTuple):
    """An answer: its use case, the fields of its body besides the reason, and their reader."""

    say: Callable[..., Proposal]
    fields: tuple[str, ...] = ()
    read: Callable[[Body], Given] = nothing


ANSWERS: Mapping[str, Saying] = {
    "approve": Saying(deciding.approve),
    "reject": Saying(deciding.reject),
    "change": Saying(deciding.change, ("actions",), edits),
    "override": Saying(deciding.override, ("path", "value", "until"), instead),
    "adopt": Saying(deciding.adopt),
    "accept": Saying(deciding.accept, ("until",), until),
    "snooze": Saying(deciding.snooze, ("until", "worse"), rest),
    "request-changes": Saying(deciding.request_changes, ("fields",), fields),
    "withdraw": Saying(deciding.withdraw),
    "undo": Saying(deciding.undo),
    "break-glass": Saying(deciding.break_glass),
    "extend": Saying(deciding.extend, ("until",), until),
    "resolve": Saying(deciding.resolve, ("outcome",), outcome),
}
# What may be said about many at once.
TOGETHER = [spelled(each) for each in grouping.ANSWERS]
# What is said of a proposal that is over, or needs nothing to be seen.
OTHERS: Mapping[str, Callable[..., Proposal]] = {
    "review": deciding.review,
    "repropose": proposing.repropose,
}
ANSWER = path("answer", "What you say.", [*ANSWERS, *OTHERS])


class Answer(Human):
    """One person's answer to one proposal."""

    @operation(
        "answerProposal",
        "Answer a proposal; only a person in a session may",
        parameters=[ID, ANSWER, IF_MATCH],
        request=("Answer", examples.ANSWER),
        answers={200: ("Proposal", examples.PROPOSAL)},
        errors=(400, 403, 404, 409, 410, 428),
    )
    def post(self, request: Request, id: str, answer: str) -> Response:  # noqa: A002
        """Say it."""
        if answer not in ANSWERS and answer not in OTHERS:
            raise not_found(f"There is no answer {answer[:80]!r}.", allowed=[*ANSWERS, *OTHERS])
        row, now, person = found(request, id), timezone.now(), person_of(request)
        say, given = said_in(request, answer)
        if stepping.is_needed(request._request, person, row, answer, now):
            there = reverse("account_reauthenticate")
            raise Refused(403, "confirm", stepping.SENTENCE, at=there)
        with as_problems(now):
            proposal = say(row.pk, person=person, now=now, **given)
        response = whole(request, proposal, now)
        if check := checks.told(proposal, person):
            response.data["check"] = check
        return response


class DecideMany(Human):
    """One answer to many proposals."""

    @operation(
        "decideMany",
        "Give one answer to up to 200 proposals; each is decided by itself",
        request=("Many", examples.MANY),
        answers={200: ("ManyResults", examples.RESULTS)},
        errors=(400, 403),
    )
    def post(self, request: Request) -> Response:
        """Decide each, and say what became of each."""
        body = body_of(request, ("answer", "items", "reason", "until", "worse"))
        answer, now = text_in(body, "answer"), timezone.now()
        if answer not in TOGETHER:
            detail = "That cannot be said about many at once."
            raise invalid(detail, "/answer", allowed=TOGETHER)
        given = {"reason": text_in(body, "reason"), **ANSWERS[answer].read(body)}
        items, word = items_in(body), answer.replace("-", "_")
        with as_problems(now):
            results = grouping.decide_all(items, word, person=person_of(request), now=now, **given)
        return Response(documents.results(results))


def said_in(request: Request, answer: str) -> tuple[Callable[..., Proposal], Given]:
    """Return the use case of an answer, with what it is given."""
    if answer in OTHERS:
        body = body_of(request, ("reason",))
        return OTHERS[answer], {"reason": text_in(body, "reason")}
    saying, seen = ANSWERS[answer], seen_in(request)
    body = body_of(request, ("reason", *saying.fields))
    return saying.say, {"seen": seen, "reason": text_in(body, "reason"), **saying.read(body)}


def items_in(body: Body) -> list[tuple[int, Seen]]:
    """Read which proposals are meant, and what was seen of each."""
    given = body.get("items")
    if not isinstance(given, list) or not given:
        raise invalid("items lists id and tag of each proposal.", "/items")
    found = []
    for number, each in enumerate(given):
        seen = as_seen(each["tag"]) if has(each, id=int, tag=str) else None
        if seen is None:
            raise invalid("An item has the id and the tag of a proposal.", f"/items/{number}")
        found.append((each["id"], seen))
    return found
