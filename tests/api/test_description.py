"""The API describes itself."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import URLPattern
from jsonschema_rs import Draft202012Validator
from openapi_spec_validator import validate

from controllers.api import urls as controllers_urls
from resources.api import urls as resources_urls
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db

Description = dict[str, Any]


@pytest.fixture
def description(stranger: Api) -> Description:
    answer = stranger.get("openapi.json")
    assert answer.status_code == 200
    found: Description = answer.json()
    return found


def operations(description: Description) -> list[tuple[str, Description]]:
    return [
        (f"{method} {path}", operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]


def test_the_description_is_valid_and_public(description: Description) -> None:
    validate(description)


def test_every_endpoint_is_described(description: Description) -> None:
    hidden = {"openapi", "api-docs", None}
    listed = [*controllers_urls.urlpatterns, *resources_urls.urlpatterns]
    named = [each for each in listed if isinstance(each, URLPattern)]

    routes = {
        f"/api/v1/{each.pattern}".replace("<str:", "{").replace(">", "}")
        for each in named
        if each.name not in hidden
    }

    assert description["paths"].keys() == routes


def test_every_operation_has_examples_that_fit_their_schemas(description: Description) -> None:
    checked = 0
    for place, operation in operations(description):
        bodies = [*operation["responses"].values(), operation.get("requestBody", {})]
        contents = [content for body in bodies for content in body.get("content", {}).values()]
        assert all(content["examples"] for content in contents), place
        for content in contents:
            for example in content["examples"].values():
                schema = {**content["schema"], "components": description["components"]}
                Draft202012Validator(schema).validate(example["value"])
                checked += 1

    assert checked > 50


def test_every_operation_can_fail_with_a_problem(description: Description) -> None:
    problem = {"$ref": "#/components/schemas/Problem"}
    for place, operation in operations(description):
        failures = [body for code, body in operation["responses"].items() if code >= "400"]
        assert failures, place
        for failure in failures:
            assert failure["content"]["application/problem+json"]["schema"] == problem, place


def test_operations_have_names_of_their_own(description: Description) -> None:
    names = [operation["operationId"] for _, operation in operations(description)]

    assert len(names) == len(set(names))


def test_only_the_docs_page_has_a_softer_policy(stranger: Api) -> None:
    docs = policy(stranger.get("docs"))
    other = policy(stranger.get("openapi.json"))

    assert docs.pop("style-src") == ["'self'", "'unsafe-inline'"]
    assert other.pop("style-src") == ["'self'"]
    assert docs == other
    assert docs["script-src"] == ["'self'"]


def policy(answer: Any) -> dict[str, list[str]]:
    directives = [each.split() for each in answer["Content-Security-Policy"].split(";")]
    return {name: sorted(values) for name, *values in directives}


def test_people_declare_and_nothing_is_started_by_command(description: Description) -> None:
    """F-01 What may be done is to declare, to report, to ask for a look, to decide and to hold."""
    posts = {
        place.removeprefix("post /api/v1/")
        for place, _ in operations(description)
        if place.startswith("post ")
    }

    assert posts == {
        "actions/{id}/claim",
        "actions/{id}/heartbeat",
        "actions/{id}/progress",
        "actions/{id}/result",
        "apply",
        "observations",
        "telemetry",
        "workflows/{name}/runs",
        "workflows/{name}/runs/{id}/cancel",
        "workflows/{name}/runs/{id}/steps/{step}",
        "controllers/{name}/cycles",
        "controllers/{name}/cycles/{number}/findings",
        "controllers/{name}/heartbeat",
        "controllers/{name}/reconcile",
        "controllers/{name}/reset-breaker",
        "proposals",
        "proposals/decide",
        "proposals/{id}/{answer}",
        "controllers/{name}/replay",
        "governance/{name}/drills",
        "holds",
        "holds/{id}/lift",
        "holds/{id}/renew",
        "admission",
        "admission/{id}/redeem",
        "usage",
    }
