"""What the endpoints about controllers share: who may run them, and what is said when not."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from resources.api.authentication import principal_of, scope_of
from resources.api.base import View, find, kind_named
from resources.api.schema import path
from resources.documents import kinds
from resources.documents.problems import forbidden
from resources.tables.models import AgentToken, Resource
from resources.tables.visibility import ORGANISATION
from resources.usecases.access import visible

CONTROLLER = path("name", "The controller's name.")


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


def find_controller(request: Request, name: str) -> Resource:
    """Return a controller that the principal may read, or answer 404."""
    return find(request, kind_named("controller"), name)


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
