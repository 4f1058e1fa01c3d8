"""`/actions`: work for agents and outside controllers to claim, go on with and report on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from controllers.api import work_documents as documents
from controllers.api import work_examples as examples
from controllers.api.decisions import body_of, key_of
from controllers.api.reading import count_in, key_in, number_in, object_in, short_in, word_in
from controllers.executing import pulling, work
from controllers.executing.progressing import ALL, LONGEST_NOTE, Progress
from controllers.executing.pulling import LISTED, Held
from controllers.executing.settling import Answer, Word
from resources.api import parameters
from resources.api.base import View
from resources.api.problems import Refused, forbidden, invalid, not_found
from resources.api.schema import header, operation, path, query
from resources.kind import Document
from resources.models import AgentToken, Resource

ID = path("id", "The action's number.")
KEY = header(
    "Idempotency-Key", "A name of your request: repeated, it does nothing new.", maxLength=200
)
REFUSAL = "Only the agent or outside controller that it is offered to does it."
LONGEST_DETAIL = 500
LARGEST_OUTPUTS = 16_384
# How a failure is meant: try again, never will, as told, or nobody knows.
FAILURES: Mapping[str, Word] = {
    "transient": "transient",
    "permanent": "failed",
    "stopped": "stopped",
    "unknown": "unknown",
}


class Working(View):
    """An endpoint for whoever does the work."""

    tag = "Work"
    write_scope = "actions:write"
    refusal = REFUSAL


class Actions(Working):
    """Work to be done, and done."""

    parameters = {"GET": ("state", "limit", "cursor")}

    @operation(
        "listActions",
        "List your work, the oldest first",
        parameters=[
            query("state", f"Only those that are {', '.join(LISTED)}."),
            query("limit", "How many to return.", type=int),
            query("cursor", "`nextCursor` of the page before, with the same filters."),
        ],
        answers={200: ("ActionList", examples.ACTIONS)},
        errors=(400,),
    )
    def get(self, request: Request) -> Response:
        """Return one page; people see everybody's."""
        most, cursor = parameters.limit(request), parameters.Cursor(request, "actions")
        worker = request.auth.agent if isinstance(request.auth, AgentToken) else None
        rows = pulling.listed(worker, state_of(request), timezone.now())
        if after := cursor.after():
            rows = rows.filter(pk__gt=int(after))
        kept = list(rows[: most + 1])
        page: Document = {"items": [documents.action(each) for each in kept[:most]]}
        if len(kept) > most:
            page["nextCursor"] = cursor.following(str(kept[most - 1].pk))
        return Response(page)


class Claim(Working):
    """The right to do one action."""

    @operation(
        "claimAction",
        "Claim an action; of many who try one succeeds",
        parameters=[ID, KEY],
        answers={200: ("Claim", examples.CLAIM)},
        errors=(409, 413, 415, 423),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Give it a deadline, a fence and the present epoch."""
        body_of(request, ())
        key, name, now = key_of(id, "action"), key_in(request), timezone.now()
        with as_problems():
            claim = work.claim(key, worker_of(request), now, name)
        return Response(documents.claim(key, claim))


class Heartbeat(Working):
    """A claim that goes on."""

    @operation(
        "keepAction",
        "Go on with a claim, unless a person said no",
        parameters=[ID],
        request=("Beat", examples.BEAT),
        answers={200: ("Claim", examples.CLAIM)},
        errors=(400, 403, 404, 409, 423),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Prolong it."""
        body = body_of(request, ("fence", "epoch"))
        held, epoch = held_in(request, id, body), number_in(body, "epoch")
        with as_problems():
            claim = pulling.heartbeat(held, epoch, timezone.now())
        return Response(documents.claim(held.step, claim))


class ProgressOf(Working):
    """How far a claimed action is."""

    @operation(
        "tellProgress",
        "Say how far an action is; it goes on as with a heartbeat",
        parameters=[ID],
        request=("Progress", examples.PROGRESS),
        answers={200: ("Claim", examples.CLAIM)},
        errors=(400, 403, 404, 409, 423),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Note it; people read it as what the worker claims."""
        body = body_of(request, ("fence", "epoch", "percent", "note"))
        held, epoch = held_in(request, id, body), number_in(body, "epoch")
        percent, note = count_in(body, "percent", ALL), short_in(body, "note", LONGEST_NOTE)
        if percent is None and not note.strip():
            raise invalid("Say percent, note, or both.", "/percent")
        with as_problems():
            claim = pulling.heartbeat(held, epoch, timezone.now(), Progress(percent, note))
        return Response(documents.claim(held.step, claim))


class Result(Working):
    """What became of a claimed action."""

    @operation(
        "reportAction",
        "Say what became of an action; what comes too late is only noted",
        parameters=[ID, KEY],
        request=("Reported", examples.REPORTED),
        answers={200: ("Action", examples.DONE)},
        errors=(400, 403, 404, 409),
    )
    def post(self, request: Request, id: str) -> Response:  # noqa: A002
        """Settle it."""
        body = body_of(request, ("fence", "outcome", "class", "detail", "outputs"))
        held, key, answer = held_in(request, id, body), key_in(request), answer_in(body)
        with as_problems():
            step = pulling.report(held, answer, key, timezone.now())
        return Response(documents.action(step))


def state_of(request: Request) -> pulling.Listed | None:
    """Read which work is meant."""
    word = request.query_params.get("state")
    for each in LISTED:
        if word == each:
            return each
    if word is not None:
        raise invalid("There is no such state of work.", allowed=[*LISTED])
    return None


def worker_of(request: Request) -> Resource:
    """Return who works: the bearer of a token."""
    if not isinstance(request.auth, AgentToken):
        raise forbidden(REFUSAL)
    return request.auth.agent


def held_in(request: Request, text: str, body: dict[str, Any]) -> Held:
    """Read which claim is meant."""
    return Held(key_of(text, "action"), worker_of(request), number_in(body, "fence"))


def answer_in(body: dict[str, Any]) -> Answer:
    """Read what became of an action."""
    detail, outputs = short_in(body, "detail", LONGEST_DETAIL), object_in(body, "outputs")
    if len(orjson.dumps(outputs)) > LARGEST_OUTPUTS:
        raise invalid(f"outputs has up to {LARGEST_OUTPUTS:,} bytes.", "/outputs")
    if word_in(body, "outcome", ("success", "failure")) == "failure":
        kind = FAILURES[word_in(body, "class", tuple(FAILURES))]
        return Answer(kind, detail, outputs)
    if "class" in body:
        raise invalid("Only a failure has a class.", "/class")
    return Answer("done", detail, outputs)


@contextmanager
def as_problems() -> Iterator[None]:
    """Answer what the use cases refuse; a person's no comes with the present epoch."""
    try:
        yield
    except work.Missing as error:
        raise not_found(str(error)) from None
    except work.Stale as error:
        raise Refused(409, "stale-epoch", str(error), epoch=str(error.epoch)) from None
    except work.Stop as error:
        raise Refused(423, "stopped", str(error), epoch=str(error.epoch)) from None
    except work.Taken as error:
        raise Refused(409, "taken", str(error)) from None
    except work.Refused as error:
        raise Refused(409, "refused", str(error)) from None
