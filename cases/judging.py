"""What must hold of every answer, and what the ledger must not have heard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schemathesis import Case, Response
from schemathesis.checks import CheckContext, not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from cases.scene import Caller

MEDIA_TYPE = "application/problem+json"
SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
# Entries that say that something was refused: they are all that a refusal may leave.
NOTED = {"admission.refused", "person.refused", "proposal.late-result", "token.refused"}
PAGE = 200
SHOWN = 1_000


@dataclass
class Finding:
    """Something that does not hold of an operation, and the first case that showed it."""

    operation: str
    title: str
    detail: str
    example: str
    times: int = 1

    @property
    def key(self) -> tuple[str, str, str]:
        """What findings of one sort have in common."""
        first, _, _ = self.detail.partition("\n")
        return self.operation, self.title, first


def says_what_is_wrong(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Every error is a problem document whose detail is a sentence."""
    if response.status_code < 400 or case.method == "HEAD":
        return
    kind = response.headers.get("content-type", [""])[0]
    assert kind == MEDIA_TYPE, f"{response.status_code} came as {kind!r}"  # noqa: S101
    problem = json.loads(response.content)
    status = problem.get("status")
    assert status == response.status_code, f"status says {status}"  # noqa: S101
    assert problem.get("type", "").startswith("/problems/"), "it has no type"  # noqa: S101
    assert problem.get("title"), "it has no title"  # noqa: S101
    detail = problem.get("detail", "")
    assert detail.strip(), "detail is empty"  # noqa: S101


def tells_its_story(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Every answer of a view names the story that the ledger keeps."""
    if response.status_code != 413:
        assert story_of(response), "X-Correlation-ID is missing"  # noqa: S101


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
    says_what_is_wrong,
    tells_its_story,
]


def story_of(response: Response) -> str:
    """Return the story an answer belongs to."""
    return response.headers.get("x-correlation-id", [""])[0]


def judge(case: Case[Any], response: Response) -> Iterator[Finding]:
    """Yield what does not hold of an answer."""
    try:
        case.validate_response(response, checks=CHECKS)
    except FailureGroup as failures:
        for each in failures.exceptions:
            title, detail = (
                (each.title, each.message) if isinstance(each, Failure) else ("Broken", str(each))
            )
            body = response.content[:SHOWN].decode("utf-8", "replace")
            sent = f"{example(case)}\n{response.status_code} {body}"
            yield Finding(case.operation.label, title, detail, sent)


def example(case: Case[Any]) -> str:
    """Write a case as a command; what is secret in it is masked."""
    return case.as_curl_command()[: 2 * SHOWN]


class Ledger:
    """Reads the ledger on, and finds what refused writes left in it."""

    def __init__(self, reader: Caller) -> None:
        self.reader, self.since = reader, "0"
        self.refused: dict[str, Finding] = {}
        self.heard()

    def note(self, case: Case[Any], response: Response) -> None:
        """Remember a case that must not have written."""
        if case.method in SAFE or response.status_code >= 400:
            request, title = response.request, "A refused or reading call wrote to the ledger"
            # Whole commands of all cases would take long to write, and are hardly ever read.
            body = request.body if isinstance(request.body, bytes) else b""
            sent = f"{request.method} {request.url}\n{body[:SHOWN]!r}"
            self.refused[story_of(response)] = Finding(case.operation.label, title, "", sent)

    def findings(self) -> Iterator[Finding]:
        """Yield those that left something."""
        for story, event in self.heard():
            found = self.refused.get(story)
            if found is not None and event not in NOTED:
                found.detail = event
                yield found

    def heard(self) -> list[tuple[str, str]]:
        """Return the stories and events since the last time."""
        found = []
        while True:
            page = self.reader.read(f"events?since={self.since}&limit={PAGE}")
            self.since = page["nextSince"]
            found += [(each["correlationid"], each["type"]) for each in page["items"]]
            if len(page["items"]) < PAGE:
                return found
