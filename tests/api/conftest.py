"""People, agents and a small organisation; clients that speak JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import Any

import orjson
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from jsonschema_rs import Draft202012Validator

from resources.api.description import description
from resources.documents.actor import Actor
from resources.documents.kind import Document
from resources.usecases import specs, tokens
from resources.usecases.specs import DesiredDocument
from tests.api.counts import expected_count
from tests.conftest import given
from tests.resources.conftest import real_database

__all__ = ["real_database"]

Answer = Any
MERGE_PATCH = "application/merge-patch+json"
ALICE = Actor("person", "alice")


class Api:
    """A client under `/api/v1/`, for a person or an agent."""

    def __init__(self, client: Client, token: str = "") -> None:
        self.client = client
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def send(self, method: str, path: str, body: Any = None, **given: Any) -> Answer:
        """Send a body that is not a text as JSON."""
        headers = self.headers | given.pop("headers", {})
        content_type = given.pop("content_type", "application/json")
        sent: dict[str, Any] = {"headers": headers, "QUERY_STRING": given.pop("query", "")}
        if body is not None:
            sent |= {"data": body, "content_type": content_type}
        return getattr(self.client, method)(f"/api/v1/{path}", **sent, **given)

    def get(self, path: str, query: str = "", **headers: str) -> Answer:
        return self.send("get", path, query=query, headers=named(headers))

    def put(self, path: str, body: Any, **headers: str) -> Answer:
        return self.send("put", path, body, headers=named(headers))

    def patch(self, path: str, body: Any, **headers: str) -> Answer:
        given = {"content_type": MERGE_PATCH, "headers": named(headers)}
        return self.send("patch", path, body, **given)

    def delete(self, path: str, **headers: str) -> Answer:
        return self.send("delete", path, headers=named(headers))

    def post(self, path: str, body: Any, query: str = "", **headers: str) -> Answer:
        return self.send("post", path, body, query=query, headers=named(headers))


def named(headers: dict[str, str]) -> dict[str, str]:
    """Turn `if_match` into `If-Match`."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


def domain(name: str, **spec: Any) -> Document:
    return {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Domain",
        "metadata": {"name": name},
        "spec": {"purpose": "Works.", **spec},
    }


def agent(name: str, within: str, **metadata: Any) -> Document:
    return {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Agent",
        "metadata": {"name": name, **metadata},
        "spec": {"domain": within, "type": "supervised", "purpose": "Helps."},
    }


def apply(*documents: Document) -> list[Any]:
    """Write documents, and return their rows."""
    wishes = [DesiredDocument(document) for document in documents]
    outcome = specs.apply(wishes, actor=ALICE, now=timezone.now())
    assert outcome.written, outcome
    return [result.resource for result in outcome.results]


def issue(name: str, *scopes: str) -> str:
    """Return the text of a new token."""
    chosen = scopes or tuple(tokens.SCOPES)
    hour = timedelta(hours=1)
    return tokens.issue(name, scopes=chosen, lifetime=hour, actor=ALICE, now=timezone.now()).text


def signed_in(name: str, *roles: str, domain: str = "") -> Api:
    """Return the client of a person who holds these roles, for the organisation or a domain."""
    client = Client()
    client.force_login(given(User.objects.create(username=name), *roles, domain=domain))
    return Api(client)


@pytest.fixture
def alice(db: None) -> Api:
    """Return the manager, who may change everything."""
    return signed_in("alice", "administrator")


@pytest.fixture
def bob(db: None) -> Api:
    """Return somebody who may only look."""
    return signed_in("bob", "viewer")


@pytest.fixture
def organisation(db: None) -> None:
    """Two domains with an agent each, and a policy for everybody."""
    policy = {
        "apiVersion": "ioa.dev/v0.2",
        "kind": "Governance",
        "metadata": {"name": "house-rules"},
        "spec": {"domain": "*"},
    }
    apply(
        domain("growth"),
        domain("finance"),
        agent("robin", "growth"),
        agent("wren", "finance"),
        policy,
    )


@pytest.fixture
def robin(organisation: None) -> Api:
    """Return the agent of growth, with every scope."""
    return Api(Client(), issue("robin"))


@pytest.fixture
def stranger(db: None) -> Api:
    """Return nobody."""
    return Api(Client())


@contextmanager
def queries(name: str) -> Iterator[None]:
    """Hold what runs inside against `query_counts.json`."""
    with CaptureQueriesContext(connection) as captured:
        yield
    statements = "\n".join(each["sql"][:200] for each in captured)
    assert len(captured) == expected_count(name, len(captured)), statements


def assert_fits(body: Any, schema: str) -> None:
    """Hold an answer against the schema the API's description gives it."""
    validator(schema).validate(body)


@cache
def validator(schema: str) -> Draft202012Validator:
    """Return what holds an answer against one schema, compiled once."""
    components = orjson.loads(description())["components"]
    for name, shape in components["schemas"].items():
        # A problem may say more; others have the fields of their serializers alone.
        if name != "Problem" and "properties" in shape:
            shape.setdefault("additionalProperties", False)
    return Draft202012Validator(
        {"$ref": f"#/components/schemas/{schema}", "components": components}
    )
