"""How the API describes itself: operations, their schemas and examples (OpenAPI 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
)

from resources.api.parameters import LARGEST, MOST
from resources.api.problems import MEDIA_TYPE
from resources.api.serializer_base import ApiSerializer, Many
from resources.api.serializers import PROBLEMS, ProblemSerializer
from resources.documents import kinds

Method = TypeVar("Method", bound=Callable[..., Any])
Serializer = type[ApiSerializer]


class Examples(dict[str, Any]):
    """Several examples of one body, by name."""


# A serializer, perhaps with what is otherwise in this example of it, or with several examples.
Shape = Serializer | tuple[Serializer, Mapping[str, Any]]

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

    def _get_request_body(self, direction: Any = "request") -> Any:
        body = super()._get_request_body(direction)  # type: ignore[no-untyped-call]
        method = getattr(self.view, self.method.lower())
        required = not getattr(method, "body_may_be_missing", False)
        return body and {**body, "required": required}

    def _unwrap_list_serializer(self, serializer: Any, direction: Any) -> Any:
        found: Any = super()._unwrap_list_serializer(serializer, direction)
        return found | serializer.shape() if isinstance(serializer, Many) else found


class ValueExtension(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Fields that describe themselves."""

    target_class = "resources.api.fields.Value"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        """Describe the field."""
        value: Any = self.target
        found: dict[str, Any] = value.shape()
        return found


class SerializerExtension(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Serializers that have fields without a name, or are one of several."""

    target_class = "resources.api.serializer_base.ApiSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        """Describe the object."""
        schema: Any = auto_schema
        found: dict[str, Any] = schema._map_serializer(
            self.target, direction, bypass_extensions=True
        )
        if self.target.has_more_fields:
            found["additionalProperties"] = True
        if self.target.one_of:
            several = [alternative(auto_schema, each, direction) for each in self.target.one_of]
            return {"description": found["description"], "oneOf": several}
        return found


def alternative(auto_schema: AutoSchema, given: Any, direction: Any) -> dict[str, Any]:
    """Describe one of several: a serializer, perhaps with what else holds of it, or a list."""
    serializer, more = given if isinstance(given, tuple) else (given, {})
    schema: Any = auto_schema
    if isinstance(serializer, list):
        return {"type": "array", "items": alternative(auto_schema, serializer[0], direction)}
    found: dict[str, Any] = schema.resolve_serializer(serializer, direction).ref
    return {"allOf": [found], **more} if more else found


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


def operation(  # noqa: PLR0913 - each says one thing about an operation
    operation_id: str,
    summary: str,
    *,
    answers: Mapping[int, Shape | None],
    parameters: Sequence[OpenApiParameter] = (),
    request: Shape | Mapping[str, Shape] | None = None,
    body_may_be_missing: bool = False,
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
    versioned = [status for status, shape in answers.items() if shape and content(shape).versioned]
    describe = extend_schema(
        operation_id=operation_id,
        summary=summary,
        parameters=[*parameters, CORRELATION, STORY, PAUSE, *entity_tag(versioned)],
        request=bodies(request),
        responses=responses,
    )

    def described(method: Method) -> Method:
        found: Any = describe(method)
        found.body_may_be_missing = body_may_be_missing
        return cast(Method, found)

    return described


def entity_tag(statuses: list[int]) -> list[OpenApiParameter]:
    """Describe the header that carries a resource's version."""
    if not statuses:
        return []
    return [told("ETag", "The resource version.", statuses)]


def succeeded(status: int, shape: Shape | None) -> OpenApiResponse:
    """Describe an answer."""
    if shape is None:
        return OpenApiResponse(description="Not modified." if status == 304 else "Done.")
    return OpenApiResponse(content(shape), description="Done.", examples=[example(shape, status)])


def failed(status: int) -> OpenApiResponse:
    """Describe a problem."""
    shown = example((ProblemSerializer, PROBLEMS[status]), status)
    return OpenApiResponse(ProblemSerializer, description=REASONS[status], examples=[shown])


def bodies(request: Shape | Mapping[str, Shape] | None) -> Any:
    """Describe a body in each media type it may come in."""
    if request is None:
        return None
    shapes = request if isinstance(request, Mapping) else dict.fromkeys(BODY_TYPES, request)
    return {
        media_type: OpenApiRequest(content(shape), examples=shown(shape))
        for media_type, shape in shapes.items()
    }


def shown(shape: Shape) -> list[OpenApiExample]:
    """Wrap the example of a body, or each of several."""
    if isinstance(shape, tuple) and isinstance(shape[1], Examples):
        return [OpenApiExample(name, value=value) for name, value in shape[1].items()]
    return [example(shape)]


def content(shape: Shape) -> Serializer:
    """Return the serializer of a body or an answer."""
    return shape[0] if isinstance(shape, tuple) else shape


def example(shape: Shape, status: int | None = None) -> OpenApiExample:
    """Wrap an example."""
    codes = [str(status)] if status else None
    serializer, changes = shape if isinstance(shape, tuple) else (shape, {})
    shown = serializer.example(**changes)
    return OpenApiExample(serializer.component(), value=shown, status_codes=codes)
