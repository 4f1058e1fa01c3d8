"""Requests meant to break something: each is answered in words, and nothing is written."""

from __future__ import annotations

import json
import socket
from contextlib import closing
from typing import Any

import pytest

from tests.journeys.product import Product
from tests.journeys.red_team import API, Agent, Watcher, attacked, mallory, problem, watcher

__all__ = ["attacked", "mallory", "watcher"]

pytestmark = [pytest.mark.product, pytest.mark.timeout(300), pytest.mark.sqlite, pytest.mark.full]

CALL = {"operation": "read", "resource": "asset/tickets"}
RESTART = [{"operation": "restart", "parameters": {}}]
LONG = "x" * 1_000_000
MEGABYTE = json.dumps({"why": LONG}).encode()
DEEP = b"[" * 100_000
OBJECTS = b'{"a":' * 40_000 + b"1" + b"}" * 40_000
WRITES = (
    "admission",
    "admission/1/redeem",
    "usage",
    "telemetry",
    "proposals",
    "observations",
    "holds",
    "actions/1/claim",
    "actions/1/heartbeat",
    "actions/1/progress",
    "actions/1/result",
    "workflows/refund/runs",
    "workflows/refund/runs/1/steps/check",
)
BROKEN = {
    "nothing": b"",
    "half": b'{"operation": "re',
    "deep lists": DEEP,
    "deep objects": OBJECTS,
    "a list": b"[]",
    "a number": b"7",
    "null": b"null",
    "not UTF-8": b'{"why": "\xff\xfe"}',
    "a NUL": b'{"why": "a\\u0000b"}',
    "half a character": b'{"why": "\\ud800"}',
    "a field twice": b'{"why": "a", "why": "b"}',
    "no number": b'{"why": NaN}',
    "a huge number": b'{"why": 1e999}',
    "an unknown field": b'{"__proto__": {"admin": true}, "conditions": 7}',
    "a form": b"operation=read&resource=asset/tickets",
}
TRICKS = (
    "resources/agent/..%2frobin/status",
    "resources/agent/../agent/robin/status",
    "resources/agent/%2e%2e/%2e%2e/robin/status",
    "resources/agent/robin%00/status",
    "resources/agent/wren%2fstatus",
    "resources/agent/robin%0d%0aX-Admin:%201/status",
    "resources/agent/%ff%fe/status",
    "resources/agent/%F0%9F%98%80/status",
    "resources/agent/robin;admin=1/status",
    "resources/agent/robin%5c..%5cwren/status",
    "resources//robin/status",
    "resources/%00/robin/status",
    f"resources/agent/{'r' * 60_000}/status",
    "proposals/1%20OR%201=1",
    "proposals/-1",
    "proposals/99999999999999999999",
    "proposals/%D9%A1",
    "actions/1e3/claim",
    "admission/0x1",
    "holds/1%00",
    "telemetry?cursor=%00",
    "telemetry?source=%27%3B%20DROP%20TABLE%20x",
    "proposals?resource=agent/../robin",
    "nothing/here",
    "%2e%2e/%2e%2e/etc/passwd",
)


@pytest.mark.parametrize("name", BROKEN)
def test_a_body_that_nobody_can_read_is_refused_wherever_agents_write(
    mallory: Agent, watcher: Watcher, name: str
) -> None:
    with watcher.unmoved("token.refused", often=True):
        for path in WRITES:
            if name != "nothing" or "claim" not in path:
                problem(mallory.post(path, BROKEN[name]), 400, 403, 404)
        problem(mallory.send("PATCH", f"{API}/resources/agent/mallory/status", BROKEN[name]), 400)


def test_a_megabyte_is_refused_with_an_answer(mallory: Agent, watcher: Watcher) -> None:
    with watcher.unmoved():
        for path in WRITES:
            problem(mallory.post(path, MEGABYTE), 400, 413)
        for body in (MEGABYTE * 8, MEGABYTE * 20):
            for path in ("proposals", "observations", "telemetry"):
                assert problem(mallory.post(path, body), 413)["detail"]
        problem(mallory.send("PATCH", f"{API}/resources/agent/mallory/status", MEGABYTE), 413)


