"""Cases are judged: each check can fail, refusals leave nothing, and too few are void."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import pytest
import requests
import schemathesis
from schemathesis import Case, Response

from cases.judging import Ledger, judge
from cases.playing import Tally
from ioa_site.commands import cases as command
from tests.rows import every_row

PROBLEM = {"type": "/problems/not-found", "title": "None", "status": 404, "detail": "None here."}
DESCRIPTION = {
    "openapi": "3.0.3",
    "info": {"title": "A small API", "version": "1"},
    "paths": {
        "/things": {
            "post": {
                "responses": {
                    "200": {
                        "description": "Done.",
                        "headers": {"X-Count": {"schema": {"type": "integer"}}},
                        "content": {
                            "application/json": {
                                "schema": {"type": "object", "required": ["name"]},
                            }
                        },
                    },
                    "404": {
                        "description": "None.",
                        "content": {"application/problem+json": {"schema": {"type": "object"}}},
                    },
                }
            }
        }
    },
}
USUAL = {"x-correlation-id": "case-1", "content-type": "application/json"}
REFUSED = {"content-type": "application/problem+json"}


@pytest.fixture
def case() -> Case[Any]:
    """Return a case of the only operation."""
    schema = schemathesis.openapi.from_dict(DESCRIPTION, config=schemathesis.Config())
    return schema["/things"]["POST"].Case()


def answer(status: int = 200, body: Any = None, **headers: str) -> Response:
    """Return an answer with this body."""
    given = USUAL | {name.replace("_", "-"): text for name, text in headers.items()}
    content = orjson.dumps({"name": "one"} if body is None else body)
    request = requests.Request("POST", "http://127.0.0.1/things").prepare()
    named = {name: [text] for name, text in given.items() if text}
    return Response(status, named, content, request, elapsed=0.1, verify=False)


def refusal(**members: Any) -> Response:
    """Return a refusal as it should be, but for some of its members."""
    return answer(404, PROBLEM | members, **{"content_type": REFUSED["content-type"]})


def titles(case: Case[Any], response: Response) -> list[str]:
    """Return what is found wrong."""
    return [f"{each.title}: {each.detail}" for each in judge(case, response)]


@pytest.mark.parametrize("response", [answer(), answer(x_count="7"), refusal()])
def test_a_good_answer_is_no_finding(case: Case[Any], response: Response) -> None:
    assert titles(case, response) == []


@every_row(
    ("response", "words"),
    [
        (answer(500, PROBLEM | {"status": 500}), "Server error"),
        (answer(201), "Undocumented status code"),
        (answer(content_type="text/html"), "Undocumented Content-Type"),
        (answer(body={}), "Response violates schema"),
        (answer(x_count="many"), "Response header does not conform"),
        (answer(404, PROBLEM), "404 came as"),
        (refusal(detail=" "), "detail is empty"),
        (refusal(status=400), "status says 400"),
        (refusal(type="about:blank"), "it has no type"),
        (refusal(title=""), "it has no title"),
        (answer(x_correlation_id=""), "X-Correlation-ID is missing"),
    ],
)
def test_every_check_can_fail(case: Case[Any], response: Response, words: str) -> None:
    assert any(words in each for each in titles(case, response)), titles(case, response)


class Reader:
    """Reads a ledger that is written here."""

    def __init__(self) -> None:
        self.entries: list[dict[str, str]] = []

    def write(self, story: str, event: str) -> None:
        """Add an entry."""
        self.entries.append({"correlationid": story, "type": event})

    def read(self, path: str) -> Mapping[str, Any]:
        """Return a page."""
        since = int(path.partition("since=")[2].partition("&")[0])
        found = self.entries[since : since + 200]
        return {"items": found, "nextSince": str(since + len(found))}


def test_a_refused_write_that_left_an_entry_is_found(case: Case[Any]) -> None:
    reader = Reader()
    for _ in range(450):
        reader.write("case-0", "resource.created")
    ledger = Ledger(reader)  # type: ignore[arg-type]

    ledger.note(case, refusal())
    reader.write("case-0", "resource.created")
    reader.write("case-1", "admission.refused")
    assert list(ledger.findings()) == []

    reader.write("case-1", "resource.created")
    (found,) = ledger.findings()
    assert (found.operation, found.detail) == ("POST /things", "resource.created")


def test_a_write_that_was_done_may_leave_entries(case: Case[Any]) -> None:
    reader = Reader()
    ledger = Ledger(reader)  # type: ignore[arg-type]

    ledger.note(case, answer())
    reader.write("case-1", "resource.created")

    assert list(ledger.findings()) == []


def played(**operations: int) -> Tally:
    """Return what was played."""
    tally = Tally()
    tally.operations.update(operations)
    tally.statuses[200] = tally.cases
    return tally


@pytest.mark.parametrize(
    ("tally", "code"),
    [
        (played(readThing=10_000, writeThing=10_000), 0),
        (played(readThing=9_999, writeThing=10_000), 2),
        (played(readThing=20_000, writeThing=0), 2),
    ],
)
def test_too_few_cases_are_void(
    tally: Tally, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.told("sqlite", tally, 7) == code
    assert ("VOID" in capsys.readouterr().out) == (code == 2)


def test_a_finding_is_shown_and_ends_with_1(
    case: Case[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    tally = played(readThing=20_000)
    for _ in range(3):
        for each in judge(case, answer(201)):
            if tally.find(each):
                command.show(each)

    assert command.told("sqlite", tally, 7) == 1
    said = capsys.readouterr().out
    assert said.count("FOUND POST /things: Undocumented status code") == 1
    assert "FOUND 3 times: POST /things: Undocumented status code" in said
    assert "curl -X POST" in said
    assert "20,000 cases of 1 operations (seed 7), 1 findings" in said
