"""The schemas of the API's answers and bodies."""

from __future__ import annotations

from typing import Any, get_args

from resources import kinds, specs, statuses

Schema = dict[str, Any]


def text(description: str = "", **more: Any) -> Schema:
    """Describe a text."""
    return {"type": "string", **({"description": description} if description else {}), **more}


def one(name: str) -> Schema:
    """Point at another schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def many(name: str) -> Schema:
    """Describe a list of another schema."""
    return {"type": "array", "items": one(name)}


def structure(required: str, description: str = "", **properties: Schema) -> Schema:
    """Describe an object; `required` names what is always there."""
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required.split()
    return schema | ({"description": description} if description else {})


FREE: Schema = {"type": "object", "additionalProperties": True}
COUNT: Schema = {"type": "integer", "minimum": 0}
SWITCH: Schema = {"type": "boolean"}
TIME = text(format="date-time")
VERSION = text("A resource version: where this stands in the order of all changes.")
KIND = text(enum=[kind.name for kind in kinds.ALL])

METADATA = structure(
    "name",
    "What the document says about itself; the server adds the last five.",
    name=text(),
    owner=FREE,
    labels={"type": "object", "additionalProperties": {"type": "string"}},
    annotations={"type": "object", "additionalProperties": {"type": "string"}},
    ownerReferences={"type": "array", "items": FREE},
    uid=text(format="uuid"),
    generation=COUNT,
    resourceVersion=VERSION,
    createdAt=TIME,
    updatedAt=TIME,
)

SCHEMAS: dict[str, Schema] = {
    "Problem": structure(
        "type title status detail",
        "An error (RFC 9457).",
        type=text("A stable name, such as `/problems/conflict`."),
        title=text(),
        status={"type": "integer"},
        detail=text(),
        pointer=text("Where in the body, as a JSON pointer."),
        errors=many("Fault"),
        allowed={"type": "array", "items": {"type": "string"}},
        currentVersion=VERSION,
        dependents={"type": "array", "items": {"type": "string"}},
    ),
    "Fault": structure(
        "pointer detail", "One thing that is wrong.", pointer=text(), detail=text()
    ),
    "Metadata": METADATA,
    "Resource": structure(
        "apiVersion kind metadata spec",
        "One document: what is declared (`spec`) and what is observed (`status`).",
        apiVersion=text(enum=["ioa.dev/v0.1", "ioa.dev/v0.2"]),
        kind=KIND,
        metadata=one("Metadata"),
        spec=FREE,
        status=one("Status"),
    ),
    "ResourceList": structure(
        "items resourceVersion",
        items=many("Resource"),
        nextCursor=text("Where the next page begins; absent on the last."),
        resourceVersion=text("From where a watch goes on after this list."),
    ),
    "Patch": {**FREE, "description": "A merge patch (RFC 7396) of `spec` and `metadata`."},
    "Documents": {
        "description": "A document, a list of them, `items`, or a YAML stream.",
        "oneOf": [
            one("Resource"),
            many("Resource"),
            structure("items", items=many("Resource")),
        ],
    },
    "Status": {**FREE, "description": "What is observed; `conditions` is a list."},
    "Condition": structure(
        "type status",
        type=text(),
        status=text(enum=["True", "False", "Unknown"]),
        reason=text(),
        message=text(),
        lastTransitionTime=TIME,
        managedBy=text("Who alone may write it."),
    ),
    "ConditionList": structure(
        "items resourceVersion", items=many("Condition"), resourceVersion=VERSION
    ),
    "Revision": structure(
        "resourceVersion change generation parts at actor",
        resourceVersion=VERSION,
        change=text(enum=["ADDED", "MODIFIED", "DELETED"]),
        generation=COUNT,
        parts={"type": "array", "items": text(enum=["declared", "observed"])},
        at=TIME,
        actor=text("Such as `person/alice`."),
        message=text(),
    ),
    "RevisionList": structure("items", items=many("Revision"), nextBefore=VERSION),
    "Difference": structure(
        "pointer operation before after",
        pointer=text(),
        operation=text(enum=["add", "remove", "replace"]),
        before={"nullable": True},
        after={"nullable": True},
    ),
    "AppliedItem": structure(
        "kind name action",
        kind=text(),
        name=text(),
        action=text(enum=list(get_args(specs.Action))),
        resourceVersion=VERSION,
        problems=many("Fault"),
        differences=many("Difference"),
        notes={"type": "array", "items": {"type": "string"}},
    ),
    "Applied": structure(
        "items written dryRun", items=many("AppliedItem"), written=SWITCH, dryRun=SWITCH
    ),
    "Observation": structure(
        "kind name status", kind=KIND, name=text(), status=one("Status"), observedAt=TIME
    ),
    "Observations": structure("items", items=many("Observation")),
    "ObservedItem": structure(
        "kind name verdict",
        kind=text(),
        name=text(),
        verdict=text(enum=list(get_args(statuses.Verdict))),
        resourceVersion=VERSION,
        problems=many("Fault"),
    ),
    "Observed": structure("items", items=many("ObservedItem")),
    "Changes": structure(
        "event data",
        "One of the server-sent events.",
        id=text("A version; send the last one as `Last-Event-ID`."),
        event=text(enum=["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]),
        data=text("The document, the bookmark or the problem, as JSON."),
    ),
    "Event": {
        **structure(
            "specversion id source type subject time data",
            "A ledger entry as a CloudEvent 1.0.",
            specversion=text(enum=["1.0"]),
            id=text(),
            source=text(),
            type=text(),
            subject=text(),
            time=TIME,
            data=FREE,
        ),
        "additionalProperties": True,
    },
    "EventList": structure("items nextSince", items=many("Event"), nextSince=text()),
    "Verdict": structure(
        "ok events streams checkpoints findings",
        ok=SWITCH,
        events=COUNT,
        streams=COUNT,
        checkpoints=COUNT,
        findings={"type": "array", "items": {"type": "string"}},
    ),
}
