"""Every error is a problem document, and bad input is never an accident."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError

from resources.store import store
from resources.tables.models import LedgerEvent, Resource
from resources.usecases import specs
from tests.api.conftest import Api, domain
from tests.rows import every_row

pytestmark = pytest.mark.django_db

GROWTH = "resources/domain/growth"
FIELDS = {"type", "title", "status", "detail"}


def assert_problem(answer: Any, status: int, slug: str) -> dict[str, Any]:
    body: dict[str, Any] = answer.json()
    assert answer.status_code == body["status"] == status
    assert answer["Content-Type"] == "application/problem+json"
    assert body["type"] == f"/problems/{slug}"
    assert body.keys() >= FIELDS
    return body


@every_row(
    "path",
    ["", "nothing", "resources", f"{GROWTH}/", f"{GROWTH}/notes", "resources/domain/a/b/c"],
    rolled_back=True,
)
@every_row("method", ["get", "post", "delete"])
def test_an_address_that_is_none_is_not_found(stranger: Api, method: str, path: str) -> None:
    assert_problem(stranger.send(method, path), 404, "not-found")


@pytest.mark.parametrize("name", ["nobody", "%00", "a%00b", "%FF", "é", "x" * 500, "a%0Ab"])
def test_a_name_that_is_none_is_not_found(alice: Api, name: str) -> None:
    """D-50"""
    assert_problem(alice.get(f"resources/domain/{name}"), 404, "not-found")
    assert_problem(alice.delete(f"resources/domain/{name}"), 404, "not-found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("post", "resources/domain", ["GET", "HEAD"]),
        ("post", GROWTH, ["GET", "PUT", "PATCH", "DELETE", "HEAD"]),
        ("delete", f"{GROWTH}/status", ["GET", "PUT", "PATCH", "HEAD"]),
        ("get", "apply", ["POST"]),
        ("options", "apply", ["POST"]),
        ("post", "openapi.json", ["GET", "HEAD"]),
        ("post", "docs", ["GET", "HEAD", "OPTIONS"]),
    ],
)
def test_a_method_that_is_not_allowed_names_those_that_are(
    alice: Api, method: str, path: str, allowed: list[str]
) -> None:
    """A-33"""
    answer = alice.send(method, path)

    body = assert_problem(answer, 405, "method-not-allowed")
    assert sorted(body["allowed"]) == sorted(allowed)
    assert answer["Allow"]


def test_a_format_we_do_not_write_is_not_acceptable(alice: Api) -> None:
    body = assert_problem(alice.get("events", accept="image/png"), 406, "not-acceptable")

    assert body["allowed"] == ["application/json", "application/yaml", "text/yaml"]


@every_row(
    "content_type",
    ["text/plain", "application/xml", "multipart/form-data; boundary=x",
     "application/x-www-form-urlencoded", "application/merge-patch+json", ";", "",
     "application/json; charset=utf-16", "text/yaml; charset=iso-8859-1"],
    rolled_back=True,
)  # fmt: skip
@every_row(("method", "path"), [("put", GROWTH), ("post", "apply")])
def test_a_media_type_we_do_not_read_is_refused(
    alice: Api, method: str, path: str, content_type: str
) -> None:
    answer = alice.send(method, path, b"a=1", content_type=content_type)

    assert_problem(answer, 415, "unsupported-media-type")


@pytest.mark.parametrize(("method", "path"), [("put", GROWTH), ("post", "observations")])
def test_no_body_is_refused(alice: Api, method: str, path: str) -> None:
    assert_problem(alice.send(method, path, b""), 400, "invalid")


@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [
        ("put", GROWTH, settings.BODY_LIMIT),
        ("put", f"{GROWTH}/status", settings.BODY_LIMIT),
        ("post", "apply", settings.IMPORT_LIMIT),
        ("post", "observations", settings.IMPORT_LIMIT),
    ],
)
def test_a_body_is_capped_before_it_is_read(
    alice: Api, method: str, path: str, limit: int
) -> None:
    """A-33"""
    fits = alice.send(method, path, b"[" + b" " * (limit - 1))
    over = alice.send(method, path, b"[" + b" " * limit)

    assert_problem(fits, 400, "unreadable")
    assert_problem(over, 413, "too-large")


HOSTILE = [
    (b"{", ""),
    (b"\xff\xfe", ""),
    (b'{"a": 1, "a": 2}', "/a"),
    (b'{"a": NaN}', "/a"),
    (b'{"a": -Infinity}', "/a"),
    (b'{"a": 1e400}', "/a"),
    (b'{"a": 1' + b"0" * 400 + b"}", "/a"),
    (b'{"a": "\\u0000"}', "/a"),
    (b'{"a": "\\ud800"}', "/a"),
    (b'{"\\u0000": 1}', "/\\u0000"),
    (b"[" * 100_000, ""),
    (b'{"a":' * 40 + b"1" + b"}" * 40, "/a" * 32),
    (b'"' + b"x" * 70_000 + b'"', ""),
]


@every_row(("text", "pointer"), HOSTILE, rolled_back=True)
@every_row(
    ("method", "path", "content_type"),
    [
        ("put", GROWTH, "application/json"),
        ("patch", GROWTH, "application/merge-patch+json"),
        ("patch", f"{GROWTH}/status", "application/merge-patch+json"),
        ("post", "apply", "application/json"),
        ("post", "observations", "application/json"),
    ],
)
def test_hostile_json_is_refused_with_its_place(
    alice: Api, text: bytes, pointer: str, method: str, path: str, content_type: str
) -> None:
    answer = alice.send(method, path, text, content_type=content_type)

    body = assert_problem(answer, 400, "unreadable")
    assert body["pointer"] == pointer
    assert not Resource.objects.exists()


@every_row(
    "text",
    ["a: [", "a: !!python/object:os.system x", "a: &x [*x]", "<<: {}", "a: 1\na: 2", "\t"],
    rolled_back=True,
)
@every_row(("method", "path"), [("put", GROWTH), ("post", "apply")])
def test_hostile_yaml_is_refused(alice: Api, method: str, path: str, text: str) -> None:
    answer = alice.send(method, path, text, content_type="application/yaml")

    assert answer.status_code == 400
    assert not Resource.objects.exists()


def test_a_bomb_of_aliases_is_refused(alice: Api) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]

    answer = alice.send("post", "apply", "\n".join(lines), content_type="text/yaml")

    assert_problem(answer, 400, "unreadable")


@pytest.mark.parametrize(
    ("error", "status", "slug"),
    [(store.Stale("Busy."), 409, "busy"), (OperationalError("locked"), 503, "unavailable")],
)
def test_a_busy_database_asks_to_try_again(
    alice: Api, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, slug: str
) -> None:
    """D-50"""

    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(specs, "apply", fail)

    answer = alice.put(GROWTH, domain("growth"))

    assert_problem(answer, status, slug)
    assert answer["Retry-After"] == "1"


def test_a_fault_of_ours_is_a_problem_too(
    alice: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(specs, "apply", fail)
    alice.client.raise_request_exception = False

    answer = alice.put(GROWTH, domain("growth"))

    assert_problem(answer, 500, "error")
    assert "secret" not in answer.content.decode()
    assert "secret detail" in caplog.text


@pytest.mark.parametrize("given", ["release-7", "a.b_C-9", "x" * 64])
def test_a_correlation_id_goes_into_the_ledger_and_back(alice: Api, given: str) -> None:
    """D-07"""
    answer = alice.put(GROWTH, domain("growth"), x_correlation_id=given)

    assert answer["X-Correlation-ID"] == given
    assert {each.correlation_id for each in LedgerEvent.objects.all()} == {given}


def test_without_a_correlation_id_a_new_one_is_made(alice: Api) -> None:
    answers = [alice.put(f"resources/domain/d{n}", domain(f"d{n}")) for n in ("a", "b")]

    stories = [answer["X-Correlation-ID"] for answer in answers]
    assert len(set(stories)) == 2
    assert {each.correlation_id for each in LedgerEvent.objects.all()} == set(stories)


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "é", "a/b"])
def test_a_bad_correlation_id_is_refused(alice: Api, given: str) -> None:
    answer = alice.put(GROWTH, domain("growth"), x_correlation_id=given)

    assert_problem(answer, 400, "invalid")
    assert not Resource.objects.exists()


@pytest.mark.parametrize("host", ["evil.example", "a\\b", "127.0.0.1:port"])
def test_another_host_is_a_problem_for_programs_and_a_page_for_people(
    robin: Api, host: str
) -> None:
    answer = robin.get("holds", Host=host)

    assert_problem(answer, 400, "invalid")
    page = robin.client.get("/", headers={"Host": host})
    assert page.status_code == 400
    assert page["Content-Type"].startswith("text/html")
