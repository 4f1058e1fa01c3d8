"""What the endpoints about controllers share: who may run them, and what is said when not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from rest_framework.request import Request

from controllers import operating
from resources import kinds
from resources.access import visible
from resources.api.authentication import principal_of, scope_of
from resources.api.base import View, find, kind_named
from resources.api.problems import Refused, forbidden, invalid, not_found
from resources.api.schema import path
from resources.models import AgentToken, Resource
from resources.scoping import ORGANISATION

CONTROLLER = path("name", "The controller's name.")
LONGEST_REASON = 500


class Operating(View):
    """An endpoint that makes a controller do something; people with the right to operate may."""

    tag = "Controllers"
    refusal = "Only people run controllers."

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let only those in who may change what is declared, for a cycle may change as much."""
        super().initial(request, *args, **kwargs)
        # Controllers are the organisation's: whoever runs one acts everywhere.
        if not scope_of(request).edits("change", ORGANISATION):
            raise forbidden("You may not run controllers: ask an administrator.")


@contextmanager
def as_problems() -> Iterator[None]:
    """Answer what the use cases refuse."""
    try:
        yield
    except operating.Missing as error:
        raise not_found(str(error)) from None
    except operating.Refused as error:
        raise Refused(409, "refused", str(error)) from None
    except ObjectDoesNotExist:
        raise Refused(409, "busy", "The controller was declared anew meanwhile.") from None


def find_controller(request: Request, name: str) -> Resource:
    """Return a controller that the principal may read, or answer 404."""
    return find(request, kind_named("controller"), name)


def read_reason(request: Request) -> str:
    """Read the reason out of a body that may be missing."""
    body = request.data if request.stream is not None else {}
    if not isinstance(body, dict):
        raise invalid("Send an object with a reason.", "")
    if unknown := sorted(set(body) - {"reason"}):
        raise invalid(f"There is no field {unknown[0][:80]!r} here.", allowed=["reason"])
    reason = body.get("reason", "")
    if not isinstance(reason, str) or len(reason) > LONGEST_REASON:
        raise invalid(f"reason is a text of up to {LONGEST_REASON} characters.", "/reason")
    return reason.strip()


def seen_by(request: Request, refs: set[str]) -> set[str]:
    """Keep the references, such as `domain/growth`, to what the principal may read."""
    principal = principal_of(request)
    if not isinstance(principal, AgentToken) and scope_of(request).is_whole:
        return refs
    # Without its kind a name is found by going through all there are.
    told = {kind.name for ref in refs if (kind := kinds.by_path(ref.partition("/")[0]))}
    names = {ref.partition("/")[2] for ref in refs}
    named = Resource.objects.filter(kind__in=told, name__in=names, deleted_at=None)
    rows = visible(named, principal)
    return refs & {f"{kind.lower()}/{name}" for kind, name in rows.values_list("kind", "name")}
