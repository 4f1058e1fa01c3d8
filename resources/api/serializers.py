"""Resources, their status and history, the feed and the ledger as the API takes and shows them.

Documents are stored whole and passed on as they are; a test holds them against these shapes.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, get_args

from resources.api import fields
from resources.api.fields import AT, bad_value
from resources.api.problems import document
from resources.api.serializer_base import ApiSerializer, ItemSerializer, PageSerializer
from resources.documents import kinds
from resources.documents.kind import Document
from resources.documents.problems import Problem
from resources.tables.models import ResourceRevision
from resources.usecases import specs, statuses
from resources.usecases.specs import Applied, Outcome
from resources.usecases.statuses import Observed

VERSION = "A resource version: where this stands in the order of all changes."
KINDS = [kind.name for kind in kinds.ALL]
LONGEST_NAME = 253


class FaultSerializer(ApiSerializer):
    """One thing that is wrong."""

    pointer = fields.Text("Where, as a JSON pointer.", example="/spec/purpose")
    detail = fields.Text("What would be right.", source="message", example="is required")


class ProblemSerializer(ApiSerializer):
    """An error (RFC 9457)."""

    type = fields.Text("A stable name, such as `/problems/conflict`.")
    title = fields.Text("The kind of problem, in words.")
    status = fields.Number("The same as the answer's.", schema={"type": "integer"})
    detail = fields.Text("What is wrong here.")
    pointer = fields.Text("Where in the body, as a JSON pointer.", required=False)
    errors_ = FaultSerializer(many=True, required=False, example=None)
    allowed = fields.ListOf(fields.Text(), "What would be taken.", required=False)
    current_version = fields.Text(VERSION, required=False)
    dependents = fields.ListOf(fields.Text(), "What stands in the way.", required=False)
    code = fields.Text("The rule by which somebody may not.", required=False)
    changes = fields.ListOf(fields.Object(), "What changed since you looked.", required=False)
    epoch = fields.Text("The present epoch: look at the holds, then go on.", required=False)


class StatusSerializer(ApiSerializer):
    """What is observed; `conditions` is a list."""

    has_more_fields = True
    versioned = True
    not_an_object = "must be an object"

    @classmethod
    def example(cls, **changes: Any) -> Any:
        """Return an example."""
        return {"health": "healthy", "conditions": [ConditionSerializer.example()]} | changes


class ConditionSerializer(ApiSerializer):
    """One thing that is said about a resource."""

    type = fields.Text(example="KPICompliant")
    status = fields.Word(["True", "False", "Unknown"], example="True")
    reason = fields.Text(required=False, example="OnTarget")
    message = fields.Text(required=False)
    last_transition_time = fields.Time(required=False, example=AT)
    managed_by = fields.Text("Who alone may write it.", required=False)


# A status as it is sent.
REPORTED = {"conditions": [ConditionSerializer.example(lastTransitionTime=None)]}


class ConditionListSerializer(ApiSerializer):
    """The conditions of one resource."""

    versioned = True

    items = ConditionSerializer(many=True)
    resource_version = fields.Text(VERSION, example="42")


class MetadataSerializer(ApiSerializer):
    """What the document says about itself; the server adds the last five."""

    name = fields.Text(example="growth")
    owner = fields.Object(required=False)
    labels = fields.MapOf(fields.Text(), required=False, example={"tier": "production"})
    annotations = fields.MapOf(fields.Text(), required=False)
    owner_references = fields.ListOf(fields.Object(), required=False)
    uid = fields.Text(
        schema={"format": "uuid"},
        required=False,
        example="5c0e5d0e-5f0c-4b6c-9a57-0b1f4d7a8a11",
    )
    generation = fields.Count(required=False, example=3)
    resource_version = fields.Text(VERSION, required=False, example="42")
    created_at = fields.Time(required=False, example="2026-01-12T09:00:00Z")
    updated_at = fields.Time(required=False, example=AT)


class ResourceSerializer(ApiSerializer):
    """One document: what is declared (`spec`) and what is observed (`status`)."""

    versioned = True

    api_version = fields.Word(["ioa.dev/v0.1", "ioa.dev/v0.2"], example="ioa.dev/v0.2")
    kind = fields.Word(KINDS, example="Domain")
    metadata = MetadataSerializer()
    spec = fields.Object(example={"purpose": "Wins and keeps customers."})
    status = StatusSerializer(required=False)


# A document as it is sent.
DECLARED: Document = {
    "metadata": {"name": "growth", "labels": {"tier": "production"}},
    "status": None,
}


class ResourceListSerializer(PageSerializer):
    """One page of resources."""

    items = ResourceSerializer(many=True)
    resource_version = fields.Text("From where a watch goes on after this list.", example="57")


class PatchSerializer(ApiSerializer):
    """A merge patch (RFC 7396) of `spec` and `metadata`."""

    has_more_fields = True

    @classmethod
    def example(cls, **changes: Any) -> Any:
        """Return an example."""
        metadata = {"labels": {"tier": None}}
        return {"spec": {"purpose": "Wins customers."}, "metadata": metadata} | changes


class DocumentListSerializer(ApiSerializer):
    """Many documents."""

    items = ResourceSerializer(many=True, example=[ResourceSerializer.example(**DECLARED)])


class DocumentsSerializer(ApiSerializer):
    """A document, a list of them, `items`, or a YAML stream."""

    one_of = (ResourceSerializer, [ResourceSerializer], DocumentListSerializer)

    @classmethod
    def example(cls, **changes: Any) -> Any:
        """Return an example of many."""
        return DocumentListSerializer.example(**changes)


class RevisionSerializer(ApiSerializer):
    """What happened at a revision, without the document."""

    resource_version = fields.TextOf(VERSION, example="42")
    change = fields.Word(["ADDED", "MODIFIED", "DELETED"], example="MODIFIED")
    generation = fields.Count(example=3)
    parts = fields.ListOf(fields.Word(["declared", "observed"]), example=["declared"])
    at = fields.Time()
    actor = fields.Text("Such as `person/alice`.", example="person/alice")
    message = fields.Text(required=False)

    def get_parts(self, row: ResourceRevision) -> list[str]:
        """Say which parts were changed."""
        changed = {
            "declared": row.declared_version == row.resource_version,
            "observed": row.observed_version == row.resource_version,
        }
        return [part for part, yes in changed.items() if yes]


class RevisionListSerializer(ApiSerializer):
    """One page of a resource's changes."""

    items = RevisionSerializer(many=True)
    next_before = fields.Text(VERSION, required=False, example="42")


