"""The client against servers that answer, refuse, wait and break off."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ioa_client import Client, Problem, Unreachable
from tests.client.listening import BROKEN, Reply, Server, listening

pytestmark = pytest.mark.sqlite

ROOT = Path(__file__).resolve().parent.parent.parent
BUSY = Reply(429, {"title": "Too much at once", "detail": "Wait."}, {"Retry-After": "2"})
DOWN = Reply(503, {"detail": "Nothing was written. Try again."})
FINE = Reply(200, {"items": []})
REFUSED = Reply(
    400,
    {
        "type": "/problems/invalid",
        "title": "The request is not valid",
        "status": 400,
        "detail": "why is a text.",
        "pointer": "/why",
    },
)


class Patient:
    """Somebody who waits without taking time, and remembers how long."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


def client(server: Server, **options: Any) -> tuple[Client, Patient]:
    """Return a client that rests without taking time."""
    patient = Patient()
    return Client(server.url, "ioa_agent_x", sleep=patient, timeout=5, **options), patient


def test_a_problem_is_an_exception_that_says_where_and_why() -> None:
    with listening(REFUSED) as server, pytest.raises(Problem) as caught:
        client(server)[0].proposals.file("agent/scribe", [], "")

    problem = caught.value
    assert (problem.status, problem.slug, problem.pointer) == (400, "invalid", "/why")
    assert str(problem) == problem.detail == "why is a text."
    assert (problem.title, problem.retry_after) == ("The request is not valid", None)
    assert len(server.asked) == 1


@pytest.mark.parametrize("refusal", [BUSY, DOWN])
def test_a_busy_product_is_asked_again_after_the_time_it_said(refusal: Reply) -> None:
    with listening(refusal, refusal, FINE) as server:
        caller, patient = client(server)
        caller.telemetry.tell([{"event": "a"}])

    assert len(server.asked) == 3
    least = 2.0 if refusal is BUSY else 0.2
    assert all(least <= wait < least + 1 for wait in patient.waits)
    assert len({each.headers["Idempotency-Key"] for each in server.asked}) == 1


def test_a_product_that_stays_busy_is_left_alone_in_the_end() -> None:
    with listening(BUSY) as server, pytest.raises(Problem) as caught:
        client(server, attempts=3)[0].holds.read(1)

    assert (caught.value.status, caught.value.retry_after) == (429, 2.0)
    assert len(server.asked) == 3


def test_nobody_waits_longer_than_patience_lasts() -> None:
    late = Reply(429, {}, {"Retry-After": "3600"})
    with listening(late) as server, pytest.raises(Problem):
        client(server)[0].holds.read(1)

    assert len(server.asked) == 1


def test_a_broken_line_is_taken_up_where_repeating_does_no_harm() -> None:
    with listening(BROKEN, FINE) as server:
        client(server)[0].resources.observe([])
        client(server)[0].resources.report("agent", "scribe", {"state": "running"})

    keys = [each.headers.get("Idempotency-Key") for each in server.asked]
    assert keys[0] == keys[1] is not None
    assert server.asked[2].headers["Content-Type"] == "application/merge-patch+json"


def test_what_might_happen_twice_is_not_repeated_over_a_broken_line() -> None:
    with listening(BROKEN, FINE) as server, pytest.raises(Unreachable):
        client(server)[0].controllers.open("keeper")

    assert len(server.asked) == 1


@pytest.mark.parametrize("body", [b"<html>Bad gateway</html>", b"[1]", b"\xff", b""])
def test_an_answer_that_is_no_problem_document_is_a_problem_all_the_same(body: bytes) -> None:
    with listening(Reply(502, body)) as server, pytest.raises(Problem) as caught:
        client(server)[0].holds.read(1)

    assert caught.value.status == 502
    assert str(caught.value)


def test_an_answer_that_is_not_json_is_no_answer() -> None:
    with listening(Reply(200, b"<html>")) as server, pytest.raises(Unreachable, match="JSON"):
        client(server)[0].holds.read(1)


def test_a_token_goes_nowhere_else() -> None:
    with listening(FINE) as other:
        away = Reply(302, {}, {"Location": f"{other.url}/api/v1/holds/1"})
        with listening(away) as server, pytest.raises(Problem) as caught:
            client(server)[0].holds.read(1)

    assert caught.value.status == 302
    assert other.asked == []


def test_a_token_is_never_shown() -> None:
    caller = Client("http://127.0.0.1:9", "ioa_agent_secret")

    assert "secret" not in repr(caller.transport)


def test_a_name_never_reaches_beyond_its_own_part_of_the_path() -> None:
    with listening(FINE) as server:
        client(server)[0].resources.read("agent", "../holds?x=1#y")

    assert server.asked[0].path == "/api/v1/resources/agent/..%2Fholds%3Fx%3D1%23y"


def test_a_list_goes_on_over_all_its_pages() -> None:
    first = Reply(200, {"items": [{"id": 2}], "nextCursor": "next"})
    with listening(first, Reply(200, {"items": [{"id": 1}]})) as server:
        found = list(client(server)[0].proposals.feedback())

    assert [each["id"] for each in found] == [2, 1]
    assert "mine=true" in server.asked[0].path
    assert "cursor=next" in server.asked[1].path


def test_a_watch_is_taken_up_after_the_last_version_it_saw() -> None:
    change = b'id: 7\nevent: MODIFIED\ndata: {"kind": "Agent"}\n\n'
    mark = b"id: 9\nevent: BOOKMARK\ndata: {}\n\n"
    gone = b'event: ERROR\ndata: {"status": 410, "detail": "No longer kept."}\n\n'
    with listening(Reply(200, change + mark), Reply(200, gone)) as server:
        watch = client(server)[0].watching.changes("agent")
        seen = next(watch)
        with pytest.raises(Problem, match=r"No longer kept\.") as caught:
            next(watch)

    assert (seen.type, seen.version, seen.document) == ("MODIFIED", "7", {"kind": "Agent"})
    assert "since=9" in server.asked[1].path
    assert caught.value.status == 410


def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="not an http address"):
        Client("file:///etc/passwd", "x")


def test_the_client_needs_nothing_but_python() -> None:
    program = [sys.executable, "-I", "-S", "-c"]
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import ioa_client"

    done = subprocess.run([*program, code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
