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
    409: "Somebody else changed this first, or it cannot be done as things are.",
    410: "What is asked for is no longer kept.",
    413: "The body is too large.",
    415: "The media type is not understood.",
    428: "The resource exists: send `If-Match`.",
}


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
    """Describe a query parameter."""
    return OpenApiParameter(name, type, OpenApiParameter.QUERY, description=description)


def header(name: str, description: str) -> OpenApiParameter:
    """Describe a request header."""
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, description=description)


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
CORRELATION = header("X-Correlation-ID", "An id for the ledger; a new one is made without it.")


def operation(
    operation_id: str,
    summary: str,
    *,
    answers: Mapping[int, Shape | None],
    parameters: Sequence[OpenApiParameter] = (),
    request: Shape | Mapping[str, Shape] | None = None,
    errors: Sequence[int] = (),
) -> Callable[[Method], Method]:
    """Describe one method of an endpoint; every operation can also answer 401."""
    responses: dict[Any, OpenApiResponse] = {
        status: succeeded(status, shape) for status, shape in answers.items()
    }
    for status in sorted({*errors, 401}):
        responses[status, MEDIA_TYPE] = failed(status)
    versioned = [status for status, shape in answers.items() if shape and shape[0] in VERSIONED]
    return extend_schema(
        operation_id=operation_id,
        summary=summary,
        parameters=[*parameters, CORRELATION, *entity_tag(versioned)],
        request=bodies(request),
        responses=responses,
    )


def entity_tag(statuses: list[int]) -> list[OpenApiParameter]:
    """Describe the header that carries a resource's version."""
    if not statuses:
        return []
    return [
        OpenApiParameter(
            "ETag",
            str,
            OpenApiParameter.HEADER,
            description="The resource version.",
            response=statuses,
        )
    ]


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
