"""Bodies are cut off while they arrive, before anything reads them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

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


async def ask(path: str, chunks: list[bytes]) -> tuple[int, bytes]:
    waiting = [
        {"type": "http.request", "body": chunk, "more_body": index < len(chunks) - 1}
        for index, chunk in enumerate(chunks)
    ]
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


def test_sets_of_documents_may_be_larger_than_one() -> None:
    assert limit_for("/api/v1/apply") > limit_for("/api/v1/resources/agent/robin")
