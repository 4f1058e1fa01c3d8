"""One resource as it was: any time that is still kept, and the steps between its changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from controllers.web.base.page import Page, PageRequest
from controllers.web.resources import resource_facts, spec_and_status
from controllers.web.resources.spec_and_status import Sides
from resources.documents.kind import Document, Kind
from resources.documents.problems import Problem, invalid, missing
from resources.documents.yaml_text import write_yaml
from resources.store import history
from resources.tables.ledger import instant
from resources.tables.models import Resource
from resources.usecases import access
from resources.web import detail

NO_TIME = "This is no time with a zone. Write it like 2026-02-25T10:00:00Z."


@dataclass(frozen=True)
class Travel:
    """The way through a resource's past; without a time it begins now."""

    row: Resource
    at: datetime | None
    now: datetime

    @cached_property
    def first(self) -> int:
        """When what is kept of its past begins, in seconds."""
        kept = self.row.revisions.order_by("resource_version").values_list("at", flat=True)
        return int((kept.first() or self.now).timestamp())

    @property
    def last(self) -> int:
        """When it ends."""
        return int((self.row.deleted_at or self.now).timestamp())

    @property
    def place(self) -> int:
        """Where somebody stands in it."""
        return int((self.at or self.now).timestamp())

    @property
    def shown(self) -> str:
        """The same as the field for a time takes it, in UTC."""
        return f"{(self.at or self.now).astimezone(UTC):%Y-%m-%dT%H:%M:%S}"

    @cached_property
    def earlier(self) -> str:
        """When the change before this one was, if it is kept."""
        changes = self.row.revisions.order_by("-resource_version")
        if self.at:
            changes = changes.filter(at__lte=self.at)
        latest = changes.values_list("at", flat=True).first()
        if latest is None:
            return ""
        before = changes.filter(at__lt=latest).values_list("at", flat=True).first()
        return instant(before) if before else ""

    @cached_property
    def later(self) -> str:
        """When the next change was, if there is one."""
        if self.at is None:
            return ""
        changes = self.row.revisions.filter(at__gt=self.at).order_by("resource_version")
        after = changes.values_list("at", flat=True).first()
        return instant(after) if after else ""


class PastPage(Page):
    """One resource as it was; nothing of it changes any more."""

    template = "resources/past.html"
    section = "resources"

    def __init__(self, look: PageRequest, kind: Kind, name: str) -> None:
        super().__init__(look)
        self.kind, self.name = kind, name
        self.problem = ""

    def respond(self, status: int = 200) -> HttpResponse:
        """Show it, or say why that cannot be."""
        try:
            self.document  # noqa: B018 - reading it finds out whether it is kept
        except Problem as problem:
            self.problem = problem.message
            return render(
                self.look.request, "resources/no_past.html", self.context(), status=problem.status
            )
        return super().respond(status)

    @cached_property
    def at(self) -> datetime:
        """The time asked for."""
        query = self.look.query
        said = query.get("at")
        if said is None:
            # The field of the form has no zone; it says that it is in UTC.
            said = f"{query.get('utc', '').strip()}Z"
        found = detail.instant_from(said)
        if found is None:
            raise invalid(NO_TIME)
        return found

    @cached_property
    def row(self) -> Resource | None:
        """What bore the name then."""
        return history.living(self.kind.name, self.at).filter(name=self.name).first()

    @cached_property
    def document(self) -> Document:
        """The whole document as it was."""
        found = history.document_at(self.kind.name, self.name, self.at)
        if found is None or not access.sees(self.viewer, found):
            then = f"{self.at:%-d %B %Y at %H:%M:%S} UTC"
            raise missing(f"Nothing is known of {self.kind.title} {self.name} on {then}.")
        return found

    @cached_property
    def told(self) -> dict[str, Any]:
        """What is shown of the document."""
        return detail.described(self.kind, self.document)

    @cached_property
    def facts(self) -> list[resource_facts.Fact]:
        """What to know at a glance."""
        return resource_facts.of(self.kind.name, self.told["spec"], self.told["status"])

    @cached_property
    def sides(self) -> Sides:
        """What should have been and what was."""
        return spec_and_status.everything(self.told["spec"], self.told["status"], (), ())

    @property
    def text(self) -> str:
        """The whole document as text."""
        return write_yaml(self.document)

    @property
    def travel(self) -> Travel | None:
        """Where the rest of its past is."""
        return Travel(self.row, self.at, self.now) if self.row else None
