"""What only a real server shows: bodies in chunks, and the page a browser draws."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from resources.tables.models import Resource
from tests.api.conftest import agent, apply, issue
from tests.api.serving import Server, serve
from tests.browser import launch


@pytest.fixture
def server(real_database: None, tmp_path: Path) -> Iterator[Server]:
    with serve(tmp_path) as running:
        yield running


def pieces(size: int) -> Iterator[bytes]:
    yield b'{"note": "'
    yield from (b"x" * 1024 for _ in range(size // 1024))
    yield b'"}'


@pytest.mark.full
@pytest.mark.parametrize(("size", "status"), [(2 * 1024, 200), (300 * 1024, 413)])
def test_a_body_without_a_length_is_read_and_capped(
    server: Server, size: int, status: int
) -> None:
    apply(agent("robin", "growth"))
    headers = {"Authorization": f"Bearer {issue('robin')}", "Content-Type": "application/json"}
    url = f"{server.url}/api/v1/resources/agent/robin/status"

    answer = httpx.put(url, content=pieces(size), headers=headers, timeout=20)

    assert answer.status_code == status
    reported = Resource.objects.get().status
    assert len(reported.get("note", "")) == (size if status == 200 else 0)


@pytest.mark.browser
@pytest.mark.full
def test_the_docs_page_shows_every_group_without_an_error(server: Server) -> None:
    errors: list[str] = []

    with launch() as browser:
        page = browser.new_page()
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{server.url}/api/v1/docs")
        page.locator("#operations-Resources-listResources").click()
        page.locator("text=nextCursor").first.wait_for()
        groups = page.locator(".opblock-tag").evaluate_all(
            "all => all.map(one => one.dataset.tag)"
        )

    assert sorted(groups) == [
        *("Admission", "Controllers", "Decisions", "Economics", "History", "Ledger"),
        *("Outside controllers", "Resources", "Status", "Telemetry", "Watch", "Work", "Workflows"),
    ]
    assert errors == []