class DifferenceSerializer(ApiSerializer):
    """One difference between two documents."""

    pointer = fields.Text(example="/spec/purpose")
    operation = fields.Word(["add", "remove", "replace"], example="replace")
    before = fields.Anything(allow_null=True, example="Wins customers.")
    after = fields.Anything(allow_null=True, example="Wins and keeps customers.")


class AppliedItemSerializer(ApiSerializer):
    """What became of one document."""

    kind = fields.Text(example="Domain")
    name = fields.Text(example="growth")
    action = fields.Word(get_args(specs.Action), example="changed")
    resource_version = fields.Text(VERSION, required=False)
    problems = FaultSerializer(many=True, required=False, example=None)
    differences = DifferenceSerializer(many=True, required=False)
    notes = fields.ListOf(fields.Text(), required=False)

    def get_resource_version(self, result: Applied) -> str | None:
        """Return the version it has now, if something was written."""
        version = result.resource.resource_version if result.resource is not None else None
        return None if version is None or self._context["dry_run"] else str(version)

    def get_problems(self, result: Applied) -> Any:
        """Return what is wrong with it."""
        return result.problems or None

    def get_differences(self, result: Applied) -> list[Document] | None:
        """Return what would change."""
        shown = self._context["dry_run"] and result.differences
        return [asdict(each) for each in result.differences] if shown else None

    def get_notes(self, result: Applied) -> list[str] | None:
        """Return what people should know."""
        return list(result.notes) or None


class AppliedSerializer(ApiSerializer):
    """What became of each document."""

    items = AppliedItemSerializer(many=True)
    written = fields.Flag("Whether anything was written.", example=False)
    dry_run = fields.Flag("Whether nothing was meant to be.", example=True)

    def get_items(self, outcome: Outcome) -> Any:
        """Return each."""
        return outcome.results

    def get_written(self, outcome: Outcome) -> bool:
        """Say whether anything was written."""
        return outcome.written and any(not result.failed for result in outcome.results)

    def get_dry_run(self, _: Outcome) -> bool:
        """Say whether nothing was meant to be written."""
        return bool(self._context["dry_run"])


class KindName(fields.Text):
    """The kind of a resource: its name, or its path."""

    def to_internal_value(self, data: Any) -> str:
        """Read its name."""
        found = isinstance(data, str) and (kinds.by_name(data) or kinds.by_path(data))
        if not found:
            raise bad_value(self.needed)
        return found.name


class ObservationSerializer(ItemSerializer):
    """What was seen of one resource."""

    kind = KindName(
        schema={"enum": KINDS},
        needed=f"must be one of {', '.join(KINDS)}",
        example="Agent",
    )
    name = fields.Text(
        needed="must be the name of a resource",
        detail="must be the name of a resource",
        longest=LONGEST_NAME,
        shortest=1,
        example="growth-optimizer",
    )
    status = StatusSerializer(example={"state": "running"})
    observed_at = fields.Time(
        null=False,
        detail="must be a time with a zone, such as 2026-02-25T10:00:00Z",
        required=False,
        example=AT,
    )


