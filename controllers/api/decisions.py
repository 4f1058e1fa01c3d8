"""What the endpoints about proposals and holds share: who may, what was seen, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from rest_framework.request import Request

from controllers import deciding, holds, proposals, proposing, roles
from controllers.api import decision_documents as documents
from controllers.models import Proposal
from controllers.proposals import Seen
from resources.api.base import View
from resources.api.parameters import read_instant
from resources.api.problems import Refused, forbidden, invalid, not_found
from resources.reader import escape

LONGEST_KEY = 18
LONGEST_REVISION = 9
DIGEST_LENGTH = 64
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
        raise not_found(f"There is no {what}/{text[:80]}.")
    return int(text)


def seen_in(request: Request) -> Seen:
    """Read from `If-Match` which revision somebody saw, with the digest of its actions."""
    header = request.headers.get("If-Match")
    if header is None:
        detail = 'Send If-Match: "<revision>:<action digest>", its tag.'
        raise Refused(428, "precondition-required", detail)
    seen = as_seen(header.strip().removeprefix("W/"))
    if seen is None:
        raise invalid('If-Match names what was seen: "<revision>:<action digest>", its tag.')
    return seen


def as_seen(tag: str) -> Seen | None:
    """Turn a tag into what was seen; nothing when it is none."""
    revision, _, digest = tag.strip('"').partition(":")
    whole = revision.isascii() and revision.isdecimal() and len(revision) <= LONGEST_REVISION
    if not whole or len(digest) != DIGEST_LENGTH or not digest.isalnum():
        return None
    return Seen(int(revision), digest)


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
    """Answer what the use cases refuse."""
    try:
        yield
    except (proposals.Missing, holds.Missing) as error:
        raise not_found(str(error)) from None
    except roles.Denied as error:
        raise Refused(403, "forbidden", str(error), code=error.code) from None
    except (proposals.Refused, holds.Refused) as error:
        raise refused(error, now) from None


def refused(error: proposals.Refused | holds.Refused, now: datetime) -> Refused:
    """Say why something was not done, with how things stand now."""
    match error:
        case proposals.Expired(proposal=Proposal() as late):
            again = f" {AGAIN}" if documents.is_late(late, now) else ""
            return Refused(410, "expired", f"{error}{again}", **standing(late, now))
        case proposals.Changed(proposal=Proposal() as found, seen=seen):
            changes = deciding.since(found, seen.revision)
            return Refused(409, "changed", str(error), changes=changes, **standing(found, now))
        case proposals.Decided(proposal=Proposal() as found):
            return Refused(409, "decided", str(error), **standing(found, now))
        case proposing.Invalid(proposal=Proposal() as found):
            # What is filed is well said, but another proposal stands in its way.
            return Refused(409, "refused", str(error), current=documents.current(found))
        case deciding.Held() | holds.Ended():
            return Refused(409, "refused", str(error))
        case _:
            return invalid(str(error), "")


def standing(proposal: Proposal, now: datetime) -> dict[str, Any]:
    """Write how a proposal stands now, for somebody who saw it otherwise."""
    return {"current": documents.current(proposal), "allowed": documents.allowed(proposal, now)}
