"""Bodies are cut off while they arrive, before anything reads them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from ioa_site import asgi
from ioa_site.asgi import Receive, Send, limit_for, limited


async def reader(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Read a whole body and answer with its length."""
    length = 0
    while True:
        message = await receive()
        length += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(length).encode()})


def arriving(chunks: list[bytes]) -> list[Any]:
    """Return a body as it arrives."""
    return [
        {"type": "http.request", "body": chunk, "more_body": index < len(chunks) - 1}
        for index, chunk in enumerate(chunks)
    ]


async def ask(path: str, chunks: list[bytes]) -> tuple[int, bytes]:
    return await answered(path, arriving(chunks))


async def answered(path: str, waiting: list[Any]) -> tuple[int, bytes]:
    """Return the answer; what was not read of the body is left waiting."""
    sent: list[Any] = []

    async def receive() -> Any:
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    await limited(reader)({"type": "http", "path": path}, receive, send)
    return sent[0]["status"], sent[1]["body"]


@pytest.mark.parametrize("path", ["/api/v1/resources/agent/robin", "/api/v1/apply", "/admin/"])
async def test_a_body_up_to_its_limit_passes_and_one_byte_more_does_not(path: str) -> None:
    limit = limit_for(path)
    half = b"x" * (limit // 2)

    fits = await ask(path, [half, b"x" * (limit - len(half))])
    over = await ask(path, [half, b"x" * (limit - len(half)), b"x"])

    assert fits == (200, str(limit).encode())
    assert over[0] == 413
    assert orjson.loads(over[1])["status"] == 413


async def test_a_body_that_is_cut_off_is_read_to_its_end_before_the_answer() -> None:
    path = "/api/v1/proposals"
    waiting = arriving([b"x" * limit_for(path)] * 5)

    status, _ = await answered(path, waiting)

    assert (status, waiting) == (413, [])


async def test_a_body_without_an_end_is_left_alone_at_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = "/api/v1/proposals"
    limit = limit_for(path)
    monkeypatch.setattr(asgi, "MOST_DRAINED", 3 * limit)
    waiting = arriving([b"x" * limit] * 50)

    status, _ = await answered(path, waiting)

    assert status == 413
    assert len(waiting) == 45


def test_sets_of_documents_may_be_larger_than_one() -> None:
    for path in ("apply", "observations", "telemetry", "usage"):
        assert limit_for(f"/api/v1/{path}") > limit_for("/api/v1/resources/agent/robin")
