"""Versions in headers: `ETag`, `If-Match` and `If-None-Match`."""

from __future__ import annotations

from typing import Literal

from django.utils.http import parse_etags
from rest_framework.request import Request

from resources.documents.problems import PRECONDITION_REQUIRED, Problem, conflict, invalid
from resources.tables.models import Resource

ANY: Literal["*"] = "*"
MOST_DIGITS = 18


def etag(version: int | str) -> str:
    """Write a version as an entity tag."""
    return f'"{version}"'


def unchanged(request: Request, version: int | str) -> bool:
    """Tell whether the caller already has this version."""
    known = parse_etags(request.headers.get("If-None-Match", ""))
    return ANY in known or etag(version) in [tag.removeprefix("W/") for tag in known]


def if_match(request: Request) -> int | Literal["*"] | None:
    """Return the version a write was made from, `*` for any, or nothing."""
    header = request.headers.get("If-Match")
    if header is None:
        return None
    tags = parse_etags(header)
    # A proxy that compresses weakens the tag on its way; it still names one version.
    text = tags[0].removeprefix("W/").strip('"') if len(tags) == 1 else ""
    if text == ANY:
        return ANY
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise invalid('If-Match names one version, such as "42", or *.')
    return int(text)


def expected(request: Request) -> int | None:
    """Return the version a write demands; nothing when any will do."""
    version = if_match(request)
    return None if version == ANY else version


def to_replace(request: Request, current: Resource | None) -> int:
    """Return the version a PUT replaces, 0 when it creates; refuse to overwrite the unseen."""
    version = if_match(request)
    if only_create(request):
        if current is not None:
            raise conflict("This resource exists already.", current.resource_version)
        return 0
    if version == ANY:
        if current is None:
            raise conflict("This resource does not exist.", None)
        return current.resource_version
    if version is None and current is not None:
        seen = etag(current.resource_version)
        detail = f"This resource exists: read it, then send If-Match: {seen} with your change."
        version_now = str(current.resource_version)
        raise Problem(PRECONDITION_REQUIRED, detail, currentVersion=version_now)
    return version or 0


def only_create(request: Request) -> bool:
    """Tell whether a PUT must not replace anything."""
    header = request.headers.get("If-None-Match")
    if header is not None and header.strip() != ANY:
        raise invalid("On a write, If-None-Match can only be *.")
    return header is not None
