"""`/resources/{kind}/{name}`: one document, read and written whole or by merge patch."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from resources.api import parameters, preconditions
from resources.api.authentication import (
    actor_of,
    principal_of,
    require_permission,
    scope_of,
)
from resources.api.base import View, find, kind_named, read_body, whole
from resources.api.preconditions import ANY, etag
from resources.api.schema import IF_MATCH, IF_NONE_MATCH, KIND, NAME, header, operation, query
from resources.api.serializers import DECLARED, PatchSerializer, ResourceSerializer
from resources.documents.differences import merge, same
from resources.documents.files import identity
from resources.documents.kind import Document, Fault, Kind
from resources.documents.problems import conflict, forbidden, missing, wrong
from resources.store import history, snapshots
from resources.store.store import Stale
from resources.tables.models import Resource
from resources.usecases import deletion, specs
from resources.usecases.access import sees, visible
from resources.usecases.access_rules import ADMINISTER, OPERATE, api, at
from resources.usecases.specs import Applied, DesiredDocument

ATTEMPTS = 20
STATUS_ELSEWHERE = "Write this at …/status: observations are not declarations."


class ResourceDocument(View):
    """One resource."""

    rights = api(
        PUT=at("there", *OPERATE), PATCH=at("there", *OPERATE), DELETE=at("there", *ADMINISTER)
    )
    tag = "Resources"
    parameters = {"GET": ("at",)}

    @operation(
        "readResource",
        "Read a resource, as it is or as it was",
        parameters=[
            KIND,
            NAME,
            query("at", "Show the resource as it was at this time (RFC 3339)."),
            header("If-None-Match", "The version you have; 304 when it is still the one."),
        ],
        answers={200: ResourceSerializer, 304: None},
        errors=(400, 404, 410),
    )
    def get(self, request: Request, kind: str, name: str) -> Response:
        """Return the document."""
        found = kind_named(kind)
        at = parameters.at(request)
        if at is not None:
            document = history.document_at(found.name, name, at)
            if document is None or not sees(principal_of(request), document):
                raise missing(f"There was no {found.path}/{name[:253]} then.")
            return tagged(request, document)
        row = find(request, found, name)
        if preconditions.unchanged(request, row.resource_version):
            return Response(status=304, headers={"ETag": etag(row.resource_version)})
        return whole(row)

    @operation(
        "putResource",
        "Create a resource, or replace the version you have seen",
        parameters=[KIND, NAME, IF_MATCH, IF_NONE_MATCH],
        request=(ResourceSerializer, DECLARED),
        answers={200: ResourceSerializer, 201: ResourceSerializer},
        errors=(400, 403, 404, 409, 413, 415, 428),
    )
    def put(self, request: Request, kind: str, name: str) -> Response:
        """Create or replace."""
        found = kind_named(kind)
        document = addressed(read_body(request), found, name)
        for attempt in range(ATTEMPTS):
            step_aside(attempt)
            current = live(found, name)
            require_permission(request, "change" if current else "add")
            require_sight(request, current)
            expected = preconditions.to_replace(request, current)
            result = apply_one(request, DesiredDocument(document, expected))
            if result.action == "conflict" and preconditions.if_match(request) == ANY:
                continue
            return answered(result, request.path)
        raise Stale("This resource changes faster than it can be written. Try again.")

    @operation(
        "patchResource",
        "Change parts of a resource's spec or metadata",
        parameters=[KIND, NAME, IF_MATCH],
        request={"application/merge-patch+json": PatchSerializer},
        answers={200: ResourceSerializer},
        errors=(400, 403, 404, 409, 413, 415),
    )
    def patch(self, request: Request, kind: str, name: str) -> Response:
        """Merge into the version named, or into the latest."""
        require_permission(request, "change")
        found = kind_named(kind)
        patch = read_body(request)
        demanded = preconditions.expected(request)
        for attempt in range(ATTEMPTS):
            step_aside(attempt)
            row = find(request, found, name)
            require_permission(request, "change", row.domain)
            version = row.resource_version
            if demanded not in (None, version):
                raise conflict(f"This resource is now at version {version}.", version)
            result = apply_one(request, DesiredDocument(patched(row, patch), version))
            if result.action != "conflict" or demanded is not None:
                return answered(result, request.path)
        raise Stale("This resource changes faster than it can be patched. Try again.")

    @operation(
        "deleteResource",
        "Delete a resource and what it owns with cascade",
        parameters=[KIND, NAME, IF_MATCH],
        answers={204: None},
        errors=(403, 404, 409),
    )
    def delete(self, request: Request, kind: str, name: str) -> Response:
        """Delete."""
        require_permission(request, "delete")
        found = kind_named(kind)
        row = find(request, found, name)
        require_permission(request, "delete", row.domain)
        deletion.delete(
            found.name,
            name,
            actor=actor_of(request),
            now=timezone.now(),
            expected=preconditions.expected(request),
            scope=scope_of(request),
        )
        return Response(status=204)


def step_aside(attempt: int) -> None:
    """Wait a little, longer each time and never in step with the others who write here."""
    if attempt:
        time.sleep(secrets.randbelow(10 * attempt) / 1000)


def live(kind: Kind, name: str) -> Resource | None:
    """Return the resource of that name, if there is one."""
    return Resource.objects.filter(kind=kind.name, name=name, deleted_at=None).first()


def require_sight(request: Request, row: Resource | None) -> None:
    """Refuse a name that somebody else has, without a word about what it is."""
    if row is not None and not visible(Resource.objects.filter(pk=row.pk), principal_of(request)):
        raise forbidden("You may not declare anything under this name.")


def tagged(request: Request, document: Document) -> Response:
    """Answer with a document of the past, or say that the caller has it."""
    version = document["metadata"]["resourceVersion"]
    seen = preconditions.unchanged(request, version)
    tag = {"ETag": etag(version)}
    return Response(status=304, headers=tag) if seen else Response(document, headers=tag)


def addressed(document: Any, kind: Kind, name: str) -> Document:
    """Refuse a document that is not the one its address names."""
    if not isinstance(document, dict):
        raise wrong([Fault("", "Send one document: an object with apiVersion, kind and so on.")])
    given = identity(document)
    pairs = zip(("/kind", "/metadata/name"), (kind.name, name), given, strict=True)
    faults = [
        Fault(pointer, f"must be {wanted[:253]}, as in the address")
        for pointer, wanted, told in pairs
        if told != wanted
    ]
    if faults:
        raise wrong(faults)
    return document


def apply_one(request: Request, wish: DesiredDocument) -> Applied:
    """Apply one document."""
    own = replace(wish, scope=scope_of(request))
    return specs.apply([own], actor=actor_of(request), now=timezone.now()).results[0]


def answered(result: Applied, path: str) -> Response:
    """Turn what became of a wish into an answer."""
    if any(each.rule == specs.NOT_YOURS for each in result.problems):
        raise forbidden(result.problems[0].message)
    if result.action == "refused":
        raise wrong(result.problems)
    row = result.resource
    if result.action == "conflict" or row is None:
        version = row.resource_version if row is not None else None
        raise conflict(result.problems[0].message, version)
    created = result.action == "created"
    return whole(row, 201 if created else 200, {"Location": path} if created else {})


def patched(row: Resource, patch: Any) -> Document:
    """Return what a resource would declare after a patch, or say what cannot be patched."""
    if not isinstance(patch, dict):
        raise wrong([Fault("", "A merge patch is an object.")])
    before = snapshots.document_of(row, [])
    after: Document = merge(before, patch)
    if "status" in patch:
        raise wrong([Fault("/status", STATUS_ELSEWHERE)])
    refuse_moved(before, after)
    return {key: value for key, value in after.items() if key != "status"}


def refuse_moved(before: Document, after: Document) -> None:
    """Refuse a patch of what only the server or nobody changes."""
    fixed = ("name", *snapshots.SYSTEM_METADATA)
    faults = [key for key in ("apiVersion", "kind") if before[key] != after.get(key)]
    metadata = after.get("metadata")
    if isinstance(metadata, dict):
        held = before["metadata"]
        moved = [key for key in fixed if not same(held.get(key), metadata.get(key))]
        if moved == ["resourceVersion"] and not faults:
            version = int(held["resourceVersion"])
            raise conflict(f"This resource is now at version {version}.", version)
        faults += [f"metadata/{key}" for key in moved]
    if faults:
        raise wrong([Fault(f"/{key}", "A patch cannot change this.") for key in faults])
