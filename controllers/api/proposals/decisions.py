"""What the endpoints about proposals and holds share: who may, what was seen, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from rest_framework.request import Request

from controllers.api.proposals.serializers import ProposalSummarySerializer
from controllers.decisions import answers
from controllers.decisions.creation.reproposal import is_late
from controllers.decisions.proposals import SeenRevision, as_seen
from controllers.models import Proposal
from resources.api.base import View
from resources.api.parameters import read_instant
from resources.documents.problems import (
    CHANGED,
    DECIDED,
    EXPIRED,
    INVALID,
    PRECONDITION_REQUIRED,
    Problem,
    forbidden,
    invalid,
    missing,
)
from resources.documents.reader import escape

LONGEST_KEY = 18
# What the use cases name, and is shown as it stands.
INWARD = ("proposal", "revision")
AGAIN = "POST …/repropose has it looked at again now."


class Human(View):
    """An endpoint whose writes are for people in a session, but where it names a scope."""

    tag = "Decisions"
    refusal = "Only people decide, lift and resume: a token never does."
    always_heard = True


def person_of(request: Request) -> User:
    """Return the person who is signed in; anything else is refused."""
    if not isinstance(request.user, User):
        raise forbidden(Human.refusal)
    return request.user


def key_of(text: str, what: str) -> int:
    """Read the number in a path, or answer 404."""
    if not (text.isascii() and text.isdecimal() and len(text) <= LONGEST_KEY):
        raise missing(f"There is no {what}/{text[:80]}.")
    return int(text)


def seen_in(request: Request) -> SeenRevision:
    """Read from `If-Match` which revision somebody saw, with the digest of its actions."""
    header = request.headers.get("If-Match")
    if header is None:
        detail = 'Send If-Match: "<revision>:<action digest>", its tag.'
        raise Problem(PRECONDITION_REQUIRED, detail)
    seen = as_seen(header.strip().removeprefix("W/"))
    if seen is None:
        raise invalid('If-Match names what was seen: "<revision>:<action digest>", its tag.')
    return seen


def body_of(request: Request, known: tuple[str, ...]) -> dict[str, Any]:
    """Read an object whose fields are known; a body may be missing."""
    body = request.data if request.stream is not None else {}
    if not isinstance(body, dict):
        raise invalid("Send an object.", "")
    if unknown := sorted(set(body) - set(known)):
        detail = f"There is no field {unknown[0][:80]!r} here."
        raise invalid(detail, f"/{escape(unknown[0][:80])}", allowed=list(known))
    return body


def text_in(body: dict[str, Any], name: str) -> str:
    """Read a text from a body; absent is empty."""
    value = body.get(name, "")
    if not isinstance(value, str):
        raise invalid(f"{name} is a text.", f"/{name}")
    return value


def flag_in(body: dict[str, Any], name: str) -> bool:
    """Read a switch from a body; absent is off."""
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise invalid(f"{name} is true or false.", f"/{name}")
    return value


def time_in(body: dict[str, Any], name: str) -> datetime | None:
    """Read a time from a body."""
    value = body.get(name)
    if value is None:
        return None
    found = read_instant(value) if isinstance(value, str) else None
    if found is None:
        raise invalid(f"{name} is a time with a zone, such as 2026-02-25T10:00:00Z.", f"/{name}")
    return found


def needed_time(body: dict[str, Any], name: str) -> datetime:
    """Read a time that must be given."""
    at = time_in(body, name)
    if at is None:
        raise invalid("Say until when.", f"/{name}")
    return at


@contextmanager
def as_problems(now: datetime) -> Iterator[None]:
    """Tell whoever is refused how the proposal stands now, and that a body is meant as a whole."""
    try:
        yield
    except Problem as problem:
        if problem.code == INVALID and problem.pointer is None:
            problem.pointer = ""
        raise with_standing(problem, now) from None


def with_standing(problem: Problem, now: datetime) -> Problem:
    """Return a problem that shows the proposal it is about, for somebody who saw it otherwise."""
    rows = Proposal.objects.select_related("controller", "resource")
    found = rows.filter(pk=problem.facts.get("proposal", 0)).first()
    if found is None:
        return problem
    facts = {name: fact for name, fact in problem.facts.items() if name not in INWARD}
    facts["current"] = ProposalSummarySerializer.current(found)
    message = problem.message
    if problem.code in (EXPIRED, CHANGED, DECIDED):
        facts["allowed"] = answers.allowed(found, now)
    if problem.code == EXPIRED and is_late(found, now):
        message = f"{message} {AGAIN}"
    if problem.code == CHANGED:
        facts["changes"] = answers.since(found, problem.facts["revision"])
    return Problem(problem.code, message, problem.pointer, **facts)