def test_names_and_texts_of_a_megabyte_are_refused(mallory: Agent, watcher: Watcher) -> None:
    filed = {"resource": "agent/mallory", "actions": RESTART}
    long = "x" * 200_000
    bodies: list[tuple[str, Any]] = [
        ("admission", CALL | {"operation": long}),
        ("admission", CALL | {"resource": f"asset/{long}"}),
        ("admission", CALL | {"why": "y" * 2_001}),
        ("proposals", filed | {"why": "y" * 2_001}),
        ("proposals", filed | {"why": "Because.", "resource": f"agent/{long}"}),
        ("holds", {"kind": "pause", "scope": "resource", "resource": long, "reason": "x"}),
        ("usage", {"id": "i" * 201, "tokens": {"input": 1}}),
        ("actions/1/progress", {"fence": "1", "epoch": "1", "note": long}),
        ("actions/1/heartbeat", {"fence": "9" * 400, "epoch": "1"}),
    ]
    with watcher.unmoved("token.refused", often=True):
        for path, body in bodies:
            problem(mallory.post(path, body), 400, 403, 404)
    with watcher.unmoved():
        (said,) = mallory.good("telemetry", {"event": "e" * 254})["items"]
        assert said["verdict"] == "refused"
        item = {"kind": "Agent", "name": "n" * 254, "status": {}}
        (told,) = mallory.good("observations", {"items": [item]})["items"]
        assert told["verdict"] == "refused"


@pytest.mark.parametrize(
    "media",
    [
        "text/html",
        "text/plain",
        "application/xml",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        "image/svg+xml",
        "x" * 10_000,
        "",
    ],
)
def test_a_body_of_another_sort_is_refused(mallory: Agent, watcher: Watcher, media: str) -> None:
    with watcher.unmoved():
        for path in WRITES:
            body = json.dumps({"__proto__": 1}).encode()
            problem(mallory.post(path, body, Content_Type=media), 415)
        status = f"{API}/resources/agent/mallory/status"
        problem(mallory.send("PATCH", status, b"<a/>", Content_Type=media), 415)


@pytest.mark.parametrize("path", TRICKS)
def test_a_path_that_plays_tricks_leads_nowhere(
    mallory: Agent, watcher: Watcher, path: str
) -> None:
    with watcher.unmoved("token.refused", often=True):
        found = mallory.get(path)
        if found.status == 200:
            assert found.document["items"] == []
        else:
            problem(found, 400, 404, 405)
        problem(mallory.post(path, {}), 400, 403, 404, 405)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-HTTP-Method-Override", "DELETE"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("X-Forwarded-Host", "evil.example"),
        ("X-Original-URL", "/admin/"),
        ("X-Remote-User", "admin"),
        ("Cookie", "sessionid=' OR 1=1 --; csrftoken=x"),
        ("If-Match", '"' + "9" * 400 + '"'),
        ("Accept", "text/html"),
        ("Accept-Encoding", "\xff"),
        ("X-Correlation-ID", "<script>alert(1)</script>"),
        ("Idempotency-Key", "k" * 100_000),
        ("X-Long", "l" * 60_000),
    ],
)
def test_a_header_that_plays_tricks_gives_no_more_rights(
    mallory: Agent, watcher: Watcher, name: str, value: str
) -> None:
    answers = (200, 400, 406)
    with watcher.unmoved():
        read = mallory.send("GET", f"{API}/resources/agent/wren", None, **{name: value})
        problem(read, 400, 404, 406)
        listed = mallory.send("GET", f"{API}/holds", None, **{name: value})
        assert listed.status in answers, listed
        assert b"<script" not in listed.body


def test_another_host_is_refused_in_words(mallory: Agent, watcher: Watcher) -> None:
    with watcher.unmoved():
        problem(mallory.send("GET", f"{API}/holds", None, Host="evil.example"), 400)
        problem(mallory.send("GET", f"{API}/holds", None, Host="a\\b"), 400)


def test_what_is_not_http_is_answered_and_the_product_goes_on(
    mallory: Agent, attacked: Product
) -> None:
    lines = (
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20 + b"\r\n\r\n",
        b"POST /api/v1/usage HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/v1/usage HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /api/v1/\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /api/v1/holds HTTP/1.1\r\nHost: 127.0.0.1\r\nA: b\r\n c\r\n\x00: d\r\n\r\n",
    )
    for line in lines:
        with closing(socket.create_connection(("127.0.0.1", attacked.port), 30)) as raw:
            raw.sendall(line)
            assert raw.recv(65_536).split(b" ")[1][:1] == b"4", line
    assert mallory.get("holds").status == 200