class ObservationsSerializer(ApiSerializer):
    """What was seen of many resources."""

    items = ObservationSerializer(many=True)


class ObservedItemSerializer(ApiSerializer):
    """What became of one report."""

    kind = fields.Text(example="Agent")
    name = fields.Text(example="growth-optimizer")
    verdict = fields.Word(get_args(statuses.Verdict), example="changed")
    resource_version = fields.Text(VERSION, required=False, example="43")
    problems = FaultSerializer(many=True, required=False, example=None)

    def to_representation(self, result: Observed) -> Document:
        """Write a verdict; many come at once."""
        body: Document = {"kind": result.kind, "name": result.name, "verdict": result.verdict}
        if result.resource is not None:
            body["resourceVersion"] = str(result.resource.resource_version)
        if result.problems:
            body["problems"] = FaultSerializer.show_all(result.problems)
        return body


class ObservedSerializer(ApiSerializer):
    """What became of each report."""

    items = ObservedItemSerializer(many=True)


class ChangesSerializer(ApiSerializer):
    """One of the server-sent events."""

    id = fields.Text(
        "A version; send the last one as `Last-Event-ID`.", required=False, example="43"
    )
    event = fields.Word(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"], example="MODIFIED")
    data_ = fields.Text(
        "The document, the bookmark or the problem, as JSON.",
        example='{"apiVersion":"ioa.dev/v0.2","kind":"Agent",'
        '"metadata":{"name":"growth-optimizer"}}',
    )


class EventSerializer(ApiSerializer):
    """A ledger entry as a CloudEvent 1.0."""

    has_more_fields = True

    specversion = fields.Word(["1.0"], example="1.0")
    id = fields.Text(example="58")
    source_ = fields.Text(example="/ioa/resource/5c0e5d0e-5f0c-4b6c-9a57-0b1f4d7a8a11")
    type = fields.Text(example="resource.spec-changed")
    subject = fields.Text(example="domain/growth")
    time = fields.Time()
    data_ = fields.Object(
        example={"generation": 3, "changed": ["/spec/purpose"], "resourceVersion": 42}
    )

    @classmethod
    def example(cls, **changes: Any) -> Any:
        """Return an example with what else an entry says."""
        more = {
            "datacontenttype": "application/json",
            "actor": "person/alice",
            "correlationid": "release-7",
            "sequence": "3",
        }
        return super().example(**more, **changes)


class EventListSerializer(ApiSerializer):
    """One page of the ledger."""

    items = EventSerializer(many=True)
    next_since = fields.Text("Where the next page begins.", example="58")


class VerdictSerializer(ApiSerializer):
    """Whether the ledger is as it was written."""

    ok = fields.Flag(example=True)
    events = fields.Count(example=58)
    streams = fields.Count(example=12)
    checkpoints = fields.Count(example=3)
    findings = fields.ListOf(fields.Text(), "What is amiss.", example=[])


def problem(code: str, message: str, **facts: Any) -> Document:
    """Return a problem as a view would."""
    return document(Problem(code, message, **facts))


FAULT = FaultSerializer.example()
PROBLEMS: dict[int, Document] = {
    400: problem(
        "invalid", "/spec/purpose: is required", pointer=FAULT["pointer"], errors=[FAULT]
    ),
    401: problem("not-signed-in", "This token is unknown, expired or revoked."),
    403: problem("forbidden", "Agents propose, people change specs."),
    404: problem("not-found", "There is no domain/growth."),
    406: problem(
        "not-acceptable",
        "Accept application/json or application/yaml or text/yaml.",
        allowed=["application/json", "application/yaml", "text/yaml"],
    ),
    409: problem("conflict", "This resource is now at version 43.", currentVersion="43"),
    410: problem("gone", "Changes up to version 7 were dropped. List again, then watch."),
    413: problem("too-large", "A body here has at most 256 kB."),
    415: problem(
        "unsupported-media-type",
        "Send application/merge-patch+json.",
        allowed=["application/merge-patch+json"],
    ),
    423: problem("stopped", "It is paused by person/maya: Campaign week.", epoch="12"),
    428: problem(
        "precondition-required",
        'This resource exists: read it, then send If-Match: "42" with your change.',
        currentVersion="42",
    ),
    429: problem("too-often", "Nothing was done. Try again in 1 s, and send more at once."),
    503: problem("unavailable", "The database does not answer. Try again in a moment."),
}
