"""How the API describes itself: operations, their schemas and examples (OpenAPI 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
)

from resources import kinds
from resources.api import examples
from resources.api.components import SCHEMAS
from resources.api.parameters import LARGEST, MOST
from resources.api.problems import MEDIA_TYPE

Method = TypeVar("Method", bound=Callable[..., Any])
# The name of a schema and an example of it.
Shape = tuple[str, Any]

# Answers that come with an ETag.
VERSIONED = ("Resource", "Status", "ConditionList")
BODY_TYPES = ("application/json", "application/yaml", "text/yaml")
REASONS = {
    400: "The request is not valid; `errors` says where.",
    401: "Nobody is signed in.",
    403: "This is not allowed.",
    404: "There is no such resource, or it is not to be seen.",
    406: "There is no such format.",
    409: "Somebody else changed this first, or it cannot be done as things are.",
    410: "What is asked for is no longer kept.",
    413: "The body is too large.",
    415: "The media type is not understood.",
    423: "A person said no; `epoch` is the present one.",
    428: "The resource exists: send `If-Match`.",
    429: "You call too often: try again after `Retry-After` seconds.",
    503: "The database does not answer in time: try again after `Retry-After` seconds.",
}
# What every operation can answer: to a wrong parameter, to nobody, to a token without the scope,
# to a format that there is not, to somebody in a hurry, and when the database is away.
ALWAYS = (400, 401, 403, 406, 429, 503)
# What every write can answer besides: when somebody was faster, and to a body it cannot take.
WITH_BODY = (409, 413, 415)
PAUSES = (429, 503)
# Whole numbers that have limits of their own.
LIMITS = {"limit": (1, MOST), "bookmarkSeconds": (1, 60), "before": (1, LARGEST)}


class Schema(AutoSchema):
    """Operations say everything themselves; nothing is guessed from names."""

    def get_tags(self) -> list[str]:
        """Return the group an endpoint belongs to."""
        view: Any = self.view
        return [view.tag]

    def get_description(self) -> str:  # type: ignore[override]
        """Return nothing: the summary says it, and docstrings are for readers of the code."""
        return ""


class AgentTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Agents' bearer tokens."""

    target_class = "resources.api.authentication.AgentTokenAuthentication"
    name = "agentToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        """Describe the header."""
        return {"type": "http", "scheme": "bearer", "description": "An agent's token, `ioa_…`."}


def query(name: str, description: str, type: type = str) -> OpenApiParameter:  # noqa: A002
    """Describe a query parameter; a whole number comes with its limits."""
    shape: Any = type
    if type is int:
        least, most = LIMITS.get(name, (0, LARGEST))
        shape = {"type": "integer", "minimum": least, "maximum": most}
    return OpenApiParameter(name, shape, OpenApiParameter.QUERY, description=description)


def header(name: str, description: str, **shape: Any) -> OpenApiParameter:
    """Describe a request header."""
    given: Any = {"type": "string", **shape}
    return OpenApiParameter(name, given, OpenApiParameter.HEADER, description=description)


def told(name: str, description: str, statuses: Any, **shape: Any) -> OpenApiParameter:
    """Describe a header of some answers."""
    given: Any = {"type": "string", **shape}
    return OpenApiParameter(
        name, given, OpenApiParameter.HEADER, description=description, response=statuses
    )


def path(name: str, description: str, enum: Sequence[str] | None = None) -> OpenApiParameter:
    """Describe a part of the path."""
    return OpenApiParameter(
        name, str, OpenApiParameter.PATH, description=description, enum=enum, required=True
    )


KIND = path("kind", "The kind, in lower case.", [kind.path for kind in kinds.ALL])
NAME = path("name", "The resource's name.")
VERSION = path("version", "A resource version.")
IF_MATCH = header("If-Match", 'The version you have seen, such as `"42"`, or `*` for any.')
IF_NONE_MATCH = header("If-None-Match", "`*` creates only.")
CORRELATION = header(
    "X-Correlation-ID",
    "An id for the ledger; a new one is made without it.",
    pattern="^[A-Za-z0-9._-]{1,64}$",
)
STORY = told("X-Correlation-ID", "What the ledger's entries of this call carry.", True)
PAUSE = told("Retry-After", "Seconds.", list(PAUSES), pattern="^[0-9]+$")


def operation(
    operation_id: str,
    summary: str,
    *,
    answers: Mapping[int, Shape | None],
    parameters: Sequence[OpenApiParameter] = (),
    request: Shape | Mapping[str, Shape] | None = None,
    errors: Sequence[int] = (),
) -> Callable[[Method], Method]:
    """Describe one method of an endpoint; `errors` are those that not every operation has."""
    responses: dict[Any, OpenApiResponse] = {
        status: succeeded(status, shape) for status, shape in answers.items()
    }
    somewhere = any(each.location == OpenApiParameter.PATH for each in parameters)
    usual = {*ALWAYS, *(WITH_BODY if request else ()), *((404,) if somewhere else ())}
    for status in sorted({*errors, *usual}):
        responses[status, MEDIA_TYPE] = failed(status)
    versioned = [status for status, shape in answers.items() if shape and shape[0] in VERSIONED]
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        parameters=[*parameters, CORRELATION, STORY, PAUSE, *entity_tag(versioned)],
        request=bodies(request),
        responses=responses,
    )


def entity_tag(statuses: list[int]) -> list[OpenApiParameter]:
    """Describe the header that carries a resource's version."""
    if not statuses:
        return []
    return [told("ETag", "The resource version.", statuses)]


def succeeded(status: int, shape: Shape | None) -> OpenApiResponse:
    """Describe an answer."""
    if shape is None:
        return OpenApiResponse(description="Not modified." if status == 304 else "Done.")
    return OpenApiResponse(
        reference(shape[0]), description="Done.", examples=[example(shape, status)]
    )


def failed(status: int) -> OpenApiResponse:
    """Describe a problem."""
    shown = example(("Problem", examples.PROBLEMS[status]), status)
    return OpenApiResponse(reference("Problem"), description=REASONS[status], examples=[shown])


def bodies(request: Shape | Mapping[str, Shape] | None) -> Any:
    """Describe a body in each media type it may come in."""
    if request is None:
        return None
    shapes = request if isinstance(request, Mapping) else dict.fromkeys(BODY_TYPES, request)
    return {
        media_type: OpenApiRequest(reference(shape[0]), examples=[example(shape)])
        for media_type, shape in shapes.items()
    }


def example(shape: Shape, status: int | None = None) -> OpenApiExample:
    """Wrap an example."""
    codes = [str(status)] if status else None
    return OpenApiExample(shape[0], value=shape[1], status_codes=codes)


def reference(name: str) -> dict[str, str]:
    """Point at a schema of `components`."""
    return {"$ref": f"#/components/schemas/{name}"}


def add_components(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add our schemas and say that bodies are needed; drf-spectacular calls this last."""
    for operations in result["paths"].values():
        for body in (each.get("requestBody") for each in operations.values()):
            body and body.update(required=True)
    result["components"].setdefault("schemas", {}).update(SCHEMAS)
    return result
